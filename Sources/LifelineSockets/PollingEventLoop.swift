import CLifelineSystem
package import LifelineCore
package import LifelineRuntime
import Synchronization

/// An event loop over the system's poller, with a thread of its own.
///
/// The thread is started when something arrives for the loop, and ends only after ``stop()``, once nothing is watched, no actor lives
/// here, no timer is armed and nothing is queued. What arrives later still runs, on another thread. Nobody waits for a thread.
///
/// The proof behind `@unchecked`: `table`, `cachedNow` and `watch` are touched on the loop's thread only, and one thread
/// hands them to the next through `hasThread`; `tasksReference` is guarded by `lock`; the rest is atomic or never changes.
package final class PollingEventLoop: EventLoop, @unchecked Sendable {
    let queues = LoopQueues()
    let poller: Poller
    @exclusivity(unchecked) var table = PollTable()
    @exclusivity(unchecked) var cachedNow = LoopTime.zero
    @exclusivity(unchecked) var watch: LongJobWatch

    /// Whether a thread serves the loop, or is about to.
    let hasThread = Atomic(false)
    let isStopping = Atomic(false)
    private let residents = Atomic(0)
    let turns = Atomic<UInt64>(0)

    private let lock = Lock()
    private weak var tasksReference: LoopTaskExecutor?

    package init(onLongJob: (@Sendable (Duration) -> Void)? = nil) throws(SocketError) {
        poller = try Poller()
        watch = LongJobWatch(report: onLongJob)
        // A loop without a thread counts as asleep, so the first arrival starts one.
        _ = queues.fallAsleep()
    }

    package var isCurrent: Bool { lls_current_loop() == Unmanaged.passUnretained(self).toOpaque() }

    package var now: LoopTime { isCurrent ? cachedNow : LoopTime(nanoseconds: lls_now()) }

    /// One object while anybody holds it. It refers to the loop, so the loop can't refer to it.
    package var tasks: any TaskExecutor { taskExecutor }

    var taskExecutor: LoopTaskExecutor {
        lock.withLock {
            if let tasksReference { return tasksReference }
            let made = LoopTaskExecutor(loop: self)
            tasksReference = made
            return made
        }
    }

    func add(_ entry: LoopQueues.Entry) {
        if isCurrent {
            queues.add(entry)
        } else if queues.addForeign(entry) {
            wake()
        }
    }

    package func post(_ notice: any LoopNotice) { add(.notice(notice)) }

    package func submit(_ work: @escaping @Sendable () -> Void) { add(.work(work)) }

    package func flushLater(_ target: any FlushTarget) { queues.addFlush(target) }

    package func arm(_ timer: LoopTimer, at time: LoopTime) { queues.timers.arm(timer, at: time) }

    package func disarm(_ timer: LoopTimer) { queues.timers.disarm(timer) }

    package var turnTime: LoopTime { cachedNow }

    package var storages: StorageCache { queues.storages }

    package var blocks: BlockPool { queues.blocks }

    package func randomBits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    package func complain(_ line: String) { Complaint.write(line) }

    package func join() { residents.add(1, ordering: .relaxed) }

    package func leave() {
        let left = residents.subtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isStopping.load(ordering: .sequentiallyConsistent) { submit {} }
    }

    /// Lets the thread end once the loop has nothing left. From any thread.
    func stop() {
        isStopping.store(true, ordering: .sequentiallyConsistent)
        // A thread that sleeps has to look; a loop that never had one needs none.
        if hasThread.load(ordering: .sequentiallyConsistent) { submit {} }
    }

    /// How often the loop has polled, for tests. From any thread.
    package var turnCount: UInt64 { turns.load(ordering: .relaxed) }

    /// Whether the loop has a thread just now, for tests. From any thread.
    package var isServed: Bool { hasThread.load(ordering: .sequentiallyConsistent) }

    /// Whether nothing would ever happen on this loop by itself. On the loop.
    var isDeserted: Bool {
        table.count == 0 && queues.timers.isEmpty && residents.load(ordering: .sequentiallyConsistent) == 0 && !queues.hasWork
    }
}

// Actors' jobs.
extension PollingEventLoop {
    package func enqueue(_ job: consuming ExecutorJob) { add(.actorJob(UnownedJob(job))) }

    package func checkIsolated() { precondition(isCurrent, "not on the event loop that this actor belongs to") }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

// What is watched. On the loop.
extension PollingEventLoop {
    /// Watches `descriptor` for `target`, which the loop owns until ``unwatch(_:)``.
    func watch(_ descriptor: Int32, for interest: PollInterest, _ target: any PollTarget) throws(SocketError) -> UInt64 {
        let token = table.insert(target)
        do throws(SocketError) {
            try poller.add(descriptor, token: token, for: interest)
        } catch {
            table.remove(token)
            throw error
        }
        return token
    }

    /// Before the descriptor is closed. `explicitly` where the open file may live on under another descriptor.
    func unwatch(_ token: UInt64, _ descriptor: Int32, explicitly: Bool) {
        #if canImport(Darwin)
            poller.remove(descriptor)
        #else
            if explicitly { poller.remove(descriptor) }
        #endif
        table.remove(token)
    }
}

/// Lines on standard error.
enum Complaint {
    /// One write per line, so that lines of different threads aren't mixed; a reader that has gone does no harm.
    static func write(_ text: String) {
        let line = "lifeline: \(text)\n"
        lls_complain(line, line.utf8.count)
    }
}
