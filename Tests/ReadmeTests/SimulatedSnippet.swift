// snippet: simulated network
import Lifeline
import LifelineTesting
import Testing

/// Sends each line until its echo is there, whatever becomes of the connection.
func deliver(_ lines: [String], to endpoint: Endpoint, on network: some Network = SystemNetwork()) async throws {
    let link = Supervisor(
        endpoint: endpoint, codec: .lines, on: network,
        heartbeat: .pingPong(every: .seconds(5), answerWithin: .seconds(3), ping: "ping") { $0 == "ping" },
        reconnect: .exponential(cap: .seconds(8)))
    await link.start()
    for line in lines {
        repeat { try await link.send(line) } while (try? await link.next(within: .seconds(4))) != line
    }
    await link.stop()
}

@Test(arguments: 1...50 as ClosedRange<UInt64>) func linesSurviveOutages(seed: UInt64) async throws {
    try await simulate(seed: seed) { world in
        var dice = world.random
        let network = world.simulated
        network.links = LinkSettings(latency: .milliseconds(40), jitter: .milliseconds(20), loss: 0.01)
        let (office, phone) = (network.host("office"), network.host("phone"))
        let chat = try await Chat(at: .tcp("office", 7000), on: office)
        async let running: Void = chat.run()
        async let delivered: Void = deliver((1...300).map { "line \($0)" }, to: .tcp("office", 7000), on: phone)

        for _ in 0..<10 {  // What befalls them, and for how long, is the seed's choice.
            switch Int.random(in: 0..<5, using: &dice) {
            case 0: network.cut(from: office, to: phone)  // The phone is heard, and hears nothing.
            case 1: network.partition(office, phone)
            case 2: phone.crash()
            default:
                phone.restart()
                network.heal()
            }
            try await world.advance(by: .milliseconds(Int.random(in: 1...20_000, using: &dice)))
            #expect(phone.openTransports <= 1)
        }
        phone.restart()
        network.heal()
        try await delivered
        #expect(phone.openTransports == 0)

        await chat.server.shutdown(within: .seconds(1))
        try await running
    }
}
// end
