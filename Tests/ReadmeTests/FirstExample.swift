import Testing

// snippet: first
import Lifeline
// end

/// C138: the first example in the manual, run as it stands against an echo server, gets its ten frames with one loop.
@Suite(.timeLimit(.minutes(5)))
struct FirstExample {
    @Test func C138_tenLinesComeBack() async throws {
        var printed: [String] = []
        func print(_ line: String) { printed.append(line) }

        // snippet: first
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines)
        async let serving: Void = server.run { connection in
            while let line = try await connection.next() { try await connection.send(line) }
        }

        let connection = try await Connection.connect(to: server.endpoint, codec: .lines, within: .seconds(3))
        for number in 1...10 { try await connection.send("line \(number)") }
        try await connection.finishSending()
        for try await line in connection.messages { print(line) }

        await server.shutdown(within: .seconds(1))
        try await serving
        // end

        #expect(printed == (1...10).map { "line \($0)" })
        #expect(connection.closeReason == .closedByPeer)
    }
}
