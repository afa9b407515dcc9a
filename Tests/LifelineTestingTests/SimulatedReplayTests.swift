import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// The same seed is the same network, in every process.
@Suite struct SimulatedReplayTests {
    static func run(_ seed: UInt64) async throws -> UInt64 {
        try await simulate(seed: seed, loops: 3) { world in
            let network = world.simulated
            network.links = LinkSettings(latency: .milliseconds(2), jitter: .milliseconds(9), bandwidth: 100_000, cuts: 0.2, loss: 0.05)
            let server = network.host("server")
            try await withEchoServer(on: server) {
                try await withThrowingTaskGroup { group in
                    for index in 0..<5 {
                        let host = network.host("client \(index)")
                        group.addTask {
                            let connection = try await connect(from: host)
                            for number in 0..<20 {
                                try await connection.send("\(index): \(number)")
                                if index == 3, number == 7 {
                                    network.partition(host, server)
                                    try await world.advance(by: .seconds(2))
                                    network.heal(host, server)
                                }
                                #expect(try await connection.next() == "\(index): \(number)")
                            }
                            await connection.close(within: .seconds(10))
                        }
                    }
                    try await group.waitForAll()
                }
            }
            return world.traceHash
        }
    }

    @Test func `the same seed gives the same trace, another seed another one`() async throws {
        var hashes: Set<UInt64> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            let hash = try await Self.run(seed)
            #expect(try await Self.run(seed) == hash, "seed \(seed)")
            hashes.insert(hash)
        }
        #expect(hashes.count == 20)
    }

    @Test func `two other processes see the same trace`() async throws {
        let here = try await "hash=\(Self.run(4711))"
        #expect(try await hashFromAnotherProcess() == here)
        #expect(try await hashFromAnotherProcess() == here)
    }

    private func hashFromAnotherProcess() async throws -> String? {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                print("hash=\(try await SimulatedReplayTests.run(4711))")
            })
        let output = String(decoding: result.standardOutputContent, as: UTF8.self)
        return output.split(separator: "\n").first { $0.hasPrefix("hash=") }.map(String.init)
    }
}
