import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// Programs that take TLS off, or put it on, between this library's two sides, or stand at one end of it.
@Suite(.timeLimit(.minutes(4)), .serialized)
struct TLSProxyTests {
    /// A server that answers each line, and says how many there were at the end of them where it may.
    @Sendable private static func answer(_ connection: Connection<LineCodec>) async throws {
        while let line = try await connection.frame() { try await connection.send("answer to \(line)") }
    }

    private func expectAnswers(on connection: Connection<LineCodec>) async throws {
        // Long enough for records of every size.
        let lines = (0..<200).map { "\($0) " + String(repeating: "é", count: $0 * 100) }
        async let answers = connection.frames(lines.count)
        for line in lines { try await connection.send(line) }
        #expect(try await answers == lines.map { "answer to \($0)" })
    }

    private func stunnel(_ lines: String...) -> String {
        (["foreground = yes", "pid =", "syslog = no", "[link]", "accept = 127.0.0.1:0"] + lines).joined(separator: "\n") + "\n"
    }

    private static let lines = LineCodec.lines(max: 100_000)

    @Test(
        "stunnel as the server: this side's client, stunnel, this side's server in plain text",
        .enabled(if: PeerKind.stunnel.isTested, "stunnel isn't installed"))
    func stunnelServer() async throws {
        let server = try await bind(Self.lines)
        try await serving(server, Self.answer) {
            let config = stunnel(
                "connect = 127.0.0.1:\(server.endpoint.port ?? 0)", "cert = \(TLSFile.certificate("server"))",
                "key = \(TLSFile.key("server"))", "CAfile = \(TLSFile.authority)", "verifyChain = yes", "requireCert = yes")
            try await withProgram(.stunnel, ["config"], listening: .itself, config: config) { peer in
                let connection = try await Connection.secured(to: peer.endpoint, codec: Self.lines) {
                    $0.identity = try TLSFile.identity("client")
                }
                try await expectAnswers(on: connection)
                await connection.close(within: outerLimit)
                let error = try await refusal(by: peer.endpoint)
                #expect(error.tls?.kind == .certificateRequired)
            }
        }
    }

    @Test(
        "stunnel as the client: this side's client in plain text, stunnel, this side's server; stunnel checks chain and host",
        .enabled(if: PeerKind.stunnel.isTested, "stunnel isn't installed"))
    func stunnelClient() async throws {
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(Self.lines, errors: errors)
        try await serving(server, Self.answer) {
            for (host, isRight) in [("localhost", true), ("elsewhere.test", false)] {
                let config = stunnel(
                    "client = yes", "connect = 127.0.0.1:\(server.endpoint.port ?? 0)", "CAfile = \(TLSFile.authority)",
                    "verifyChain = yes", "checkHost = \(host)")
                try await withProgram(.stunnel, ["config"], listening: .itself, config: config) { peer in
                    let connection = try await Connection.connect(to: peer.endpoint, codec: Self.lines)
                    if isRight {
                        try await expectAnswers(on: connection)
                        #expect(await connection.close(within: outerLimit))
                    } else {
                        #expect(await connection.rest().frames.isEmpty)
                        // stunnel's own check fails with an internal error of openssl's.
                        let error = try await errors.next()
                        #expect(error.code == .handshakeFailed && error.tls?.alert == 80, "\(error)")
                    }
                }
            }
        }
    }

    @Test(
        "nginx: TLS ends there, in front of this side's server in plain text; and an HTTPS server, upgraded to from a plain stream",
        .enabled(if: PeerKind.nginx.isTested, "nginx isn't installed"))
    func nginx() async throws {
        let server = try await bind(Self.lines)
        let certificate = "ssl_certificate \(TLSFile.certificate("server")); ssl_certificate_key \(TLSFile.key("server"));"
        let config = """
            load_module /usr/lib/nginx/modules/ngx_stream_module.so;
            daemon off; master_process off; pid pid; error_log stderr;
            events { worker_connections 64; }
            stream {
                server { listen {1} ssl; \(certificate) proxy_pass 127.0.0.1:\(server.endpoint.port ?? 0); proxy_half_close on; }
            }
            http {
                access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
                server { listen {2} ssl; \(certificate) location / { return 200 "a page\\n"; } }
            }
            """
        try await serving(server, Self.answer) {
            try await withProgram(.nginx, ["-p", ".", "-e", "stderr", "-c", "config"], listening: .told(2), config: config) { peer in
                let connection = try await Connection.secured(to: peer.endpoints[0], codec: Self.lines)
                try await expectAnswers(on: connection)
                await connection.close(within: outerLimit)
                try await expectPage(at: peer.endpoints[1])
            }
        }
    }

    /// Upgrades a plain stream, asks for a page, and reads lines that end with CR LF, and the page.
    private func expectPage(at endpoint: Endpoint) async throws {
        let stream = try await ByteStream.connect(to: endpoint)
        let client = try TLSClient(TLSClient.Settings(trust: .authorities(atPath: TLSFile.authority), applicationProtocols: ["http/1.1"]))
        #expect(try await stream.startTLS(client, serverName: "localhost", within: outerLimit).applicationProtocol == "http/1.1")
        try await stream.write(Bytes("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
        var head: [String] = []
        while let line = try await stream.read(until: Bytes("\r\n"), limit: 8192, within: outerLimit), !line.isEmpty {
            head.append(String(decoding: line, as: UTF8.self))
        }
        #expect(head.first == "HTTP/1.1 200 OK")
        let length = head.first { $0.lowercased().hasPrefix("content-length: ") }
        #expect(length?.hasSuffix(" 7") == true)
        #expect(try await stream.read(exactly: 7, within: outerLimit) == Bytes("a page\n"))
        #expect(try await stream.read(atMost: 1, within: outerLimit) == nil)
        #expect(await stream.info.tls?.peerEnd == .closeNotify)
    }

    @Test(
        "socat: an echo that ends when this side's sending does",
        .enabled(if: PeerKind.socat.isTested, "socat isn't installed"))
    func socat() async throws {
        let address = "OPENSSL-LISTEN:0,bind=127.0.0.1,cert=\(TLSFile.certificate("server")),key=\(TLSFile.key("server")),verify=0"
        try await withProgram(.socat, ["-t", "60", address, "EXEC:cat"], listening: .itself) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lengthPrefixed(UInt32.self))
            var generator = SplitMix(seed: 1)
            let frames = (0..<300).map { _ in
                Bytes(
                    [UInt8](repeating: UInt8.random(in: 0...255, using: &generator), count: Int.random(in: 0...40_000, using: &generator)))
            }
            async let rest = connection.rest()
            for frame in frames { try await connection.send(frame) }
            try await connection.finishSending()
            let answer = await rest
            #expect(answer.frames == frames)
            #expect(answer.error == nil)
        }
    }
}
