// snippet: supervisor
import Lifeline

struct LoggedInElsewhere: Error {}

func keepChatting(
    at endpoint: Endpoint, on network: some Network = SystemNetwork(), token: @escaping @Sendable () async throws -> String
) async throws {
    let link = Supervisor(
        endpoint: endpoint, codec: .lines, on: network,
        heartbeat: .pingPong(every: .seconds(5), answerWithin: .seconds(3), ping: "ping") { $0 == "pong" },
        reconnect: .exponential(first: .seconds(1), multiplier: 2, cap: .seconds(30), jitter: .full)
    ) { connection in  // Before anything else flows, on each connection.
        try await connection.send("login \(try await token())")
        guard try await connection.next() == "welcome" else { throw LoggedInElsewhere() }
    }
    await link.start()
    try await link.send("hello")  // Waits for a connection if there is none.
    for try await line in link.messages {  // Goes on across reconnects.
        print(line)
        if line == "bye" { await link.stop() }
    }
}
// end

// snippet: status
func show(_ link: Supervisor<LineCodec>) async {
    for await status in link.statusUpdates {
        switch status {
        case .idle: print("not started")
        case .connecting(let attempt): print("connecting, attempt \(attempt)")
        case .connected: print("online")
        case .waiting(let delay, let why): print("offline, next attempt in \(delay): \(why)")
        case .stopped(let why): print("offline: \(why)")
        case .skipped(let count): print("(\(count) changes not shown)")
        }
    }
}
// end

// snippet: subscription
func printPrices(from link: Supervisor<LineCodec>) async throws {
    let prices = link.subscribe { $0.hasPrefix("price ") }
    for try await price in prices.messages { print(price) }
}
// end

// snippet: receipt
func report(_ line: String, over link: Supervisor<LineCodec>) async throws -> Bool {
    let receipt = try link.post(line, timeToLive: .seconds(60))  // `receipt.cancel()` takes it back while it waits.
    switch try await receipt.outcome {
    case .written: return true  // The kernel has it. That the peer has it only an answer can tell.
    case .neverSent(let error):
        print("not sent: \(error)")
        return false
    }
}
// end
