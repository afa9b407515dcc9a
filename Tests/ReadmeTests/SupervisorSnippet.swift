// snippet: supervisor
import Lifeline

struct LoggedInElsewhere: Error {}

func keepChatting(
    at endpoint: Endpoint, on network: some Network = SystemNetwork(), token: @escaping @Sendable () async throws -> String
) async throws {
    let link = Supervisor(
        endpoint: endpoint, codec: .lines, on: network,
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
