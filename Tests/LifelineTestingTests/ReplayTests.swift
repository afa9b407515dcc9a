import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// The same seed is the same run, and another seed another one.
@Suite struct ReplayTests {
    static func run(_ seed: UInt64) async throws -> UInt64 {
        try await simulate(seed: seed, loops: 4) { world in
            try await scramble(world)
            try await chat(world)
            return world.traceHash
        }
    }

    /// Clients that talk to a server at their own random pace.
    static func chat(_ world: World) async throws {
        let server = try await Server.bind(.inMemory("chat"), codec: .lines, on: world.network)
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await server.run { connection in
                    while let line = try await connection.next() {
                        world.record(line)
                        try await connection.send(line)
                    }
                }
            }
            try await withThrowingTaskGroup { clients in
                for index in 0..<5 {
                    clients.addTask {
                        let client = try await Connection.connect(to: .inMemory("chat"), codec: .lines, on: world.network)
                        for number in 0..<10 {
                            var random = world.random
                            try await world.clock.sleep(for: .microseconds(Int.random(in: 0...2, using: &random)))
                            try await client.send("\(index): \(number)")
                            _ = try await client.next()
                        }
                        await client.close()
                    }
                }
                try await clients.waitForAll()
            }
            await server.shutdown()
            try await group.waitForAll()
        }
    }

    @Test(arguments: [1, 2, 77] as [UInt64])
    func `the same seed gives the same trace`(seed: UInt64) async throws {
        let first = try await Self.run(seed)
        for _ in 0..<3 { #expect(try await Self.run(seed) == first) }
    }

    @Test func `other seeds give other interleavings`() async throws {
        let seeds: ClosedRange<UInt64> = 1...20
        var hashes: Set<UInt64> = []
        for seed in seeds { hashes.insert(try await Self.run(seed)) }
        #expect(hashes.count == seeds.count)
    }

    @Test func `seeds change the order of turns, not only random numbers`() async throws {
        var orders: Set<[String]> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            let lines = try await simulate(seed: seed, loops: 3) { world in
                await withTaskGroup { group in
                    for loop in world.loops {
                        group.addTask(executorPreference: loop.tasks) {
                            world.record("here")
                            await Task.yield()
                            world.record("there")
                        }
                    }
                }
                return world.trace.lines.filter { $0.hasSuffix("here") }
            }
            #expect(lines.count == 6)
            orders.insert(lines)
        }
        #expect(orders.count > 5)
    }

    @Test func `two other processes see the same trace`() async throws {
        let first = try await hashFromAnotherProcess()
        let second = try await hashFromAnotherProcess()
        let here = try await "hash=\(Self.run(4711))"
        #expect(first == here)
        #expect(second == here)
    }

    private func hashFromAnotherProcess() async throws -> String? {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                print("hash=\(try await ReplayTests.run(4711))")
            })
        let output = String(decoding: result.standardOutputContent, as: UTF8.self)
        return output.split(separator: "\n").first { $0.hasPrefix("hash=") }.map(String.init)
    }

    @Test func `a trace keeps its last lines`() async throws {
        try await simulate { world in
            for number in 0..<(Trace.capacity + 5) { world.record("\(number)") }
            #expect(world.trace.lines.count == Trace.capacity)
            #expect(world.trace.lines.last == "0.0 seconds 0 \(Trace.capacity + 4)")
            #expect(world.trace.count == Trace.capacity + 5)
            #expect(world.trace.lines.first == "0.0 seconds 0 5")
        }
    }

    @Test func `the generator's numbers are SplitMix64's`() {
        var generator = SeededGenerator(seed: 1_234_567)
        let numbers = (0..<5).map { _ in generator.next() }
        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ])
    }
}
