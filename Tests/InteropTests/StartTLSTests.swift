import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// TLS that begins in the middle of a conversation in plain lines.
@Suite(.enabled(if: PeerKind.tlsEnds.isTested, "Python isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct StartTLSTests {
    static let versions = TLSEndTests.versions
    static let lines = LineCodec(accepting: .crlf, sending: .crlf, max: 1000)
    private static let crlf = Bytes("\r\n")

    /// What upgrades it: a stream of bytes, or a connection with a codec.
    enum Kind: CaseIterable { case stream, connection }

    private static func client() throws -> TLSClient {
        try TLSClient(TLSClient.Settings(trust: .authorities(atPath: TLSFile.authority)))
    }

    private func withServer(_ mode: String, _ version: String, body: (Peer) async throws -> Void) async throws {
        try await withServing(.tlsEnds, [mode, version, TLSFile.certificate("server"), TLSFile.key("server")], body: body)
    }

    @Test("As the client: asks in plain text, then all is protected", arguments: versions)
    func asClient(name: String, version: TLSVersion) async throws {
        try await withServer("starttls", name) { peer in
            let stream = try await ByteStream.connect(to: peer.endpoint, within: outerLimit)
            try await stream.write(Bytes("STARTTLS\r\n"))
            #expect(try await stream.read(until: Self.crlf, limit: 100, within: outerLimit) == Bytes("OK"))
            let tls = try await stream.startTLS(Self.client(), serverName: "localhost", within: outerLimit)
            #expect(tls.version == version && tls.serverName == "localhost")
            try await peer.expect("ASKED STARTTLS", "SECURED TLSv\(name)")
            try await stream.write(Bytes("hello\r\nand more\r\n"))
            for line in ["hello", "and more"] {
                #expect(try await stream.read(until: Self.crlf, limit: 100, within: outerLimit) == Bytes(line))
            }
            // It goes on as a connection, as any stream does.
            let connection = try await stream.framed(with: Self.lines)
            try await connection.send("a line")
            #expect(try await connection.frame() == "a line")
            #expect(try await connection.tls.version == version)
            await connection.close(within: .milliseconds(100))
            try await peer.expect("ECHOED 3")
        }
        try await withServer("starttls", name) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: Self.lines, within: outerLimit)
            try await connection.send("STARTTLS")
            #expect(try await connection.frame() == "OK")
            #expect(try await connection.startTLS(Self.client(), serverName: "localhost", within: outerLimit).version == version)
            try await connection.send("hello")
            #expect(try await connection.frame() == "hello")
            await connection.close(within: .milliseconds(100))
        }
    }

    @Test("C92: what is written while this side's verdict is awaited leaves behind it, or never", arguments: versions)
    func verdict(name: String, version: TLSVersion) async throws {
        for isAccepted in [false, true] {
            let asked = Mailbox<TLSInfo>()
            let verdict = Mailbox<Bool>()
            var settings = TLSClient.Settings(trust: .authorities(atPath: TLSFile.authority))
            settings.verify = { info in
                asked.put(info)
                guard try await verdict.next() else { throw TLSError(.refusedByVerifier, "not today") }
            }
            let client = try TLSClient(settings)
            try await withServer("starttls", name) { peer in
                let stream = try await ByteStream.connect(to: peer.endpoint, within: outerLimit)
                try await stream.write(Bytes("STARTTLS\r\n"))
                #expect(try await stream.read(until: Self.crlf, limit: 100, within: outerLimit) == Bytes("OK"))
                async let upgrade = Result.of { try await stream.startTLS(client, serverName: "localhost", within: outerLimit) }
                _ = try await asked.next()
                try await stream.write(Bytes("early\r\n"))
                // The peer has its side of the handshake, and would hear what leaves too early.
                try await peer.expect("ASKED STARTTLS", "SECURED TLSv\(name)")
                verdict.put(isAccepted)
                if isAccepted {
                    #expect(try await upgrade.get().version == version)
                    #expect(try await stream.read(until: Self.crlf, limit: 100, within: outerLimit) == Bytes("early"))
                    await stream.close(within: .milliseconds(100))
                    try await peer.expect("ECHOED 1")
                } else {
                    let outcome = await upgrade
                    let error = try await failure { _ = try outcome.get() }
                    #expect(error.code == .certificateRefused && error.tls?.kind == .refusedByVerifier)
                    try await peer.expect("ECHOED 0")
                }
            }
        }
    }

    @Test("C94: what the server says in plain text behind its word is never taken as protected", arguments: versions, Kind.allCases)
    func evilServer(version: (name: String, version: TLSVersion), kind: Kind) async throws {
        try await withServer("starttls-evil", version.name) { peer in
            switch kind {
            case .stream:
                let stream = try await ByteStream.connect(to: peer.endpoint, within: outerLimit)
                try await stream.write(Bytes("STARTTLS\r\n"))
                #expect(try await stream.read(until: Self.crlf, limit: 100, within: outerLimit) == Bytes("OK"))
                let error = try await failure {
                    try await stream.startTLS(Self.client(), serverName: "localhost", within: outerLimit)
                }
                #expect(error.code == .protocolViolation && error.tls?.kind == .plaintextBehindBorder)
                #expect(stream.closeReason == .failed(error))
                let next = try? await stream.read(atMost: 100, within: outerLimit)
                #expect(next == nil)
            case .connection:
                let connection = try await Connection.connect(to: peer.endpoint, codec: Self.lines, within: outerLimit)
                try await connection.send("STARTTLS")
                #expect(try await connection.frame() == "OK")
                let error = try await failure {
                    try await connection.startTLS(Self.client(), serverName: "localhost", within: outerLimit)
                }
                #expect(error.code == .protocolViolation && error.tls?.kind == .plaintextBehindBorder)
                #expect(connection.closeReason == .failed(error))
                #expect(await connection.rest().frames.isEmpty)
            }
            let facts = try await peer.facts(2)
            #expect(facts[0] == "ASKED STARTTLS" && facts[1].hasPrefix("NO HANDSHAKE"))
        }
    }

    /// Serves lines of which STARTTLS is answered by OK and the upgrade; behind it they are echoed.
    private func withClient(
        _ mode: String, _ name: String, _ kind: Kind,
        body: (Mailbox<Result<TLSInfo, SocketError>>, Mailbox<String>, Peer) async throws -> Void
    ) async throws {
        let upgrades = Mailbox<Result<TLSInfo, SocketError>>()
        let lines = Mailbox<String>()
        let secured = try TLSServer(serverSettings { $0.handshakeLimit = outerLimit })
        @Sendable func note(_ upgrade: () async throws -> TLSInfo) async throws {
            do {
                upgrades.put(.success(try await upgrade()))
            } catch {
                if let error = error as? SocketError { upgrades.put(.failure(error)) }
                throw error
            }
        }
        let greet: @Sendable (ByteStream) async throws -> Void = { stream in
            #expect(try await stream.read(until: Self.crlf, limit: 100, within: outerLimit) == Bytes("STARTTLS"))
            try await note { try await stream.startTLS(secured, announcing: Bytes("OK\r\n")) }
        }
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        let server = try await Server.bind(
            .tcp("127.0.0.1", 0), codec: Self.lines, options: options, handshake: kind == .stream ? greet : nil)
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            if kind == .connection {
                #expect(try await connection.frame() == "STARTTLS")
                try await note { try await connection.startTLS(secured, announcing: "OK") }
            }
            while let line = try await connection.frame() {
                lines.put(line)
                try await connection.send(line)
            }
        }
        try await serving(server, handler) {
            try await withConnecting(.tlsEnds, to: server.endpoint, [mode, name, TLSFile.authority]) { try await body(upgrades, lines, $0) }
        }
    }

    @Test("As the server: agrees in plain text, then all is protected", arguments: versions, Kind.allCases)
    func asServer(version: (name: String, version: TLSVersion), kind: Kind) async throws {
        try await withClient("starttls", version.name, kind) { upgrades, lines, peer in
            #expect(try await upgrades.next().get().version == version.version)
            try await peer.expect("TOLD OK", "SECURED TLSv\(version.name)", #"ANSWERED b'hello\r\n'"#)
            #expect(try await lines.next() == "hello")
            try await peer.expect("HEARD 0 NOTICE")
        }
    }

    @Test("C94: what a client says in plain text behind its wish is never taken as protected", arguments: versions, Kind.allCases)
    func evilClient(version: (name: String, version: TLSVersion), kind: Kind) async throws {
        try await withClient("starttls-evil", version.name, kind) { upgrades, lines, peer in
            let error = try await failure { _ = try await upgrades.next().get() }
            #expect(error.code == .protocolViolation && error.tls?.kind == .plaintextBehindBorder)
            let facts = try await peer.facts(2)
            #expect(facts[0] == "TOLD None" && facts[1].hasPrefix("NO HANDSHAKE"))
            lines.put("nothing was delivered")
            #expect(try await lines.next() == "nothing was delivered")
        }
    }
}
