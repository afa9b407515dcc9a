import Lifeline
import LifelineCore
import Testing

/// This library and Twisted's Int32StringReceiver, over TLS.
@Suite(.enabled(if: PeerKind.twisted.isTested, "no Python with Twisted"), .timeLimit(.minutes(4)), .serialized)
struct TwistedTLSTests {
    @Test("C01: frames come back whole from a server that cuts them, up to its limit")
    func server() async throws {
        let name = "int32@\(TLSFile.certificate("server")),\(TLSFile.key("server"))"
        try await withServing(.twisted, [name]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: TwistedTests.int32)
            let bytes = (0..<99_999).map { UInt8(truncatingIfNeeded: $0) }
            try await connection.expectEcho(of: (0..<200).map { Bytes(bytes[..<$0]) } + [Bytes(bytes), Bytes(), Bytes("last")])
            #expect(await connection.close(within: outerLimit))
            #expect(try await connection.tls.peerEnd == .closeNotify)
        }
    }

    @Test("C01: what a client cuts anywhere is whole, and comes back to it")
    func client() async throws {
        let server = try await bindSecured(TwistedTests.int32)
        try await serving(server, echo) {
            try await withConnecting(.twisted, to: [("int32@\(TLSFile.authority)", server.endpoint)]) { peer in
                try await peer.expect("int32 SAME 203", "int32 CLOSED ConnectionDone")
            }
        }
    }
}
