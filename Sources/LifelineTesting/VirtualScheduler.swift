internal import CLifelineTesting
package import LifelineRuntime
internal import Synchronization

/// One thread and one clock for the loops of a simulation, and the seed that says whose turn it is.
///
/// The proof behind `@unchecked`: what stands under `lock` is guarded by it, what stands under "thread" is used by the one thread that
/// runs turns at a time (a later one starts only after the lock said that the former has ended), and the rest never changes.
package final class VirtualScheduler: @unchecked Sendable {
    /// Something beside the loops that acts at moments of its own, on the thread: a network.
    protocol Device: AnyObject, Sendable {
        /// When something will happen next.
        var nextTime: LoopTime? { get }
        /// Does what is due; false if nothing was.
        func act(at now: LoopTime) -> Bool
        /// The run is over: what it has of the test's is to be let go of.
        func end()
    }

    /// What a simulation may use up.
    struct Bounds: Sendable {
        /// Of virtual time.
        var limit: Duration
        /// Turns without time moving.
        var turnsPerMoment = 10_000_000
        /// Of real time, once nothing is left to run: so long something foreign may still show itself.
        var patience: Duration = .seconds(1)
    }

    /// The first thing that went wrong.
    struct Failure {
        var kind: SimulationError.Kind
        var message: String
        var time: LoopTime
        var frames: [UInt] = []
    }

    enum Phase { case new, running, ended }

    struct Arrival {
        var seat: VirtualSeat
        var entry: LoopQueues.Entry
    }

    let seed: UInt64
    let place: String
    let bounds: Bounds
    let seats: [VirtualSeat]
    let trace = Trace()
    let gate = lifeline_gate_create()
    private let time = Atomic<Int64>(0)
    /// Set before the thread starts.
    weak var device: (any Device)?

    let lock = Lock()
    // Under `lock`.
    var phase = Phase.new
    var arrivals: [Arrival] = []
    var failure: Failure?
    var mustCancel = false
    var isBodyDone = false
    var isDrainingLate = false
    var settlers: [OneShot<Void>] = []
    var sleepers: [UInt64: OneShot<Void>] = [:]
    var sleepersSoFar: UInt64 = 0

    // Thread.
    var current: VirtualSeat?
    var dice: SeededGenerator
    var turnsAtMoment = 0
    var candidates: [VirtualSeat] = []

    init(seed: UInt64, loops: Int, bounds: Bounds, place: String) {
        precondition(loops > 0, "a simulation needs a loop")
        self.seed = seed
        self.place = place
        self.bounds = bounds
        seats = (0..<loops).map { VirtualSeat(index: $0, seed: seed ^ (UInt64($0) + 1) << 32) }
        dice = SeededGenerator(seed: seed)
        lifeline_watch_exits { owner, way, frames, count in
            let scheduler = Unmanaged<VirtualScheduler>.fromOpaque(owner).takeUnretainedValue()
            scheduler.jobLeft(way, UnsafeBufferPointer(start: frames, count: Int(count)))
        }
    }

    deinit { lifeline_gate_destroy(gate) }

    package var now: LoopTime { LoopTime(nanoseconds: time.load(ordering: .acquiring)) }

    /// On the thread.
    func moveTime(to later: LoopTime) {
        time.store(later.nanoseconds, ordering: .releasing)
        turnsAtMoment = 0
    }

    /// Whether the calling thread is the one that runs turns.
    var isOnThread: Bool { lifeline_thread_owner() == Unmanaged.passUnretained(self).toOpaque() }

    /// Whether the calling thread runs a turn of the loop at `seat`.
    func isCurrent(_ seat: VirtualSeat) -> Bool { isOnThread && current === seat }

    /// The loop whose turn the calling thread runs.
    var currentIndex: Int? { isOnThread ? current?.index : nil }

    /// Queues an entry. From another thread than the scheduler's that is a failure of the simulation, and the entry runs all the same.
    func arrive(_ entry: LoopQueues.Entry, at seat: VirtualSeat) {
        if isOnThread {
            seat.queues.add(entry)
            return
        }
        // Before it is queued, for then it may run and be gone.
        if lock.withLock({ phase == .running && failure == nil }) {
            fail(.foreignJob, Self.arrivalText(entry, at: seat), frames: Self.origin(of: entry))
        }
        lock.lock()
        arrivals.append(Arrival(seat: seat, entry: entry))
        switch phase {
        case .new:
            lock.unlock()
        case .running:
            lock.unlock()
            lifeline_gate_open(gate)
        case .ended:
            let mustStart = !isDrainingLate
            isDrainingLate = true
            lock.unlock()
            if mustStart { startLateThread() }
        }
    }

    /// Notes what went wrong, if it is the first thing.
    func fail(_ kind: SimulationError.Kind, _ message: String, frames: [UInt] = []) {
        lock.withLock {
            if failure == nil, phase != .ended { failure = Failure(kind: kind, message: message, time: now, frames: frames) }
        }
    }

    /// Asks for the body's task to be cancelled on the thread: its handlers must not run on a foreign one.
    func requestCancel() {
        lock.withLock { mustCancel = true }
        lifeline_gate_open(gate)
    }

    func bodyIsDone() { lock.withLock { isBodyDone = true } }
}

// What waits for the scheduler.
extension VirtualScheduler {
    /// Returns when nothing can run at this moment of virtual time, or when the task is cancelled.
    nonisolated(nonsending) func settle() async {
        let settled = OneShot<Void>()
        let isOver = lock.withLock {
            if phase != .ended { settlers.append(settled) }
            return phase == .ended
        }
        if !isOver { try? await settled.value() }
    }

    /// Waits until the clock shows `deadline`.
    nonisolated(nonsending) func sleep(until deadline: LoopTime, on loop: VirtualEventLoop) async throws {
        let woken = OneShot<Void>()
        let id: UInt64? = lock.withLock {
            guard phase != .ended else { return nil }
            sleepersSoFar += 1
            sleepers[sleepersSoFar] = woken
            return sleepersSoFar
        }
        guard let id else { throw CancellationError() }
        let alarm = Alarm(woken)
        let timer = LoopTimer(alarm)
        loop.armFromAnywhere(timer, after: now.duration(to: deadline))
        defer {
            lock.withLock { sleepers[id] = nil }
            if timer.isArmed { loop.disarmFromAnywhere(timer) }
            withExtendedLifetime(alarm) {}
        }
        try await woken.value()
    }

    private final class Alarm: LoopTimerTarget {
        private let woken: OneShot<Void>
        init(_ woken: OneShot<Void>) { self.woken = woken }
        func timerFired(_ timer: LoopTimer) { woken.succeed(()) }
    }
}
