import CLifelineSystem
import LifelineRuntime
import Synchronization

extension PollingEventLoop {
    /// Something arrived while the loop slept: ends the wait, or starts the thread that is missing.
    func wake() {
        if hasThread.exchange(true, ordering: .sequentiallyConsistent) {
            poller.wake()
        } else {
            startThread()
        }
    }

    private func startThread() {
        let context = Unmanaged.passRetained(self).toOpaque()
        let result = lls_start_thread(
            "lifeline-loop",
            { context in
                guard let context else { return }
                Unmanaged<PollingEventLoop>.fromOpaque(context).takeRetainedValue().runThread()
            }, context)
        // There is no one to tell: the jobs that need the thread belong to anybody.
        precondition(result == 0, "no thread for an event loop: errno \(-result)")
    }

    private func runThread() {
        lls_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
        let tasks = taskExecutor
        withExtendedLifetime(tasks) {
            while !(isStopping.load(ordering: .sequentiallyConsistent) && isDeserted && retire()) { turn(tasks) }
        }
        lls_set_current_loop(nil)
    }

    /// True if this thread may end. Then it touches nothing of the loop any more.
    ///
    /// Whatever arrives between the two steps isn't told to wake anybody, and is found by the second; what arrives later finds the loop
    /// asleep and without a thread, and starts one.
    private func retire() -> Bool {
        hasThread.store(false, ordering: .sequentiallyConsistent)
        if queues.fallAsleep() { return true }
        // A late wake-up may have started another thread; then the loop is that one's.
        return hasThread.exchange(true, ordering: .sequentiallyConsistent)
    }

    /// Poll, events, and what the queues have.
    private func turn(_ tasks: LoopTaskExecutor) {
        let isAsleep = !queues.hasWork && queues.fallAsleep()
        turns.store(turns.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        let count = poller.wait(nanoseconds: isAsleep ? timeToNextTimer : 0)
        if isAsleep { queues.wokeUp() }
        refreshNow()
        for index in 0..<count {
            let (token, events) = poller[index]
            table[token]?.ready(events)
        }

        let serial = asUnownedSerialExecutor()
        let task = tasks.asUnownedTaskExecutor()
        watch.begin()
        queues.turn(now: { cachedNow }) { job in
            switch job {
            case .actor(let job): job.runSynchronously(isolatedTo: serial, taskExecutor: task)
            case .task(let job): job.runSynchronously(on: task)
            }
            if watch.jobEnded() { refreshNow() }
        }
    }

    private func refreshNow() { cachedNow = LoopTime(nanoseconds: lls_now()) }

    /// In nanoseconds; 0 if one must not wait, negative if there is none.
    private var timeToNextTimer: Int64 {
        guard let next = queues.wakeTime, next != .never else { return -1 }
        return max(0, next.nanoseconds - lls_now())
    }
}
