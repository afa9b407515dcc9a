// snippet: requests
import Lifeline

func greet(_ names: [String], at endpoint: Endpoint, on network: some Network) async throws -> [String] {
    let connection = try await Connection.connect(to: endpoint, codec: .requestHeader, pairing: .serial(), on: network)
    return try await withThrowingTaskGroup { group in
        for name in names {
            group.addTask {
                let request = Packet(header: RequestHeader(command: 7), body: Bytes(name))
                let answer = try await connection.request(request, within: .seconds(3))
                return String(answer.body)
            }
        }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
// end
