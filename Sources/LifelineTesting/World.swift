public import LifelineRuntime

/// What a simulation's body sees of it: a network, a clock, random numbers and a trace, all of its own.
///
/// It may be used after the simulation's end, when sleeping throws and nothing moves.
public struct World: Sendable {
    let scheduler: VirtualScheduler
    /// The event loops; the body prefers the first.
    package let loops: [VirtualEventLoop]
    /// A network in memory on the simulation's loops; its names belong to this world.
    public let network: InMemoryNetwork
    /// A network of named hosts with links between them that the test can slow down and break.
    public let simulated: SimulatedNetwork
    /// Random numbers from the seed, one sequence for all tasks of the simulation. They don't change whose turn it is.
    public let random: WorldGenerator

    init(_ scheduler: VirtualScheduler) {
        self.scheduler = scheduler
        loops = scheduler.seats.map { VirtualEventLoop(scheduler, seat: $0) }
        network = InMemoryNetwork(loops: loops)
        simulated = SimulatedNetwork(SimulatedFabric(scheduler, loops: loops))
        random = WorldGenerator(seed: ~scheduler.seed)
    }

    /// What the simulation was started with.
    public var seed: UInt64 { scheduler.seed }

    /// Virtual time since the start.
    public var now: Duration { scheduler.now.sinceStart }

    /// Time for the code under test.
    public var clock: VirtualClock { VirtualClock(scheduler: scheduler, loops: loops) }

    /// How many timers are armed on the event loops, those of the code under test among them. To be asked within the simulation.
    public var armedTimers: Int { scheduler.isOnThread ? scheduler.seats.reduce(0) { $0 + $1.queues.timers.count } : 0 }

    /// What has happened so far.
    public var trace: Trace { scheduler.trace }

    /// The hash of ``trace``, by which two runs are compared.
    public var traceHash: UInt64 { scheduler.trace.hash }

    /// Adds a line to ``trace``, with the time and the loop.
    public func record(_ text: String) { scheduler.trace.addText(scheduler.now, loop: scheduler.currentIndex, text) }

    /// Returns when nothing else can run without time moving: everything that could happen now has happened. On cancellation it returns
    /// at once.
    public nonisolated(nonsending) func settle() async { await scheduler.settle() }

    /// Lets `duration` pass.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public nonisolated(nonsending) func advance(by duration: Duration) async throws { try await clock.sleep(for: duration) }
}

/// Random numbers that several tasks draw from one seed.
///
/// The proof behind `@unchecked`: the state is guarded by `lock`.
public final class WorldGenerator: RandomNumberGenerator, @unchecked Sendable {
    private let lock = Lock()
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// The next number.
    public func next() -> UInt64 { lock.withLock { generator.next() } }
}
