import Lifeline
import Testing

/// Requests from the default pool's threads, over TCP: for the thread sanitizer above all.
@Suite("Requests under real threads", .timeLimit(.minutes(2)))
struct RequestThreadTests {
    @Test("tasks on many threads get their own answers, while every seventh request is cancelled under way")
    func serials() async throws {
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .requestHeader)
        async let running: Void = server.run { connection in
            while let request = try await connection.next() { try await connection.send(request) }
        }
        let client = try await Connection.connect(to: server.endpoint, codec: .requestHeader, pairing: .serial())
        try await ask { text in
            let packet = Packet(header: RequestHeader(command: 7), body: Bytes(text))
            return String(try await client.request(packet, within: .seconds(60)).body)
        }
        try await checkCounts(client)
        await client.close(within: .seconds(60))
        await server.shutdown(within: .seconds(60))
        try await running
    }

    @Test("the same with answers in order")
    func order() async throws {
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines)
        async let running: Void = server.run { connection in
            while let line = try await connection.next() { try await connection.send(line) }
        }
        let client = try await Connection.connect(to: server.endpoint, codec: .lines, pairing: .inOrder())
        try await ask { try await client.request($0, within: .seconds(60)) }
        try await checkCounts(client)
        await client.close(within: .seconds(60))
        await server.shutdown(within: .seconds(60))
        try await running
    }

    private func ask(_ request: @escaping @Sendable (String) async throws -> String) async throws {
        try await withThrowingTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<200 {
                        let text = "\(task) \(round)"
                        let answer = Task { try await request(text) }
                        if round % 7 == 0 { answer.cancel() }
                        do {
                            let answered = try await answer.value
                            #expect(answered == text)
                        } catch {
                            #expect(error is CancellationError && round % 7 == 0, "\(error)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        // Behind this answer nothing is on its way any more, neither on the wire nor to the loop.
        #expect(try await request("last") == "last")
    }

    /// Nothing is due any more, and nothing was taken for what it is not.
    private func checkCounts<C: Codec>(_ client: Connection<C>) async throws {
        let counts = try #require(await client.info.requests)
        #expect(counts.due == 0)
        #expect(counts.unknown == 0)
    }
}
