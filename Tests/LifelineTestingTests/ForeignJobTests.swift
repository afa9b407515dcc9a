#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
import LifelineRuntime
import Testing

@testable import LifelineTesting

/// Every way out of a simulation, and the ways in.
@Suite struct ForeignJobTests {
    @Test func `an unstructured task is found`() async throws {
        let error = try await failure { _ in
            Task {}
        }
        expectForeign(error, "the default pool")
    }

    @Test func `a detached task is found, also one that is awaited`() async throws {
        expectForeign(try await failure { _ in Task.detached {} }, "the default pool")
        expectForeign(try await failure { _ in await Task.detached { 1 }.value }, "the default pool")
    }

    @Test func `a hop to the main actor is found`() async throws {
        expectForeign(try await failure { _ in await onMain() }, "the main actor")
        expectForeign(try await failure { _ in Task { @MainActor in } }, "the main actor")
    }

    @Test func `a default actor without the preference is found`() async throws {
        let error = try await failure { world in
            let actor = Plain()
            try await world.clock.sleep(for: .seconds(3))
            await withTaskExecutorPreference(globalConcurrentExecutor) { await actor.touch() }
        }
        expectForeign(error, "from: closure #1")
        #expect(error.time == .seconds(3))
    }

    @Test func `a real sleep is found`() async throws {
        let error = try await failure { _ in try await realSleep(ContinuousClock()) }
        expectForeign(error, "from: LifelineTestingTests.realSleep")
    }

    @Test func `a task that leaves on another loop is found`() async throws {
        let error = try await failure { world in
            await withTaskGroup { group in
                group.addTask(executorPreference: world.loops[1].tasks) { Task {} }
            }
            try await world.clock.sleep(for: .seconds(1))
        }
        expectForeign(error, "loop 1 for the default pool")
        #expect(error.time == .zero)
    }

    @Test func `a task that leaves after the body is found`() async throws {
        let error = try await failure { world in
            world.loops[1].submit { Task {} }
        }
        expectForeign(error, "the default pool")
    }

    @Test func `work from a foreign thread is found`() async throws {
        let other = ForeignThread()
        let resumed = try await failure { world in
            let isSuspended = Flag()
            await withUnsafeContinuation { continuation in
                // In the next turn. Resumed before, the body would go on without a job.
                world.loops[0].submit { isSuspended.set() }
                other.run {
                    while !isSuspended.isSet { sched_yield() }
                    continuation.resume()
                }
            }
        }
        expectForeign(resumed, "a job of a task has come to loop 0 from a foreign thread")
        let submitted = try await failure { world in
            await withUnsafeContinuation { continuation in
                other.run { world.loops[1].submit { continuation.resume() } }
            }
        }
        expectForeign(submitted, "work has come to loop 1 from a foreign thread")
    }

    @Test func `the failure says where the job left`() async throws {
        let error = try await failure { _ in leaveByName() }
        #expect(error.message.contains("leaveByName"), "\(error)")
        #expect(error.place.contains("Support.swift"))
        #expect("\(error)".contains("seed 1"))
    }

    @Test func `ordinary tasks beside a simulation are left alone`() async throws {
        try await withThrowingTaskGroup { group in
            for seed in 1...4 {
                group.addTask {
                    try await simulate(seed: UInt64(seed)) { world in try await scramble(world) }
                }
                group.addTask {
                    for _ in 0..<100 { await Task { await onMain() }.value }
                }
            }
            try await group.waitForAll()
        }
    }

    private func expectForeign(_ error: SimulationError, _ words: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(error.kind == .foreignJob, sourceLocation: sourceLocation)
        #expect(error.message.contains(words), "\(error)", sourceLocation: sourceLocation)
    }
}

actor Plain {
    func touch() {}
}

@MainActor func onMain() async {}

@inline(never) func leaveByName() {
    Task {}
}

// The one real sleep of the tests: that it is found out is what is tested. (A shorter one may be over before its task suspends.)
func realSleep(_ clock: some Clock<Duration>) async throws { try await clock.sleep(for: .milliseconds(20)) }
