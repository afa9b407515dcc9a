import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("The queue of timers")
struct TimerQueueTests {
    private final class Target: LoopTimerTarget {
        func timerFired(_ timer: LoopTimer) {}
    }

    @Test("timers fire in the order of their times, and of one time in the order in which they were armed")
    func order() {
        var queue = TimerQueue()
        let target = Target()
        let timers = (0..<10).map { _ in LoopTimer(target) }
        for (index, timer) in timers.enumerated() { queue.arm(timer, at: LoopTime(nanoseconds: Int64(index / 5))) }
        #expect(queue.nextTime == .zero)
        for timer in timers[..<5] { #expect(queue.popDue(.zero) === timer) }
        #expect(queue.popDue(.zero) == nil)
        for timer in timers[5...] { #expect(queue.popDue(LoopTime(nanoseconds: 9)) === timer) }
        #expect(queue.isEmpty)
    }

    @Test("arming, moving and disarming at random agrees with a sorted list", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let target = Target()
        let timers = (0..<40).map { LoopTimer(target, isPatient: $0.isMultiple(of: 3)) }
        var queue = TimerQueue()
        var model: [(time: Int64, order: Int, index: Int)] = []
        for order in 0..<2000 {
            let index = Int.random(in: 0..<timers.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let time = Int64.random(in: 0..<30, using: &random)
                queue.arm(timers[index], at: LoopTime(nanoseconds: time))
                model.removeAll { $0.index == index }
                model.append((time, order, index))
                model.sort { ($0.time, $0.order) < ($1.time, $1.order) }
            case 2:
                queue.disarm(timers[index])
                model.removeAll { $0.index == index }
            default:
                let now = Int64.random(in: 0..<30, using: &random)
                let popped = queue.popDue(LoopTime(nanoseconds: now))
                let isDue = model.first.map { $0.time <= now } ?? false
                #expect((popped != nil) == isDue, "seed \(seed)")
                if isDue { #expect(popped === timers[model.removeFirst().index], "seed \(seed)") }
            }
            #expect(queue.count == model.count)
            #expect(queue.nextTime?.nanoseconds == model.first?.time)
            let patience = TimerQueue.patience.clampedNanoseconds
            #expect(queue.wakeTime?.nanoseconds == model.map { $0.time + ($0.index.isMultiple(of: 3) ? patience : 0) }.min())
            #expect(timers.allSatisfy { timer in timer.isArmed == model.contains { timers[$0.index] === timer } } || order % 50 != 0)
        }
    }

    @Test("patient timers are due at their time, but the loop is woken for them later, when others are due, too")
    func patience() {
        var queue = TimerQueue()
        let target = Target()
        func time(_ milliseconds: Int) -> LoopTime { LoopTime.zero.advanced(by: .milliseconds(milliseconds)) }
        let (first, second) = (LoopTimer(target, isPatient: true), LoopTimer(target, isPatient: true))
        queue.arm(second, at: time(104))
        queue.arm(first, at: time(100))
        #expect(queue.nextTime == time(100))
        #expect(queue.wakeTime == time(110))
        #expect(queue.popDue(time(99)) == nil)
        // An exact timer wakes the loop for itself.
        let exact = LoopTimer(target)
        queue.arm(exact, at: time(103))
        #expect(queue.wakeTime == time(103))
        #expect(queue.popDue(time(103)) === first)
        #expect(queue.popDue(time(103)) === exact)
        #expect(queue.popDue(time(103)) == nil)
        #expect(queue.wakeTime == time(114))
        queue.disarm(second)
        #expect(queue.wakeTime == nil)
    }

    @Test("a timer keeps its target not alive")
    func weakTarget() {
        var queue = TimerQueue()
        let timer = LoopTimer(Target())
        queue.arm(timer, at: .zero)
        #expect(queue.popDue(.zero)?.target == nil)
    }

    @Test("a sum of times that can't be held is never")
    func overflow() {
        #expect(LoopTime(nanoseconds: 1).advanced(by: .seconds(Int64.max / 2)) == .never)
        #expect(LoopTime.never.advanced(by: .seconds(1)) == .never)
        #expect(LoopTime.zero.duration(to: LoopTime(nanoseconds: 5)) == .nanoseconds(5))
    }
}
