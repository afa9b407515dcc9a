import LifelineRuntime

/// The executor for tasks that prefer a loop: another object than the actors' on the same queue, because one that is both queues a job
/// again on each hop to nonisolated code.
final class LoopTaskExecutor: TaskExecutor {
    let loop: PollingEventLoop

    init(loop: PollingEventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) { loop.add(.taskJob(UnownedJob(job))) }
}
