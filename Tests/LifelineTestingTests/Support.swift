#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
import LifelineRuntime
import Synchronization
import Testing

@testable import LifelineTesting

/// An actor on a virtual loop that counts and records what it is told.
actor Counter {
    let loop: VirtualEventLoop
    let world: World
    private(set) var value = 0
    private(set) var wasOnLoop = true

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ world: World, loop index: Int) {
        self.world = world
        loop = world.loops[index]
    }

    func add(_ number: Int, from name: String) -> Int {
        wasOnLoop = wasOnLoop && loop.isCurrent
        value += number
        world.record("\(name) added \(number), now \(value)")
        return value
    }
}

/// The error that a simulation of `body` ends with. It waits so long for what is foreign that the machine may be busy.
func failure<R: Sendable>(
    _ body: @escaping @Sendable (World) async throws -> R, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> SimulationError {
    try #require(
        await #expect(throws: SimulationError.self, sourceLocation: sourceLocation) {
            try await simulate(
                seed: 1, loops: 2, bounds: .init(limit: .seconds(100), patience: .seconds(60)), place: "Support.swift", body)
        },
        sourceLocation: sourceLocation)
}

/// Several actors on several loops that talk to each other: what it does depends on whose turn it is.
func scramble(_ world: World) async throws {
    let counters = world.loops.indices.map { Counter(world, loop: $0) }
    await withTaskGroup { group in
        for (index, counter) in counters.enumerated() {
            group.addTask(executorPreference: counter.loop.tasks) {
                for round in 0..<20 {
                    let next = counters[(index + round) % counters.count]
                    _ = await next.add(round, from: "task \(index)")
                    if round % 5 == 0 {
                        var random = world.random
                        try? await world.clock.sleep(for: .milliseconds(Int.random(in: 0...3, using: &random)))
                    }
                }
            }
        }
    }
}

/// Something that is true once.
final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// A thread that belongs to no simulation.
struct ForeignThread: Sendable {
    func run(_ work: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(Box(work)).toOpaque()
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().work()
                return nil
            }, context)
        pthread_detach(thread)
    }

    private final class Box: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
}
