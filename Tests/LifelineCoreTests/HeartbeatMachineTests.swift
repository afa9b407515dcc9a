import LifelineCore
import Testing

/// A test for each arrow of the drawing.
@Suite("The machine of a heartbeat")
struct HeartbeatMachineTests {
    /// The same number again and again.
    struct Dice: RandomNumberGenerator {
        var value: UInt64 = 0
        func next() -> UInt64 { value }
    }

    /// A machine, and what it is fed with.
    struct Bench {
        var machine: HeartbeatMachine
        var dice = Dice()
        var heard: UInt64 = 0

        init(_ schedule: HeartbeatSchedule) { machine = HeartbeatMachine(schedule) }

        var state: HeartbeatMachine.State { machine.state }
        var deadline: Duration? { machine.deadline }
        mutating func begin(at seconds: Double) -> HeartbeatMachine.Action { machine.begin(now: at(seconds), using: &dice) }
        mutating func fire(at seconds: Double, _ hearing: HeartbeatMachine.Hearing = .open) -> HeartbeatMachine.Action {
            machine.fired(now: at(seconds), heard: heard, hearing: hearing, using: &dice)
        }
        mutating func take(at seconds: Double) { machine.taken(now: at(seconds), heard: heard) }
        mutating func answer(_ number: UInt32? = nil, at seconds: Double) -> Duration? {
            machine.answered(number: number, now: at(seconds))
        }

        /// Begun at 0, with the first beat taken by the kernel at 5.
        static func asked(_ schedule: HeartbeatSchedule = pingPong) -> Bench {
            var bench = Bench(schedule)
            _ = bench.begin(at: 0)
            #expect(bench.fire(at: 5) == .beat(1))
            bench.take(at: 5)
            return bench
        }
    }

    static let oneWay = HeartbeatSchedule(.oneWay, every: .seconds(5))
    static let pingPong = HeartbeatSchedule(.pingPong, every: .seconds(5), answerWithin: .seconds(3))
    static let answeredSends = HeartbeatSchedule(.answeredSends, answerWithin: .seconds(3))

    @Test("held → resting: the first beat is due after a period; before that nothing is")
    func begins() {
        var bench = Bench(Self.oneWay)
        #expect(bench.deadline == nil)
        #expect(bench.fire(at: 100) == .nothing)
        #expect(bench.begin(at: 100) == .nothing)
        #expect(bench.state == .resting(until: .seconds(105)))
        #expect(bench.deadline == .seconds(105))
        #expect(bench.begin(at: 101) == .nothing)
        #expect(bench.deadline == .seconds(105))
    }

    @Test("held → handed over: at once")
    func atOnce() {
        var bench = Bench(HeartbeatSchedule(.oneWay, every: .seconds(5), isAtOnce: true))
        #expect(bench.begin(at: 1) == .beat(1))
        #expect(bench.state == .handedOver(next: .seconds(6)))
        bench.take(at: 1)
        #expect(bench.deadline == .seconds(6))
    }

    @Test("resting → handed over: when the time has come, not before, and then nothing else is due")
    func beats() {
        var bench = Bench(Self.oneWay)
        _ = bench.begin(at: 0)
        #expect(bench.fire(at: 4.9) == .nothing)
        #expect(bench.fire(at: 5) == .beat(1))
        #expect(bench.deadline == nil)
        #expect(bench.fire(at: 500) == .nothing)
    }

    @Test("handed over → resting, one-way: the next beat is a period after this one, or after the kernel has taken it if that was late")
    func oneWayTaken() {
        var bench = Bench.asked(Self.oneWay)
        #expect(bench.deadline == .seconds(10))
        #expect(bench.fire(at: 10) == .beat(2))
        bench.take(at: 13)
        #expect(bench.deadline == .seconds(15))
        #expect(bench.fire(at: 15) == .beat(3))
        bench.take(at: 47)
        #expect(bench.deadline == .seconds(52))
    }

    @Test("handed over → asking: the limit counts from the moment when the kernel took the ping")
    func asks() {
        var bench = Bench(Self.pingPong)
        _ = bench.begin(at: 0)
        #expect(bench.fire(at: 5) == .beat(1))
        bench.take(at: 9)
        #expect(bench.deadline == .seconds(12))
    }

    @Test("asking → resting: answered; the next ping is a period after this one")
    func answered() {
        var bench = Bench.asked()
        #expect(bench.answer(at: 6) == .seconds(1))
        #expect(bench.state == .resting(until: .seconds(10)))
        #expect(bench.fire(at: 10) == .beat(2))
    }

    @Test("asking → resting: an answer that came after the next ping was due lets that go at once")
    func answeredLate() {
        var bench = Bench.asked(HeartbeatSchedule(.pingPong, every: .seconds(2), answerWithin: .seconds(30)))
        #expect(bench.answer(at: 25) == .seconds(20))
        #expect(bench.deadline == .seconds(25))
        #expect(bench.fire(at: 25) == .beat(2))
    }

