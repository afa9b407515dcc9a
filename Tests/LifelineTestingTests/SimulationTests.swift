import LifelineRuntime
import Testing

@testable import LifelineTesting

@Suite struct SimulationTests {
    @Test func `passes the result on`() async throws {
        #expect(try await simulate { _ in 42 } == 42)
    }

    @Test func `passes the body's own error on`() async throws {
        struct Own: Error {}
        await #expect(throws: Own.self) { try await simulate { _ in throw Own() } }
    }

    @Test func `the body runs on loop 0, and actors on their own loops`() async throws {
        try await simulate { world in
            #expect(world.loops[0].isCurrent)
            let first = Counter(world, loop: 0)
            let second = Counter(world, loop: 1)
            for number in 1...10 {
                #expect(await first.add(number, from: "body") == number * (number + 1) / 2)
                #expect(world.loops[0].isCurrent)
                #expect(await second.add(1, from: "body") == number)
                #expect(world.loops[0].isCurrent)
            }
            #expect(await first.wasOnLoop)
            #expect(await second.wasOnLoop)
        }
    }

    @Test func `a result is handed over from loop to loop`() async throws {
        try await simulate(loops: 3) { world in
            let (numbers, source) = AsyncStream<Int>.makeStream()
            let sum = await withTaskGroup(of: Int.self) { group in
                group.addTask(executorPreference: world.loops[1].tasks) {
                    for number in 1...100 { source.yield(number) }
                    source.finish()
                    return 0
                }
                group.addTask(executorPreference: world.loops[2].tasks) {
                    var sum = 0
                    for await number in numbers {
                        #expect(world.loops[2].isCurrent)
                        sum += number
                    }
                    return sum
                }
                return await group.reduce(0, +)
            }
            #expect(sum == 5050)
        }
    }

    @Test func `default actors and child tasks stay inside`() async throws {
        actor Plain {
            var value = 0
            func add() { value += 1 }
        }
        try await simulate { world in
            let plain = Plain()
            await withTaskGroup { group in
                for _ in 0..<10 { group.addTask { await plain.add() } }
            }
            async let other: Void = plain.add()
            await other
            #expect(await plain.value == 11)
        }
    }

    @Test func `a virtual hour takes no time, and timers fire in order`() async throws {
        let (order, end) = try await simulate { world in
            let order = await withTaskGroup(of: Int.self) { group in
                for minutes in [60, 5, 30, 1, 45] {
                    group.addTask {
                        try? await world.clock.sleep(for: .seconds(60 * minutes))
                        return minutes
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            return (order, world.now)
        }
        #expect(order == [1, 5, 30, 45, 60])
        #expect(end == .seconds(3600))
    }

    @Test func `a cancelled sleep ends at once`() async throws {
        try await simulate { world in
            await withTaskGroup { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await world.clock.sleep(for: .seconds(100)) }
                    #expect(world.now == .seconds(1))
                }
                try? await world.advance(by: .seconds(1))
                group.cancelAll()
            }
            #expect(world.now == .seconds(1))
            #expect(world.loops.allSatisfy { $0.seat.queues.timers.isEmpty })
        }
    }

    @Test func `settle returns when all that can happen now has happened`() async throws {
        try await simulate(loops: 3) { world in
            let counter = Counter(world, loop: 2)
            await withTaskGroup { group in
                for index in 0..<10 {
                    group.addTask(executorPreference: world.loops[index % 3].tasks) {
                        for _ in 0..<10 { _ = await counter.add(1, from: "task \(index)") }
                        try? await world.clock.sleep(for: .seconds(1))
                        _ = await counter.add(1, from: "task \(index)")
                    }
                }
                await world.settle()
                #expect(await counter.value == 100)
                #expect(world.now == .zero)
                try? await world.advance(by: .seconds(1))
                await world.settle()
                #expect(await counter.value == 110)
            }
        }
    }

    @MainActor @Test func `a caller on the main actor gets its result there`() async throws {
        let wasOnLoop = try await simulate { world in world.loops[0].isCurrent }
        MainActor.preconditionIsolated()
        #expect(wasOnLoop)
    }

    @Test func `a simulation isn't disturbed by another one that fails`() async throws {
        await withTaskGroup { group in
            for seed in 1...4 as ClosedRange<UInt64> {
                group.addTask {
                    _ = await #expect(throws: SimulationError.self) { try await simulate(seed: seed) { _ in Task {} } }
                }
                group.addTask {
                    _ = await #expect(throws: Never.self) { try await simulate(seed: seed, loops: 3, scramble) }
                }
            }
        }
    }

    @Test func `task-local values of the caller are seen`() async throws {
        try await Locals.$name.withValue("outside") {
            try await simulate { _ in #expect(Locals.name == "outside") }
        }
    }

    @Test func `an expectation inside belongs to the test`() async throws {
        await withKnownIssue {
            try await simulate { _ in #expect(Bool(false)) }
        }
    }

    @Test(arguments: 1...8)
    func `simulations run beside each other`(seed: UInt64) async throws {
        let traces = try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await simulate(seed: seed, loops: 4) { world in
                        try await scramble(world)
                        return world.traceHash
                    }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(traces.count == 1)
    }

    @Test func `cancelling the caller cancels the body`() async throws {
        let isRunning = Flag()
        await withTaskGroup { group in
            group.addTask {
                await #expect(throws: CancellationError.self) {
                    try await simulate { world in
                        isRunning.set()
                        while true { try await world.clock.sleep(for: .nanoseconds(1)) }
                    }
                }
            }
            while !isRunning.isSet { await Task.yield() }
            group.cancelAll()
        }
    }
}

enum Locals {
    @TaskLocal static var name = ""
}
