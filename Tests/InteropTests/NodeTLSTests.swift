import Foundation
import Glibc
import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// This library and Node's own TLS.
@Suite(.enabled(if: PeerKind.nodeTLS.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct NodeTLSTests {
    static let versions: [(String, TLSVersion)] = [("TLSv1.2", .tls12), ("TLSv1.3", .tls13)]
    /// More than the kernel's buffers on the way may hold.
    static let size = 10_000_000

    /// What a peer is told; see `tls_peer.mjs`.
    struct Options: Encodable {
        var identity: [String]?
        var authority: String? = TLSFile.authority
        var identities: [String: [String]]?
        var protocols: [String]?
        var asks: String?
        var name: String?
        var version: String?
        var size: Int?

        static func files(_ name: String) -> [String] { [TLSFile.certificate(name), TLSFile.key(name)] }

        static func server(_ version: String? = nil, change: (inout Self) -> Void = { _ in }) throws -> String {
            var options = Self(identity: files("server"), version: version)
            change(&options)
            return try options.text()
        }

        static func client(_ version: String? = nil, change: (inout Self) -> Void = { _ in }) throws -> String {
            var options = Self(name: "localhost", version: version)
            change(&options)
            return try options.text()
        }

        private func text() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }

    // This side is the client.

    @Test("A server with two names more, application protocols, and an eye on clients' certificates", arguments: versions)
    func server(name: String, version: TLSVersion) async throws {
        let options = try Options.server(name) { options in
            options.identities = ["a.test": Options.files("a"), "b.test": Options.files("b")]
            options.protocols = ["chat/2", "chat/1"]
            options.asks = "optional"
        }
        try await withServing(.nodeTLS, ["echo", options]) { peer in
            for (host, client) in [("a.test", "client"), ("b.test", "other-client"), ("localhost", nil)] {
                let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) { settings in
                    settings.serverName = host
                    settings.applicationProtocols = ["chat/1"]
                    settings.identity = try client.map { try TLSFile.identity($0) }
                }
                try await connection.expectEcho("text é")
                let tls = try await connection.tls
                #expect(tls.version == version && tls.applicationProtocol == "chat/1")
                #expect(tls.peerCertificates.first?.names.contains(host) == true)
                let peerName = client == nil ? "null" : "client"
                let isAuthorized = client == "client"
                let secured = "SECURED version=\(name) protocol=chat/1 name=\(host) isAuthorized=\(isAuthorized) isReused=false"
                try await peer.expect("\(secured) peer=\(peerName)")
                #expect(await connection.close(within: outerLimit))
                #expect(try await connection.tls.peerEnd == .closeNotify)
                try await peer.expect("CLOSED false")
            }
            let error = try await refusal(by: peer.endpoint) { $0.applicationProtocols = ["other"] }
            #expect(error.code == .handshakeFailed && error.tls?.kind == .noCommonProtocol)
            #expect(try await peer.fact().hasPrefix("REFUSED"))
        }
    }

    @Test("A server that has to see a certificate", arguments: versions)
    func serverThatRequires(name: String, version: TLSVersion) async throws {
        try await withServing(.nodeTLS, ["echo", Options.server(name) { $0.asks = "required" }]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) {
                $0.identity = try TLSFile.identity("client")
            }
            try await connection.expectEcho("text")
            #expect(try await peer.fact().contains("isAuthorized=true"))
            await connection.close()
            try await peer.expect("CLOSED false")
            let error = try await refusal(by: peer.endpoint)
            #expect(error.code == .certificateRefused && error.tls?.kind == .certificateRequired)
            #expect(try await peer.fact().hasPrefix("REFUSED"))
        }
    }

    @Test("Back-pressure: a server stops while nobody reads here, and then all of it arrives", arguments: versions)
    func serverThatFloods(name: String, version: TLSVersion) async throws {
        try await withServing(.nodeTLS, ["flood", Options.server(name) { $0.size = Self.size }]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .raw, options: Self.smallBuffers)
            try await expectFlood(into: connection, from: peer)
        }
    }

    @Test("Back-pressure: much goes to a server that reads slowly, and a close waits for it", arguments: versions)
    func slowServer(name: String, version: TLSVersion) async throws {
        try await withServing(.nodeTLS, ["slow", Options.server(name)]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .raw, options: Self.smallBuffers)
            try await flood(connection)
            #expect(await connection.close(within: outerLimit))
            try await peer.expect("RIGHT \(Self.size)")
        }
    }

    @Test("With TLS 1.3 this side ends its sending and reads on; before, it can't")
    func halfClose() async throws {
        try await withServing(.nodeTLS, ["echo", Options.server("TLSv1.3")]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            for number in 0..<1000 { try await connection.send("text \(number)") }
            try await connection.finishSending()
            let rest = await connection.rest()
            #expect(rest.frames == (0..<1000).map { "text \($0)" })
            #expect(rest.error == nil)
            #expect(try await connection.tls.peerEnd == .closeNotify)
        }
        try await withServing(.nodeTLS, ["echo", Options.server("TLSv1.2")]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            let error = try await failure { try await connection.finishSending() }
            #expect(error.code == .unsupported)
            try await connection.expectEcho("text")
            await connection.close()
        }
    }

    @Test("C63: a heartbeat that isn't answered ends the connection at its limit, without waiting for a dead peer")
    func deadServer() async throws {
        try await withServing(.nodeTLS, ["echo", Options.server()]) { peer in
            let heartbeat = Heartbeat<LineCodec>.pingPong(every: .milliseconds(100), answerWithin: .seconds(1), ping: "beat") {
                $0 == "beat"
            }
            let connection = try await Connection.connect(
                to: peer.endpoint, codec: .lines, on: securedClient(), within: outerLimit, heartbeat: heartbeat)
            try await connection.expectEcho("text")
            peer.process.send(SIGSTOP)
            let start = referee.now
            #expect((await connection.rest().error as? SocketError)?.code == .heartbeatMissed)
            #expect(start.duration(to: referee.now) < .seconds(20))
            peer.process.send(SIGCONT)
        }
    }

    // This side is the server.

    private func accepting(
        _ errors: Mailbox<SocketError>? = nil, _ change: (inout TLSServer.Settings) throws -> Void = { _ in },
        body: (Endpoint, Mailbox<TLSInfo>) async throws -> Void
    ) async throws {
        let server = try await bindSecured(.lines, errors: errors, change)
        let sights = Mailbox<TLSInfo>()
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            while let line = try await connection.frame() { try await connection.send(line) }
            sights.put(try await connection.tls)
        }
        try await serving(server, handler) { try await body(server.endpoint, sights) }
    }

    @Test("Clients see the certificate for their name and the application protocol, and show theirs", arguments: versions)
    func clients(name: String, version: TLSVersion) async throws {
        let errors = Mailbox<SocketError>()
        try await accepting(
            errors,
            { settings in
                settings.identities = ["a.test": try TLSFile.identity("a")]
                settings.applicationProtocols = ["chat/2", "chat/1"]
                settings.clientCertificates = .optional(.authorities(atPath: TLSFile.authority))
            },
            body: { endpoint, sights in
                for (host, client) in [("a.test", "client"), ("localhost", nil)] {
                    let options = try Options.client(name) { options in
                        options.name = host
                        options.protocols = ["chat/1", "chat/2"]
                        options.identity = client.map { Options.files($0) }
                    }
                    try await withConnecting(.nodeTLS, to: endpoint, ["talk", options]) { peer in
                        let secured = "SECURED version=\(name) protocol=chat/2 name=\(host) isAuthorized=true isReused=false peer=\(host)"
                        #expect(try await peer.facts(4) == [secured, "ANSWERED hello", "END", "CLOSED false"])
                        let sight = try await sights.next()
                        #expect(sight.version == version && sight.serverName == host && sight.applicationProtocol == "chat/2")
                        #expect(sight.peerCertificates.first?.subject.contains("CN=client") == (client == nil ? nil : true))
                        #expect(sight.peerEnd == .closeNotify)
                    }
                }
                try await withConnecting(.nodeTLS, to: endpoint, ["talk", Options.client(name) { $0.protocols = ["other"] }]) { peer in
                    try await peer.expect("ERROR ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL")
                    #expect(try await errors.next().tls?.kind == .noCommonProtocol)
                }
            })
    }

    @Test(
        "A client that refuses this side's certificate says why",
        arguments: [
            ("expired", "CERT_HAS_EXPIRED"), ("notyet", "CERT_NOT_YET_VALID"), ("selfsigned", "DEPTH_ZERO_SELF_SIGNED_CERT"),
            ("other", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"), ("leaf", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
            ("a", "ERR_TLS_CERT_ALTNAME_INVALID"),
        ])
    func refusedByClient(certificate: String, code: String) async throws {
        let errors = Mailbox<SocketError>()
        try await accepting(errors, { $0.identity = try TLSFile.identity(certificate) }) { endpoint, _ in
            try await withConnecting(.nodeTLS, to: endpoint, ["talk", Options.client()]) { peer in
                try await peer.expect("ERROR \(code)", "CLOSED true")
            }
        }
    }

    @Test("Back-pressure: a client stops while its handler doesn't read, and then all of it arrives", arguments: versions)
    func clientThatFloods(name: String, version: TLSVersion) async throws {
        var options = ServerOptions()
        options.connection = Self.smallBuffers
        let server = try await bindSecured(.raw, options: options)
        let connections = Mailbox<Connection<RawCodec>>()
        let done = Mailbox<Void>()
        let handler: @Sendable (Connection<RawCodec>) async throws -> Void = { connection in
            connections.put(connection)
            try await done.next()
        }
        try await serving(server, handler) {
            try await withConnecting(.nodeTLS, to: server.endpoint, ["flood", Options.client(name) { $0.size = Self.size }]) { peer in
                try await expectFlood(into: connections.next(), from: peer)
                done.put(())
            }
        }
    }

    @Test("Back-pressure: much goes to a client that reads slowly, and the end of its handler waits for it", arguments: versions)
    func slowClient(name: String, version: TLSVersion) async throws {
        var options = ServerOptions()
        options.connection = Self.smallBuffers
        options.connection.lingerLimit = outerLimit
        let server = try await bindSecured(.raw, options: options)
        try await serving(server, { try await flood($0) }) {
            try await withConnecting(.nodeTLS, to: server.endpoint, ["slow", Options.client(name)]) { peer in
                try await peer.expect("RIGHT \(Self.size)")
            }
        }
    }
}

