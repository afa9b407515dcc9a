// snippet: client
import Lifeline

func follow(_ endpoint: Endpoint) async throws {
    let connection = try await Connection.connect(to: endpoint, codec: .lines, within: .seconds(3))
    try await connection.send("hello")
    do {
        for try await line in connection.messages { print(line) }
        print("over: \(connection.closeReason ?? .closedHere)")
    } catch let error as SocketError where error.code == .frameTooLarge {
        print("the peer sends lines of more than 64 KiB: \(error)")
    }
}
// end
