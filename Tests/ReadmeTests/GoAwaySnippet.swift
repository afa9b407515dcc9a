// snippet: goAway
import Lifeline

func kick(_ connection: Connection<LineCodec>) async throws {
    try await connection.close(saying: "kicked", because: SocketError(.kicked, "logged in elsewhere"))
}

func restart(_ server: Server<LineCodec>) async throws {
    try await server.shutdown(within: .seconds(5)) { _ in "restarting" }  // The last that each connection gets.
}

func link(to endpoint: Endpoint, on network: some Network = SystemNetwork()) -> Supervisor<LineCodec> {
    Supervisor(
        endpoint: endpoint, codec: .lines, on: network,
        goAway: { line in
            switch line {
            case "kicked": .kicked("logged in elsewhere")
            case "restarting": .comeBack(after: .seconds(5), spread: .seconds(10))
            case "come back later": .tooBusy()
            default: nil
            }
        })
}
// end