    @Test("asking → over: nothing was heard")
    func silent() {
        var bench = Bench.asked()
        #expect(bench.fire(at: 7.9) == .nothing)
        #expect(bench.fire(at: 8) == .fail(misses: 1))
        #expect(bench.state == .over)
        #expect(bench.deadline == nil)
        #expect(bench.fire(at: 800) == .nothing)
    }

    @Test("asking → resting: a miss that is allowed; the last one allowed ends it, and an answer in between starts the count anew")
    func misses() {
        var schedule = Self.pingPong
        schedule.misses = 2
        var bench = Bench.asked(schedule)
        #expect(bench.fire(at: 8) == .nothing)
        #expect(bench.state == .resting(until: .seconds(10)))
        #expect(bench.fire(at: 10) == .beat(2))
        bench.take(at: 10)
        #expect(bench.answer(at: 11) == .seconds(1))
        for (time, number) in [(15.0, 3), (20.0, 4)] as [(Double, UInt32)] {
            #expect(bench.fire(at: time) == .beat(number))
            bench.take(at: time)
            #expect(bench.fire(at: time + 3) == (number == 3 ? .nothing : .fail(misses: 2)))
        }
    }

    @Test("asking → resting: any byte heard counts, unless only a pong does")
    func anyByte() {
        var bench = Bench.asked()
        bench.heard = 1
        #expect(bench.fire(at: 8) == .nothing)
        #expect(bench.deadline == .seconds(10))

        var schedule = Self.pingPong
        schedule.anyByteCounts = false
        var strict = Bench.asked(schedule)
        strict.heard = 1
        #expect(strict.fire(at: 8) == .fail(misses: 1))
    }

    @Test("bytes that are heard between two pings start the count of misses anew")
    func lifeBetween() {
        var schedule = Self.pingPong
        schedule.misses = 2
        var bench = Bench.asked(schedule)
        #expect(bench.fire(at: 8) == .nothing)
        bench.heard = 1
        #expect(bench.fire(at: 10) == .beat(2))
        bench.take(at: 10)
        #expect(bench.fire(at: 13) == .nothing)
        #expect(bench.fire(at: 15) == .beat(3))
        bench.take(at: 15)
        #expect(bench.fire(at: 18) == .fail(misses: 2))
    }

