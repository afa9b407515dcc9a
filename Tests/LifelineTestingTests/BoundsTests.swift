import LifelineRuntime
import Testing

@testable import LifelineTesting

/// What ends a simulation that doesn't end by itself, and what it leaves.
@Suite struct BoundsTests {
    private func failure(
        limit: Duration = .seconds(86_400), turns: Int = 10_000_000, patience: Duration = .milliseconds(1),
        _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws -> SimulationError {
        try #require(
            await #expect(throws: SimulationError.self) {
                try await simulate(
                    seed: 5, loops: 2, bounds: .init(limit: limit, turnsPerMoment: turns, patience: patience), place: "here", body)
            })
    }

    @Test func `waiting for nothing is being stuck`() async throws {
        let sawCancellation = Flag()
        let error = try await failure { world in
            try await world.clock.sleep(for: .seconds(2))
            do {
                try await OneShot<Void>().value()
            } catch is CancellationError {
                sawCancellation.set()
                throw CancellationError()
            }
        }
        #expect(error.kind == .stuck)
        #expect("\(error)".contains("stuck"))
        #expect("\(error)".contains("t=2.0 seconds, seed 5, simulation at here"))
        #expect(sawCancellation.isSet)
    }

    @Test func `a stuck body that can't be cancelled is left behind, and may go on later`() async throws {
        let never = OneShot<Void>()
        let end = OneShot<Bool>()
        let error = try await failure { world in
            await Task(executorPreference: world.loops[1].tasks) { try? await never.value() }.value
            end.succeed(world.loops[0].isCurrent)
        }
        #expect(error.kind == .stuck)
        // From this thread, when the simulation's has ended.
        never.succeed(())
        #expect(try await end.value())
    }

    @Test func `a stuck body may take virtual time to unwind`() async throws {
        let unwound = Flag()
        _ = try await failure { world in
            try? await OneShot<Void>().value()
            await Task(executorPreference: world.loops[0].tasks) { try? await world.clock.sleep(for: .seconds(5)) }.value
            #expect(world.now == .seconds(5))
            unwound.set()
        }
        #expect(unwound.isSet)
    }

    @Test func `the clock doesn't pass the limit`() async throws {
        let error = try await failure(limit: .seconds(60)) { world in
            while true { try await world.clock.sleep(for: .seconds(7)) }
        }
        #expect(error.kind == .timeLimit)
        #expect(error.time == .seconds(56))
    }

    @Test func `turns without end are found`() async throws {
        let error = try await failure(turns: 1000) { _ in
            while !Task.isCancelled { await Task.yield() }
        }
        #expect(error.kind == .livelock)
    }

    @Test func `tasks that go on after the body are found`() async throws {
        let error = try await failure { world in
            let loop = world.loops[1]
            @Sendable func again() { loop.submit { again() } }
            again()
        }
        #expect(error.kind == .livelock)
    }

    @Test func `what the body leaves behind is released`() async throws {
        let remains = try await simulate { world in
            let made = Counter(world, loop: 1)
            _ = await made.add(1, from: "body")
            // Somebody who still sleeps and holds it.
            Task(executorPreference: world.loops[1].tasks) {
                try? await world.clock.sleep(for: .seconds(10))
                _ = await made.add(1, from: "sleeper")
            }
            return Remains(counter: made, loop: world.loops[1], scheduler: world.scheduler)
        }
        // The thread lets go of the scheduler after it has told the result.
        while remains.scheduler != nil { await Task.yield() }
        #expect(remains.counter == nil)
        #expect(remains.loop == nil)
    }

    @Test func `an actor that is returned dies on its loop after the end`() async throws {
        let died = AsyncStream<Bool>.makeStream()
        do {
            let mortal = try await simulate { world in Mortal(world.loops[1]) { died.continuation.yield($0) } }
            #expect(mortal.loop.now == .zero)
        }
        for await wasOnLoop in died.stream {
            #expect(wasOnLoop)
            break
        }
    }

    @Test func `the world is harmless after the end`() async throws {
        let world = try await simulate(seed: 9) { $0 }
        await world.settle()
        await #expect(throws: CancellationError.self) { try await world.clock.sleep(for: .seconds(1)) }
        #expect(world.seed == 9)
        #expect(world.now == .zero)
    }
}

actor Mortal {
    let loop: VirtualEventLoop
    let died: @Sendable (Bool) -> Void
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: VirtualEventLoop, died: @escaping @Sendable (Bool) -> Void) {
        self.loop = loop
        self.died = died
    }

    isolated deinit { died(loop.isCurrent) }
}

/// What should be gone.
final class Remains: Sendable {
    weak let counter: Counter?
    weak let loop: VirtualEventLoop?
    weak let scheduler: VirtualScheduler?

    init(counter: Counter, loop: VirtualEventLoop, scheduler: VirtualScheduler) {
        self.counter = counter
        self.loop = loop
        self.scheduler = scheduler
    }
}
