import LifelineCore
import LifelineRuntime
import LifelineSockets
import Synchronization
import Testing

struct EventLoopTests {
    @Test func jobsOfForeignThreadsAllRunInOrder() async throws {
        let group = EventLoops(count: 1)
        defer { withExtendedLifetime(group) {} }
        let loop = group.next()
        let seen = Mailbox<(Int, Int)>()
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<5_000 { loop.submit { seen.put((thread, number)) } }
                }
            }
        }
        var next = [Int](repeating: 0, count: 8)
        for _ in 0..<40_000 {
            let (thread, number) = try await seen.next()
            #expect(next[thread] == number)
            next[thread] = number + 1
        }
        #expect(seen.count == 0)
    }

    @Test func aSleepingLoopIsWokenEachTime() async throws {
        let group = EventLoops(count: 1)
        defer { withExtendedLifetime(group) {} }
        let loop = group.next()
        await withTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    for number in 0..<3_000 {
                        let answer = try? await loop.perform { number }
                        #expect(answer == number)
                    }
                }
            }
        }
    }

    @Test func aLoopWithoutItsGroupRunsEverything() async throws {
        // Its thread ends again and again.
        let loop = EventLoops(count: 1).next()
        await withTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    for number in 0..<300 {
                        let answer = try? await loop.perform { number }
                        #expect(answer == number)
                    }
                }
            }
        }
    }

    @Test func nothingIsLostWhileTheThreadEnds() async throws {
        let loop = EventLoops(count: 1).next()
        let ran = Tally()
        for _ in 0..<2_000 {
            // Two arrivals, a moment apart: the second may come while the thread ends after the first.
            await withTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask { loop.submit { ran.add() } }
                }
            }
        }
        try await eventually { ran.count == 4_000 }
    }

    @Test func anIdleLoopMakesNoTurn() async throws {
        let group = EventLoops(count: 1)
        let loop = group.next()
        try await loop.perform {}
        // Something is watched, and a timer is far away.
        let pair = try await Pair(loops: group)
        let keeper = ClosureTimer {}
        try await loop.perform { loop.arm(keeper.timer, at: loop.now.advanced(by: .seconds(3600))) }
        try await after(.milliseconds(50))
        let before = loop.turnCount
        try await after(.milliseconds(300))
        #expect(loop.turnCount == before)
        await pair.close()
    }

    @Test func aLoopEndsWhenNothingIsLeftAndLateJobsRun() async throws {
        var group: EventLoops? = EventLoops(count: 1)
        let gone = Watch(group?.next())
        do {
            let kept = try #require(group?.next())
            try await kept.perform {}
            #expect(kept.isServed)
            kept.join()
            group = nil
            #expect(kept.isServed)
            kept.leave()
            try await eventually { !kept.isServed }
            for round in 0..<200 {
                #expect(try await kept.perform { round } == round)
                if round % 3 == 0 { try await eventually { !kept.isServed } }
            }
            try await eventually { !kept.isServed }
        }
        try await eventually { gone.isGone }
    }

    @Test func aLoopThatHoldsAConnectionOutlivesItsGroup() async throws {
        var pair: Pair? = try await Pair(loops: EventLoops(count: 1))
        let client = try await Stream(try #require(pair?.client))
        let server = try await Stream(try #require(pair?.server), echo: true)
        client.send("still here")
        #expect(try await client.read(10).count == 10)
        try await client.closeNow()
        try await server.closeNow()
        await pair?.close()
        pair = nil
        let loop = try #require(server.core.loop as? PollingEventLoop)
        try await eventually { !loop.isServed }
    }

    @Test func timersFireInOrderAndNotEarly() async throws {
        let group = EventLoops(count: 1)
        defer { withExtendedLifetime(group) {} }
        let loop = group.next()
        let fired = Mailbox<Int>()
        let timers = (0..<5).map { number in ClosureTimer { fired.put(number) } }
        let box = LoopConfined(timers)
        let start = referee.now
        try await loop.perform {
            let now = loop.now
            for (number, delay) in [30, 10, 20, 10, 25].enumerated() {
                loop.arm(box.value[number].timer, at: now.advanced(by: .milliseconds(delay)))
            }
            loop.disarm(box.value[4].timer)
        }
        var order: [Int] = []
        for _ in 0..<4 { order.append(try await fired.next()) }
        #expect(order == [1, 3, 2, 0])
        #expect(start.duration(to: referee.now) >= .milliseconds(29))
        #expect(fired.count == 0)
        withExtendedLifetime(timers) {}
    }

    @Test func timersBelowAMillisecondDoNotSpin() async throws {
        let group = EventLoops(count: 1)
        defer { withExtendedLifetime(group) {} }
        let loop = group.next()
        let fired = Mailbox<Void>()
        let timer = ClosureTimer { fired.put(()) }
        let box = LoopConfined(timer)
        try await loop.perform {}
        let before = loop.turnCount
        for _ in 0..<20 {
            loop.armFromAnywhere(box.value.timer, after: .microseconds(300))
            try await fired.next()
        }
        // One turn to arm, one to fire, and rarely one more.
        #expect(loop.turnCount - before < 100)
    }

    @Test func aHundredThousandTimers() async throws {
        let group = EventLoops(count: 1)
        defer { withExtendedLifetime(group) {} }
        let loop = group.next()
        let count = 100_000
        let result = OneShot<(fired: Int, ordered: Bool)>(timeOut: SocketError(timedOut: .read, after: outerLimit))
        let crowd = Crowd(count, on: loop, result)
        loop.submit { crowd.arm() }
        let (fired, ordered) = try await result.value(within: outerLimit, on: referee)
        #expect(fired == count / 2)
        #expect(ordered)
    }

    @Test func longJobsAreReported() async throws {
        let reports = Mailbox<Duration>()
        let group = EventLoops(count: 1, onLongJob: { reports.put($0) })
        let loop = group.next()
        await withTaskGroup { tasks in
            tasks.addTask(executorPreference: loop.tasks) {
                let end = referee.now.advanced(by: .milliseconds(90))
                while referee.now < end {}
            }
        }
        #expect(try await reports.next() > .milliseconds(50))
    }

    @Test func actorsAndTasksRunOnTheLoop() async throws {
        let group = EventLoops(count: 1)
        defer { withExtendedLifetime(group) {} }
        let loop = group.next()
        let counter = Counter(on: loop)
        try await loop.perform { counter.assumeIsolated { $0.add() } }
        for _ in 0..<100 { await counter.addHopping() }
        #expect(await counter.count == 101)
        await withTaskGroup { tasks in
            for _ in 0..<10 {
                tasks.addTask(executorPreference: loop.tasks) {
                    #expect(loop.isCurrent)
                    await counter.addHopping()
                    #expect(loop.isCurrent)
                }
            }
        }
        #expect(await counter.count == 111)
        #expect(loop.isIsolatingCurrentContext() == false)
    }
}

/// Waits for a timer of the referee.
func after(_ delay: Duration) async throws {
    let done = OneShot<Void>()
    let timer = ClosureTimer { done.succeed(()) }
    let box = LoopConfined(timer)
    referee.submit { referee.arm(box.value.timer, at: referee.now.advanced(by: delay)) }
    try await done.value()
    withExtendedLifetime(timer) {}
}

private final class Tally: Sendable {
    private let value = Atomic(0)

    func add() { value.add(1, ordering: .relaxed) }
    var count: Int { value.load(ordering: .relaxed) }
}

private actor Counter {
    nonisolated let loop: PollingEventLoop
    var count = 0

    init(on loop: PollingEventLoop) {
        self.loop = loop
        loop.join()
    }

    isolated deinit {
        #expect(loop.isCurrent)
        loop.leave()
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func add() { count += 1 }

    func addHopping() {
        loop.preconditionIsolated()
        count += 1
    }
}

/// Tells whether an object still exists.
private struct Watch: Sendable {
    private final class Box: Sendable {
        weak let object: PollingEventLoop?
        init(_ object: PollingEventLoop?) { self.object = object }
    }

    private let box: Box
    init(_ object: PollingEventLoop?) { box = Box(object) }
    var isGone: Bool { box.object == nil }
}

/// Many timers, half of which are disarmed.
private final class Crowd: LoopTimerTarget, @unchecked Sendable {  // Touched on its loop only.
    private let loop: any EventLoop
    private let result: OneShot<(fired: Int, ordered: Bool)>
    private var timers: [LoopTimer] = []
    private var times: [ObjectIdentifier: LoopTime] = [:]
    private let count: Int
    private var fired = 0
    private var last = LoopTime.zero
    private var ordered = true

    init(_ count: Int, on loop: any EventLoop, _ result: OneShot<(fired: Int, ordered: Bool)>) {
        self.count = count
        self.loop = loop
        self.result = result
    }

    func arm() {
        var random: UInt64 = 42
        let start = loop.now
        for _ in 0..<count {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let timer = LoopTimer(self)
            timers.append(timer)
            let time = start.advanced(by: .microseconds(Int64(random >> 33) % 300_000))
            times[ObjectIdentifier(timer)] = time
            loop.arm(timer, at: time)
        }
        for timer in timers.enumerated() where timer.offset % 2 == 0 { loop.disarm(timer.element) }
    }

    func timerFired(_ timer: LoopTimer) {
        fired += 1
        let time = times[ObjectIdentifier(timer)] ?? .never
        if time < last || time > loop.now { ordered = false }
        last = time
        if fired == count / 2 { result.succeed((fired, ordered)) }
    }
}
