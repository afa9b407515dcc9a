import Lifeline
import LifelineTLS

/// The demo's third part: a server and clients that speak TLS, clients that refuse it, and a connection that begins in plain text. Each
/// step waits for the facts that it expects.
struct DemoTLS {
    let log: DemoLog
    private(set) var checks = 0
    private(set) var failures = 0
    private let protection: TLSServer
    private let certificate: TLSCertificate

    init(log: DemoLog) throws {
        self.log = log
        let identity = try WorthlessCertificate.identity()
        certificate = identity.certificate
        protection = try TLSServer(TLSServer.Settings(identity: identity, applicationProtocols: ["demo/2", "demo/1"]))
    }

    mutating func play() async throws {
        let server = try await Server.bind(
            .tls("127.0.0.1", 0), codec: .lines, on: TLSNetwork(over: SystemNetwork(), server: protection), options: Self.options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { try await Self.echo($0) } }
            log.heading("A server that speaks TLS, and a client that knows its key")
            log.line("server", "listens", "at \(server.endpoint), with the certificate")
            log.line("", "", "\(certificate)")
            let gus = try await agree(with: server)
            log.heading("A client that sends and doesn't read")
            try await fillUp(gus)
            log.heading("Clients that refuse the certificate")
            try await refuse(server)
            await server.shutdown(within: .seconds(2))
            try await group.waitForAll()
        }
        log.heading("A connection that begins in plain text")
        try await upgrade()
    }

    /// Whoever knows the key needs no authority.
    private mutating func agree(with server: Server<LineCodec>) async throws -> Connection<LineCodec> {
        let network = TLSNetwork(over: SystemNetwork(), client: try Self.client(.keys([WorthlessCertificate.pin])))
        let connection = try await Connection.connect(to: server.endpoint, codec: .lines, on: network, within: .seconds(2))
        let info = await connection.info.tls
        log.line("Gus", "connects", info?.words ?? "without TLS")
        check(info?.version == .tls13, "it should be TLS 1.3")
        check(info?.applicationProtocol == "demo/1", "the one protocol that both speak is demo/1")
        check(info?.peerCertificates.first?.publicKeyHash == WorthlessCertificate.pin, "it should be the key that is pinned")
        try await say("hello", "Gus", over: connection)
        return connection
    }

    /// Everything echoes and nothing is read, until nobody takes any more. Then it is read, and all of it is there.
    private mutating func fillUp(_ connection: Connection<LineCodec>) async throws {
        let line = String(repeating: "Gus ", count: 4096)
        log.line("Gus", "sends", "lines of 16 KiB, and reads none of the echoes")
        var count = 0
        do {
            while count < 10_000 {
                try await connection.send("\(line)\(count)", within: .milliseconds(250))
                count += 1
            }
        } catch let error as SocketError where error.phase == .write {
            log.line("Gus", "waits", "with \(count) lines under way, because nobody takes any more")
        }
        check(count < 10_000, "somebody should have said stop")
        var isRight = true
        for number in 0..<count {
            let echo = try await connection.next(within: .seconds(2))
            isRight = isRight && echo == "\(line)\(number)"
        }
        log.line("Gus", "gets", "all \(count) of them, in order")
        check(isRight, "the echoes should be what was sent")
        log.line("Gus", "closes", "and waits until the peer has read to the end")
        check(await connection.close(within: .seconds(2)), "the server should have read all")
        check(await connection.info.tls?.peerEnd == .closeNotify, "the server should have said that this is its end")
    }

    private mutating func refuse(_ server: Server<LineCodec>) async throws {
        let own = TLSTrust.authorities(Bytes(WorthlessCertificate.certificate))
        let others: [(String, TLSTrust, String?, TLSError.Kind)] = [
            ("Hal", .system, nil, .selfSigned),
            ("Ida", own, "chat.example.com", .wrongHost),
            ("Jon", own.pinned(to: [String(repeating: "A", count: 43) + "="]), nil, .notPinned),
        ]
        for (name, trust, host, kind) in others {
            let network = TLSNetwork(over: SystemNetwork(), client: try Self.client(trust, for: host))
            do {
                let connection = try await Connection.connect(to: server.endpoint, codec: .lines, on: network, within: .seconds(2))
                check(false, "\(name) should have refused the certificate")
                connection.closeNow()
            } catch let error as SocketError {
                log.line(name, "refuses", error.tls.map { "\($0.kind): \($0.message)" } ?? "\(error)")
                check(error.code == .certificateRefused && error.tls?.kind == kind, "the reason should have been “\(kind)”")
            }
        }
    }

    /// STARTTLS, as mail servers have it.
    private mutating func upgrade() async throws {
        let protection = protection
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines, options: Self.options)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.run { connection in
                    while let line = try await connection.next() {
                        if line == "STARTTLS" {
                            try await connection.startTLS(protection, announcing: "go ahead")
                        } else {
                            try await connection.send(line)
                        }
                    }
                }
            }
            let connection = try await Connection.connect(to: server.endpoint, codec: .lines, within: .seconds(2))
            log.line("Kim", "connects", "to \(server.endpoint), in plain text")
            try await say("anybody can read this", "Kim", over: connection)
            try await say("STARTTLS", "Kim", over: connection, expecting: "go ahead")
            let client = try Self.client(.keys([WorthlessCertificate.pin]))
            let info = try await connection.startTLS(client, serverName: nil, within: .seconds(2))
            log.line("Kim", "speaks", "\(info.words), on the same connection")
            try await say("and nobody this", "Kim", over: connection)
            check(await connection.close(within: .seconds(2)), "the server should have read all")
            await server.shutdown(within: .seconds(2))
            try await group.waitForAll()
        }
    }

    private static func client(_ trust: TLSTrust, for host: String? = nil) throws -> TLSClient {
        try TLSClient(TLSClient.Settings(trust: trust, serverName: host, applicationProtocols: ["demo/1"]))
    }

    private static func echo(_ connection: Connection<LineCodec>) async throws {
        while let line = try await connection.next() { try await connection.send(line) }
    }

    /// Clients that refuse the server say so themselves.
    private static var options: ServerOptions {
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        return options
    }

    private mutating func say(
        _ text: String, _ name: String, over connection: Connection<LineCodec>, expecting expected: String? = nil
    ) async throws {
        log.line(name, "sends", "“\(text)”")
        try await connection.send(text, within: .seconds(2))
        let answer = try await connection.next(within: .seconds(2))
        log.line(name, "gets", "“\(answer ?? "")”")
        check(answer == expected ?? text, "the answer should have been “\(expected ?? text)”")
    }

    private mutating func check(_ holds: Bool, _ what: String) {
        checks += 1
        if holds { return }
        failures += 1
        log.complaint(what)
    }
}