extension NodeTLSTests {
    /// So that a flood fills them soon.
    static var smallBuffers: ConnectionOptions {
        var options = ConnectionOptions()
        options.socket.sendBuffer = 64 * 1024
        options.socket.receiveBuffer = 64 * 1024
        return options
    }

    /// Bytes that count up modulo 251.
    private static let pattern = (0..<251 * 4000).map { UInt8($0 % 251) }

    /// Whether `bytes` are the pattern's, so far behind its beginning.
    private static func continues(_ bytes: Bytes, at count: Int) -> Bool {
        let start = count % 251
        guard start + bytes.count <= pattern.count else { return false }
        return bytes.withUnsafeBytes { own in
            pattern[start...].withUnsafeBytes { memcmp(own.baseAddress ?? $0.baseAddress!, $0.baseAddress!, own.count) == 0 }
        }
    }

    private func flood(_ connection: Connection<RawCodec>) async throws {
        let block = Bytes(Self.pattern[..<(251 * 400)])
        var left = Self.size
        while left > 0 {
            let count = min(left, block.count)
            try await connection.send(count == block.count ? block : Bytes(block.prefix(count)))
            left -= count
        }
    }

    /// Waits until the peer can't send on, for nobody reads here; then reads all of it.
    private func expectFlood(into connection: Connection<RawCodec>, from peer: Peer) async throws {
        let words = try await peer.fact().split(separator: " ")
        let taken = try #require(words.first == "STALLED" ? Int(words[1]) : nil, "\(words)")
        #expect(taken < Self.size)
        let held = await connection.info.bytesReceived
        // The inbox's high mark, and the read that went beyond it.
        #expect(held <= 256 * 1024 + 128 * 1024, "\(held) bytes are held for a reader that doesn't come")
        var count = 0
        var isRight = true
        while let bytes = try await connection.frame() {
            isRight = isRight && Self.continues(bytes, at: count)
            count += bytes.count
        }
        #expect(isRight && count == Self.size)
        #expect(try await connection.tls.peerEnd == .closeNotify)
    }
}
