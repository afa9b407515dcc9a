package import LifelineCore

/// One thread that polls, runs actors' jobs and tasks' jobs, and fires timers. The same code runs on the system's loops and on virtual
/// ones; what stands here is all that the runtime asks of either.
package protocol EventLoop: SerialExecutor {
    /// The executor for tasks that prefer this loop: a second object on the same queue. (One object that is both queues a job again on
    /// each hop to nonisolated code.)
    var tasks: any TaskExecutor { get }
    /// The present. On the loop's own thread it may be as old as the turn.
    var now: LoopTime { get }
    /// The time of the turn, without a look at the clock or the thread. On the loop only.
    var turnTime: LoopTime { get }
    /// Whether the calling thread is this loop's.
    var isCurrent: Bool { get }
    /// What the loop's connections read into, and blocks for what was read. Always the same object, to be used on the loop only.
    var storages: StorageCache { get }
    /// Blocks to encode into. From any thread.
    var blocks: BlockPool { get }
    /// The next of the loop's random numbers, for jitter; see ``LoopDice``. On the loop only.
    func randomBits() -> UInt64

    /// Delivers `notice` on the loop, in its callback phase. From any thread.
    func post(_ notice: any LoopNotice)
    /// Runs `work` on the loop, in its callback phase. From any thread.
    func submit(_ work: @escaping @Sendable () -> Void)
    /// Calls `target.flush()` at the end of the turn. On the loop only.
    func flushLater(_ target: any FlushTarget)
    /// Arms or moves a timer. On the loop only.
    func arm(_ timer: LoopTimer, at time: LoopTime)
    /// On the loop only.
    func disarm(_ timer: LoopTimer)
    /// One line on standard error: where faults go that the application gave no other place. From any thread.
    func complain(_ line: String)
    /// An actor lives on this loop from now on: its thread must not end. From any thread.
    func join()
    /// The opposite of ``join()``. From any thread.
    func leave()
}

extension EventLoop {
    /// Arms `timer` from any thread.
    package func armFromAnywhere(_ timer: LoopTimer, after delay: Duration) {
        let time = now.advanced(by: delay)
        if isCurrent {
            arm(timer, at: time)
        } else {
            let box = LoopConfined(timer)
            submit { self.arm(box.value, at: time) }
        }
    }

    /// Disarms `timer` from any thread.
    package func disarmFromAnywhere(_ timer: LoopTimer) {
        if isCurrent {
            disarm(timer)
        } else {
            let box = LoopConfined(timer)
            submit { self.disarm(box.value) }
        }
    }

    /// Runs `work` now if this is the loop's thread, else on the loop.
    package func run(_ work: @escaping @Sendable () -> Void) {
        if isCurrent { work() } else { submit(work) }
    }
}

/// The random numbers of a loop: the system's, or those of a simulation's seed. On the loop only.
package struct LoopDice: RandomNumberGenerator {
    private let loop: any EventLoop
    package init(_ loop: any EventLoop) { self.loop = loop }
    package func next() -> UInt64 { loop.randomBits() }
}

/// Something to call in a loop's callback phase. The loop keeps it alive until then.
package protocol LoopNotice: AnyObject, Sendable {
    func deliver()
}

/// Something with bytes to write at the end of a turn.
package protocol FlushTarget: AnyObject {
    func flush()
}

/// Carries a value to the loop that it belongs to.
///
/// The proof behind `@unchecked`: the value is used on the loop only; this box is made for the way there.
package struct LoopConfined<Value>: @unchecked Sendable {
    package let value: Value
    package init(_ value: Value) { self.value = value }
}
