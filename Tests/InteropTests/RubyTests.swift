import Lifeline
import LifelineCore
import Testing

/// This library and lines on Ruby's `TCPServer` and `TCPSocket`.
@Suite(.enabled(if: PeerKind.ruby.isTested, "Ruby isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct RubyTests {
    @Test("Lines come back from a server, with either line ending, and then a clean end", arguments: ["echo", "crlf"])
    func client(kind: String) async throws {
        try await withServing(.ruby, [kind]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
            try await connection.expectEcho(
                of: (0..<200).map { "line \($0) é€😀" } + ["", String(repeating: "0123456789", count: 5000), "last"])
            try await connection.finishSending()
            #expect(try await connection.frame() == nil)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("A client's lines come back to it, and then a clean end")
    func server() async throws {
        let server = try await bind(.lines)
        try await serving(server, echo) {
            try await withConnecting(.ruby, to: server.endpoint, ["echo"]) { peer in
                let facts = try await peer.facts(2)
                #expect(facts == ["SAME 203", "END"])
            }
        }
    }

    /// What is expected of either side when a line of the peer's has no end.
    private func expectUnterminated(_ lines: [String], _ error: (any Error)?, _ reason: CloseReason?) throws {
        #expect(lines == [#"{"requestCode":"10000"}"#])
        let error = try #require(error as? SocketError)
        #expect(error.code == .timedOut)
        #expect(error.phase == .frame)
        #expect(error.pending?.received == 42)
        #expect(error.message.hasSuffix("42 bytes without a terminator"), "\(error.message)")
        #expect(reason == .failed(error))
    }

    @Test("A server that stopped sending terminators is reported as that")
    func unterminatedByServer() async throws {
        try await withServing(.ruby, ["unterminated"]) { peer in
            var options = ConnectionOptions()
            options.unfinishedFrameLimit = .milliseconds(100)
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines, options: options)
            let rest = await connection.rest()
            try expectUnterminated(rest.frames, rest.error, connection.closeReason)
            #expect(try await peer.fact() == "END")
        }
    }

    @Test("A client that stopped sending terminators is reported as that")
    func unterminatedByClient() async throws {
        var options = ServerOptions()
        options.connection.unfinishedFrameLimit = .milliseconds(100)
        let server = try await bind(.lines, options: options)
        let sights = Mailbox<Sight>()
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            let rest = await connection.rest()
            sights.put(Sight(lines: rest.frames, error: rest.error, reason: connection.closeReason))
        }
        try await serving(server, handler) {
            try await withConnecting(.ruby, to: server.endpoint, ["unterminated"]) { peer in
                let sight = try await sights.next()
                try expectUnterminated(sight.lines, sight.error, sight.reason)
                #expect(try await peer.fact() == "END")
            }
        }
    }
}
