// snippet: simulated network
import Lifeline
import LifelineTesting
import Testing

func deliver(_ line: String, to endpoint: Endpoint, on network: some Network = SystemNetwork()) async throws -> Int {
    var attempts = 0
    while true {
        attempts += 1
        do {
            let connection = try await Connection.connect(to: endpoint, codec: .lines, on: network, within: .seconds(3))
            try await connection.send(line)
            if try await connection.next() == line { return attempts }
        } catch let error as SocketError {
            if attempts == 5 { throw error }
        }
    }
}

@Test(arguments: 1...20 as ClosedRange<UInt64>) func aLineSurvivesAnOutage(seed: UInt64) async throws {
    try await simulate(seed: seed) { world in
        let network = world.simulated
        network.links = LinkSettings(latency: .milliseconds(40), jitter: .milliseconds(20))
        let (office, phone) = (network.host("office"), network.host("phone"))
        let chat = try await Chat(at: .tcp("office", 7000), on: office)
        async let running: Void = chat.run()

        network.cut(from: office, to: phone)  // The phone is heard, and hears nothing.
        async let attempts = deliver("hello", to: .tcp("office", 7000), on: phone)
        try await world.advance(by: .seconds(7))
        network.heal()
        #expect(try await attempts == 3)

        await chat.server.shutdown(within: .seconds(1))
        try await running
        #expect(network.openTransports == 0)
    }
}
// end
