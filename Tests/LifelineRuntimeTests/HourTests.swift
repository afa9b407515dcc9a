import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("An hour with a link")
struct HourTests {
    private static let seeds: ClosedRange<UInt64> = 1...2

    private struct Account: Equatable {
        var statuses: [String] = []
        var pings: UInt64 = 0
        var traceHash: UInt64 = 0
    }

    /// A link with a ping every 5 s, to a server that is there for 290 s and then away for 70 s, ten times.
    private func hour(seed: UInt64) async throws -> Account {
        try await simulate(seed: seed) { world in
            var account = Account()
            async let pings: UInt64 = {
                var pings: UInt64 = 0
                for round in 1...10 {
                    let server = try await Server.bind(.inMemory("home"), codec: .lines, on: world.network)
                    let heard = Log<String>()
                    async let served: Void = server.run { connection in
                        while let line = try await connection.next() {
                            heard.add(line)
                            try await connection.send("pong")
                        }
                    }
                    try await world.clock.sleep(for: .seconds(290))
                    await server.shutdown(within: .seconds(1))
                    try await served
                    pings += UInt64(heard.entries.count)
                    try await world.clock.sleep(for: .seconds(360 * round) - world.now)
                }
                return pings
            }()
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: .lines, on: world.network, heartbeat: .pings(every: .seconds(5), within: .seconds(3)),
                reconnect: .exponential(first: .seconds(1), multiplier: 2, cap: .seconds(30), jitter: .full))
            await link.start()
            async let stopped: Void = {
                try await world.clock.sleep(for: .seconds(3600))
                await link.stop()
            }()
            for await status in link.statusUpdates {
                account.statuses.append("\(world.now) \(status)")
                if case .stopped = status { break }
            }
            try await stopped
            account.pings = try await pings
            account.traceHash = world.traceHash
            return account
        }
    }

    @Test("C143: heartbeats and waits of an hour take no real time, and the same seed gives the same events", arguments: seeds)
    func replayed(seed: UInt64) async throws {
        let first = try await hour(seed: seed)
        #expect(try await hour(seed: seed) == first)
        let connects = first.statuses.filter { $0.hasSuffix("connected") }.count
        #expect(connects == 10)
        // Ten times 290 s, less what the jitter has taken.
        #expect((500...580).contains(first.pings))
        #expect(first.statuses.last?.hasPrefix("3600.0 seconds stopped") == true, "\(first.statuses.suffix(2))")
        #expect(try await hour(seed: seed + 100).statuses != first.statuses)
    }
}