    @Test("no ping while the user reads too slowly, and no silence counts; what waits to be read isn't silence")
    func paused() {
        var bench = Bench(Self.pingPong)
        _ = bench.begin(at: 0)
        #expect(bench.fire(at: 5, .paused) == .nothing)
        #expect(bench.deadline == .seconds(10))
        #expect(bench.fire(at: 10) == .beat(1))
        bench.take(at: 10)
        for time in stride(from: 13.0, through: 60, by: 3) { #expect(bench.fire(at: time, time < 40 ? .paused : .behind) == .nothing) }
        #expect(bench.fire(at: 61) == .fail(misses: 1))
    }

    @Test("one-way beats go on while the user reads too slowly")
    func pausedOneWay() {
        var bench = Bench(Self.oneWay)
        _ = bench.begin(at: 0)
        #expect(bench.fire(at: 5, .paused) == .beat(1))
    }

    @Test("when the user reads on, the answer has its full time again")
    func resumed() {
        var bench = Bench.asked()
        bench.machine.resumed(now: .seconds(7))
        #expect(bench.deadline == .seconds(10))
        #expect(bench.fire(at: 8) == .nothing)
        #expect(bench.fire(at: 10) == .fail(misses: 1))

        var resting = Bench(Self.pingPong)
        _ = resting.begin(at: 0)
        resting.machine.resumed(now: .seconds(1))
        #expect(resting.deadline == .seconds(5))
    }

    @Test("C67: a clock that jumps while a ping is due costs one ping; while an answer is due, one full limit more")
    func jump() {
        let day = 43_200.0
        var due = Bench(Self.pingPong)
        _ = due.begin(at: 0)
        #expect(due.fire(at: day) == .beat(1))
        due.take(at: day)
        #expect(due.deadline == at(day + 3))
        #expect(due.answer(at: day + 1) == .seconds(1))

        // Right behind a reconnect, whose first ping isn't due yet.
        var fresh = Bench(Self.pingPong)
        _ = fresh.begin(at: day)
        #expect(fresh.fire(at: day + 4) == .nothing)
        #expect(fresh.fire(at: 2 * day) == .beat(1))
        fresh.take(at: 2 * day)
        #expect(fresh.fire(at: 2 * day + 2) == .nothing)
        #expect(fresh.answer(at: 2 * day + 2) == .seconds(2))

        var asked = Bench.asked()
        #expect(asked.fire(at: day) == .nothing)
        #expect(asked.deadline == at(day + 3))
        #expect(asked.fire(at: day + 3) == .fail(misses: 1))

        var again = Bench.asked()
        #expect(again.fire(at: day) == .nothing)
        #expect(again.fire(at: 2 * day) == .fail(misses: 1))
    }

    @Test("C68: stray, foreign and repeated pongs do nothing")
    func strays() {
        var bench = Bench(Self.pingPong)
        #expect(bench.answer(at: 0) == nil)
        _ = bench.begin(at: 0)
        #expect(bench.answer(at: 1) == nil)
        #expect(bench.deadline == .seconds(5))
        #expect(bench.fire(at: 5) == .beat(1))
        #expect(bench.answer(1, at: 5) == nil)
        bench.take(at: 5)
        #expect(bench.answer(2, at: 6) == nil)
        #expect(bench.deadline == .seconds(8))
        #expect(bench.answer(1, at: 7) == .seconds(2))
        #expect(bench.answer(1, at: 7) == nil)
        #expect(bench.deadline == .seconds(10))
    }

    @Test("any → over: no beat follows, and no verdict")
    func ends() {
        var benches = [Bench(Self.pingPong), Bench(Self.pingPong), Bench(Self.pingPong), Bench.asked()]
        for index in 1...2 { _ = benches[index].begin(at: 0) }
        _ = benches[2].fire(at: 5)
        for var bench in benches {
            bench.machine.end()
            #expect(bench.state == .over)
            #expect(bench.deadline == nil)
            #expect(bench.begin(at: 1) == .nothing)
            bench.take(at: 1)
            bench.machine.resumed(now: .seconds(1))
            #expect(bench.answer(at: 2) == nil)
            #expect(bench.fire(at: 500) == .nothing)
        }
    }

    @Test("answers to sends: the limit counts from the first send that isn't answered")
    func sends() {
        var bench = Bench(Self.answeredSends)
        #expect(bench.begin(at: 0) == .nothing)
        #expect(bench.deadline == nil)
        bench.take(at: 100)
        #expect(bench.deadline == .seconds(103))
        bench.take(at: 101)
        #expect(bench.deadline == .seconds(103))
        #expect(bench.fire(at: 103) == .fail(misses: 1))
    }

    @Test("answers to sends: what is heard between two sends answers only the first")
    func laterSend() {
        var bench = Bench(Self.answeredSends)
        _ = bench.begin(at: 0)
        bench.take(at: 100)
        bench.heard = 1
        bench.take(at: 102)
        #expect(bench.fire(at: 103) == .nothing)
        #expect(bench.deadline == .seconds(105))
        #expect(bench.fire(at: 105) == .fail(misses: 1))

        var answered = Bench(Self.answeredSends)
        _ = answered.begin(at: 0)
        answered.take(at: 100)
        answered.heard = 1
        #expect(answered.fire(at: 103) == .nothing)
        #expect(answered.deadline == nil)
    }

    @Test("jitter makes a beat earlier, never later, and never by more than its part")
    func jitter() {
        for (value, expected) in [(0, 10.0), (.max, 8.0)] as [(UInt64, Double)] {
            var bench = Bench(HeartbeatSchedule(.oneWay, every: .seconds(10), jitter: 0.2))
            bench.dice.value = value
            _ = bench.begin(at: 0)
            let first = bench.deadline?.inSeconds ?? 0
            #expect(abs(first - expected) < 0.001)
            #expect(first <= 10 && first >= 8)
        }
    }

    @Test("jitter spreads a fleet that began together: each tenth of the time that it covers has its share")
    func fleet() {
        var dice = SplitMix(state: 7)
        var tenths = [Int](repeating: 0, count: 10)
        for _ in 0..<1000 {
            var machine = HeartbeatMachine(HeartbeatSchedule(.oneWay, every: .seconds(10), jitter: 0.5))
            _ = machine.begin(now: .zero, using: &dice)
            let place = ((machine.deadline?.inSeconds ?? 0) - 5) * 2
            tenths[min(9, max(0, Int(place)))] += 1
        }
        #expect(tenths.allSatisfy { (60...140).contains($0) }, "\(tenths)")
    }

    @Test("C66: settings that can't be meant have a fault; a limit that is shorter or longer than the period has none")
    func faults() {
        for bad in [Duration.zero, .seconds(-1)] {
            #expect(HeartbeatSchedule(.oneWay, every: bad).fault != nil)
            #expect(HeartbeatSchedule(.pingPong, every: bad, answerWithin: .seconds(1)).fault != nil)
            #expect(HeartbeatSchedule(.pingPong, every: .seconds(1), answerWithin: bad).fault != nil)
            #expect(HeartbeatSchedule(.answeredSends, answerWithin: bad).fault != nil)
        }
        #expect(HeartbeatSchedule(.pingPong, every: .seconds(10), answerWithin: .seconds(1)).fault == nil)
        #expect(HeartbeatSchedule(.pingPong, every: .seconds(2), answerWithin: .seconds(3)).fault == nil)
        #expect(HeartbeatSchedule(.oneWay, every: .seconds(1)).fault == nil)
        #expect(HeartbeatSchedule(.answeredSends, answerWithin: .seconds(1)).fault == nil)
        #expect(HeartbeatSchedule(.oneWay, misses: -3, jitter: .nan) == HeartbeatSchedule(.oneWay, misses: 1))
        #expect(HeartbeatSchedule(.oneWay, jitter: 7).jitter == 0.9)
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Exactly so many thousandths of a second, which `Duration.seconds(_: Double)` doesn't promise.
private func at(_ seconds: Double) -> Duration { .milliseconds(Int64((seconds * 1000).rounded())) }

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}
