// snippet: server
import Lifeline

struct Chat {
    let server: Server<LineCodec>

    init(at endpoint: Endpoint, on network: some Network = SystemNetwork()) async throws {
        var options = ServerOptions()
        options.maximumConnections = 1000
        options.connection.idleLimit = .seconds(300)
        server = try await Server.bind(endpoint, codec: .lines, on: network, options: options, tooBusy: "come back later")
    }

    func run() async throws {
        try await server.run { connection in
            for try await line in connection.messages {
                try await server.broadcast(line, slow: .evict(after: .seconds(5)))
            }
        }
    }
}
// end
