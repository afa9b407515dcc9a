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
            await connection.finishSending()
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
}
