package import LifelineCore

/// The queues and the turn that every event loop has, whatever it polls.
///
/// The proof behind `@unchecked`: `foreign` and `isAsleep` are guarded by `lock`; everything else is touched on the loop's thread only.
package final class LoopQueues: @unchecked Sendable {
    package enum Entry {
        /// A job of an actor whose executor is this loop.
        case actorJob(UnownedJob)
        /// A job of a task that prefers this loop.
        case taskJob(UnownedJob)
        case work(@Sendable () -> Void)
        case notice(any LoopNotice)
    }

    package enum Job {
        case actor(UnownedJob)
        case task(UnownedJob)
    }

    private let lock = Lock()
    @exclusivity(unchecked) private var foreign: [Entry] = []
    @exclusivity(unchecked) private var isAsleep = false

    @exclusivity(unchecked) private var arriving: [Entry] = []
    @exclusivity(unchecked) private var callbacks: [Entry] = []
    @exclusivity(unchecked) private var running: [Entry] = []
    @exclusivity(unchecked) private var jobs: [Job] = []
    @exclusivity(unchecked) private var runningJobs: [Job] = []
    @exclusivity(unchecked) private var flushes: [any FlushTarget] = []
    @exclusivity(unchecked) private var runningFlushes: [any FlushTarget] = []
    @exclusivity(unchecked) package var timers = TimerQueue()
    package let storages: StorageCache
    package let blocks: BlockPool

    package init(storages: StorageCache = StorageCache(), blocks: BlockPool = BlockPool()) {
        self.storages = storages
        self.blocks = blocks
    }

    /// Adds an entry from another thread. True if the loop sleeps and must be woken.
    package func addForeign(_ entry: Entry) -> Bool {
        lock.withLock {
            foreign.append(entry)
            defer { isAsleep = false }
            return isAsleep
        }
    }

    /// Adds an entry on the loop's own thread.
    package func add(_ entry: Entry) {
        switch entry {
        case .actorJob(let job): jobs.append(.actor(job))
        case .taskJob(let job): jobs.append(.task(job))
        case .work, .notice: callbacks.append(entry)
        }
    }

    package func addFlush(_ target: any FlushTarget) { flushes.append(target) }

    /// Whether a turn would find something to do apart from timers. On the loop's thread.
    package var hasWork: Bool { !jobs.isEmpty || !callbacks.isEmpty || !flushes.isEmpty || lock.withLock { !foreign.isEmpty } }

    /// When the loop has to wake up by itself, if ever; see ``TimerQueue/wakeTime``.
    package var wakeTime: LoopTime? { timers.wakeTime }

    /// Says that the loop is about to sleep; false if something has arrived, so that no wake-up is lost.
    package func fallAsleep() -> Bool {
        lock.withLock {
            isAsleep = foreign.isEmpty
            return isAsleep
        }
    }

    package func wokeUp() { lock.withLock { isAsleep = false } }

    /// One turn behind the polling: callbacks, timers that are due, the jobs that are there now, flush.
    package func turn(now: () -> LoopTime, run: (Job) -> Void) {
        takeForeign()

        swap(&callbacks, &running)
        for entry in running {
            switch entry {
            case .work(let work): work()
            case .notice(let notice): notice.deliver()
            case .actorJob, .taskJob: break  // `add` sorts them into `jobs`.
            }
        }
        running.removeAll(keepingCapacity: running.count < 1024)

        if !timers.isEmpty {
            let time = now()
            while let timer = timers.popDue(time) { timer.target?.timerFired(timer) }
        }

        swap(&jobs, &runningJobs)
        for job in runningJobs { run(job) }
        runningJobs.removeAll(keepingCapacity: runningJobs.count < 1024)

        swap(&flushes, &runningFlushes)
        for target in runningFlushes { target.flush() }
        runningFlushes.removeAll(keepingCapacity: runningFlushes.count < 1024)
    }

    private func takeForeign() {
        lock.withLock { swap(&foreign, &arriving) }
        for entry in arriving { add(entry) }
        arriving.removeAll(keepingCapacity: arriving.count < 1024)
    }
}
