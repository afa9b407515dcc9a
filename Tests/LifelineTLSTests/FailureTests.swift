import COpenSSL
import LifelineCore
import Testing

@testable import LifelineTLS

/// What is said about handshakes and connections that fail in other ways than by a certificate.
@Suite struct FailureTests {
    @Test(arguments: [
        "220 mail.example.com ESMTP\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "hello\n\0\0\0",
        "\0\0\0\u{5}hello",
    ])
    func `C93: a server that speaks no TLS is told as such`(words: String) throws {
        let client = try LinkEnd(Protected.client().makeHandle(host: "localhost", port: 1))
        client.act()
        client.receive(Array(words.utf8))
        #expect(client.failure?.code == .handshakeFailed)
        #expect(client.failure?.tls?.kind == .notTLS)
        #expect(client.failure?.tls?.alert == nil)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT a:443 HTTP/1.1\r\n\r\n", "EHLO example.com\r\n", "hello\n\0\0\0", "\0\0\0\u{5}hello",
        "\u{3}\0\0\u{13}\u{E}",
    ])
    func `C93: a client that speaks no TLS is told as such`(words: String) throws {
        let server = try LinkEnd(Protected.server().makeHandle())
        server.act()
        server.receive(Array(words.utf8))
        #expect(server.failure?.code == .handshakeFailed)
        #expect(server.failure?.tls?.kind == .notTLS)
    }

    @Test func `plain text in the middle of a handshake breaks the rules`() throws {
        let link = try Link(Protected.client(), Protected.server(), version: .tls12)
        link.client.act()
        link.server.receive(link.client.take())
        link.client.receive(link.server.take())
        link.client.receive(Array("hello, hello".utf8))
        #expect(link.client.failure?.code == .handshakeFailed)
        #expect(link.client.failure?.tls?.kind == .protocolError)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a record that was changed on the way breaks the rules`(version: TLSVersion) throws {
        let link = try Link(Protected.client(), Protected.server(), version: version).run()
        link.server.write("hello")
        link.run { if !$0.isEmpty { $0[$0.count - 1] ^= 1 } }
        #expect(link.client.received.isEmpty)
        #expect(link.client.failure?.code == .protocolViolation)
        #expect(link.client.failure?.tls?.kind == .protocolError)
        // The other end hears of it: bad_record_mac.
        #expect(link.server.failure?.code == .protocolViolation)
        #expect(link.server.failure?.tls?.alert == 20)
    }

    /// An alert before anything else, in plain text as it is then.
    private func failure(alert: UInt8) throws -> SocketError? {
        let client = try LinkEnd(Protected.client().makeHandle(host: "localhost", port: 1))
        client.act()
        client.receive([21, 3, 3, 0, 2, 2, alert])
        return client.failure
    }

    @Test(
        arguments: [
            (40, .noCommonCipher), (71, .noCommonCipher), (70, .noCommonVersion), (86, .noCommonVersion), (112, .unrecognizedName),
            (120, .noCommonProtocol), (10, .protocolError), (80, .protocolError), (255, .protocolError),
        ] as [(UInt8, TLSError.Kind)])
    func `an alert is told with its number`(alert: UInt8, kind: TLSError.Kind) throws {
        let failure = try failure(alert: alert)
        #expect(failure?.code == .handshakeFailed)
        #expect(failure?.tls?.kind == kind)
        #expect(failure?.tls?.alert == alert)
    }

    @Test(arguments: [42, 43, 44, 45, 46, 48, 49] as [UInt8])
    func `an alert about this side's certificate is a refusal`(alert: UInt8) throws {
        let failure = try failure(alert: alert)
        #expect(failure?.code == .certificateRefused)
        #expect(failure?.tls?.kind == .refusedByPeer)
        #expect(failure?.tls?.alert == alert)
    }

    @Test func `a peer that says goodbye in the handshake is told as such`() throws {
        let client = try LinkEnd(Protected.client().makeHandle(host: "localhost", port: 1))
        client.act()
        client.receive([21, 3, 3, 0, 2, 1, 0])
        #expect(!client.isThrough)
        let failure = try #require(client.handle?.failure(inHandshake: true))
        #expect(failure.code == .handshakeFailed)
        #expect(failure.tls?.kind == .closedInHandshake)
    }

    @Test func `nobody else finds an error of this connection's`() throws {
        let link = try Link(Protected.client(), Protected.server("other"))
        link.client.act()
        link.server.receive(link.client.take())
        let flight = link.server.take()
        // What has failed before, and wasn't said.
        let stale = BIO_new_file("/nowhere/at/all", "r")
        #expect(stale == nil && ERR_peek_error() != 0)
        let next = try Protected.client().makeHandle(host: "localhost", port: 1)
        #expect(ERR_peek_error() == 0)
        _ = BIO_new_file("/nowhere/at/all", "r")
        link.client.receive(flight)
        #expect(link.client.failure?.tls?.kind == .unknownIssuer)
        #expect(ERR_peek_error() == 0)
        // Without an error there is no reason, and no trap.
        #expect(next.failure(inHandshake: true).code == .handshakeFailed)
        #expect(next.failure(inHandshake: false).code == .protocolViolation)
    }

    @Test(arguments: TLSVersion.allCases)
    func `whatever arrives, an end goes on or fails in good order`(version: TLSVersion) throws {
        let client = try Protected.client { $0.applicationProtocols = ["a"] }
        let server = try Protected.server("ec") {
            $0.applicationProtocols = ["a"]
            $0.clientCertificates = .optional(Protected.trust)
        }
        var random = SplitMix(seed: 5)
        for _ in 0..<300 {
            let link = try Link(client, server, version: version)
            link.client.act()
            var hello = link.client.take()
            if random.next() % 2 == 0 { random.damage(&hello) }
            link.server.receive(hello)
            var flight = link.server.take()
            random.damage(&flight)
            link.client.receive(flight)
            for end in [link.client, link.server] {
                if let failure = end.failure { #expect([.handshakeFailed, .certificateRefused].contains(failure.code), "\(failure)") }
            }
            #expect(ERR_peek_error() == 0)
        }
    }
}

/// Damage that comes again with its seed.
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        for _ in 0...(next() % 3) { bytes[Int(next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: next()) }
    }
}
