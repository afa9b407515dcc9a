import CLifelineTesting
package import LifelineCore
package import LifelineRuntime

/// An event loop of a simulation: the same queues and turns as the system's loops, on a thread and a clock that it shares with the
/// other loops of its ``VirtualScheduler``.
package final class VirtualEventLoop: EventLoop {
    package let scheduler: VirtualScheduler
    let seat: VirtualSeat
    package let tasks: any TaskExecutor

    init(_ scheduler: VirtualScheduler, seat: VirtualSeat) {
        self.scheduler = scheduler
        self.seat = seat
        let tasks = VirtualTaskExecutor(scheduler, seat: seat)
        self.tasks = tasks
        seat.seated(self, tasks)
    }

    /// The loop's place among those of its scheduler, from zero.
    package var index: Int { seat.index }
    package var now: LoopTime { scheduler.now }
    package var isCurrent: Bool { scheduler.isCurrent(seat) }
    package func complain(_ line: String) { lifeline_complain("lifeline: \(line)\n") }
    package var turnTime: LoopTime { now }
    package var storages: StorageCache { seat.storages }
    package var blocks: BlockPool { seat.blocks }
    package func randomBits() -> UInt64 { seat.dice.next() }

    package func post(_ notice: any LoopNotice) { scheduler.arrive(.notice(notice), at: seat) }

    package func submit(_ work: @escaping @Sendable () -> Void) { scheduler.arrive(.work(work), at: seat) }

    package func flushLater(_ target: any FlushTarget) {
        assertCurrent()
        seat.queues.addFlush(target)
    }

    package func arm(_ timer: LoopTimer, at time: LoopTime) {
        assertCurrent()
        seat.queues.timers.arm(timer, at: time)
    }

    package func disarm(_ timer: LoopTimer) {
        assertCurrent()
        seat.queues.timers.disarm(timer)
    }

    // A job that comes after the thread's end starts another one, so nothing has to be kept alive.
    package func join() {}
    package func leave() {}

    package func enqueue(_ job: consuming ExecutorJob) { scheduler.arrive(.actorJob(UnownedJob(job)), at: seat) }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func checkIsolated() {
        precondition(isCurrent, "not on virtual loop \(index), whose turn it isn't")
    }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    private func assertCurrent() {
        assert(isCurrent, "a call that is for virtual loop \(index) only came from outside of its turn")
    }
}

/// What tasks prefer: a second object on a loop's queues.
final class VirtualTaskExecutor: TaskExecutor {
    private let scheduler: VirtualScheduler
    private let seat: VirtualSeat

    init(_ scheduler: VirtualScheduler, seat: VirtualSeat) {
        self.scheduler = scheduler
        self.seat = seat
    }

    func enqueue(_ job: consuming ExecutorJob) { scheduler.arrive(.taskJob(UnownedJob(job)), at: seat) }

    func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}

/// What a loop and its scheduler both hold, so that neither holds the other in a circle.
///
/// The proof behind `@unchecked`: `serial` and `tasks` are set once, before another thread knows this, and `blocks` has a lock; the
/// rest is used on the scheduler's thread only.
final class VirtualSeat: @unchecked Sendable {
    let index: Int
    /// Its reads are smaller than those of other loops: most simulations never bring as much, and there are many.
    let storages = StorageCache(readSize: 64 * 1024)
    let blocks = BlockPool()
    private(set) var queues: LoopQueues
    /// What the code under test draws from the loop. It doesn't change whose turn it is.
    var dice: SeededGenerator
    private weak var serial: VirtualEventLoop?
    private weak var tasks: VirtualTaskExecutor?

    init(index: Int, seed: UInt64) {
        self.index = index
        queues = LoopQueues(storages: storages, blocks: blocks)
        dice = SeededGenerator(seed: seed)
    }

    func seated(_ serial: VirtualEventLoop, _ tasks: VirtualTaskExecutor) {
        self.serial = serial
        self.tasks = tasks
    }

    /// Drops what is queued; jobs among it never run. Work may hold the loop, which holds this.
    func dropWork() {
        queues = LoopQueues(storages: storages, blocks: blocks)
        storages.removeAll()
    }

    /// One turn; the number of jobs that ran.
    func turn(at time: LoopTime) -> Int {
        var count = 0
        let serial = serial
        let tasks = tasks
        queues.turn(now: { time }) { job in
            count += 1
            // An actor holds its loop, and a task the executor that it prefers.
            guard let tasks else { preconditionFailure("virtual loop \(index) has gone before a job of its own") }
            switch job {
            case .actor(let job):
                guard let serial else { preconditionFailure("an actor must hold the event loop that is its executor") }
                job.runSynchronously(isolatedTo: serial.asUnownedSerialExecutor(), taskExecutor: tasks.asUnownedTaskExecutor())
            case .task(let job):
                job.runSynchronously(on: tasks.asUnownedTaskExecutor())
            }
        }
        return count
    }
}
