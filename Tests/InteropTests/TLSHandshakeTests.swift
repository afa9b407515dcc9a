import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// Peers that don't get through the handshake.
@Suite(.enabled(if: PeerKind.tlsEnds.isTested, "Python isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct TLSHandshakeTests {
    private func withServer(_ mode: String, body: (Peer) async throws -> Void) async throws {
        try await withServing(.tlsEnds, [mode, "1.3", TLSFile.certificate("server"), TLSFile.key("server")], body: body)
    }

    @Test("C86: a server that says nothing, or half of something, is waited for until the limit", arguments: ["silent", "half-handshake"])
    func silentServer(mode: String) async throws {
        try await withServer(mode) { peer in
            let start = referee.now
            let error = try await failure {
                _ = try await Connection.secured(to: peer.endpoint, codec: .lines, within: .milliseconds(300))
            }
            #expect(error.code == .timedOut)
            #expect(error.phase == .handshake)
            let time = start.duration(to: referee.now)
            #expect(time >= .milliseconds(300) && time < .seconds(20))
            // This side's descriptor is gone.
            #expect(try await peer.fact().hasPrefix("END"))
        }
    }

    @Test("C86: a client that says nothing, or half of something, is waited for until the limit", arguments: ["silent", "half-handshake"])
    func silentClient(mode: String) async throws {
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(.lines, errors: errors) { $0.handshakeLimit = .milliseconds(300) }
        try await serving(server, echo) {
            try await withConnecting(.tlsEnds, to: server.endpoint, [mode, "1.3", TLSFile.authority]) { peer in
                let error = try await errors.next()
                #expect(error.code == .timedOut)
                #expect(error.phase == .handshake)
                #expect(try await peer.fact().hasPrefix("END"))
                try await eventually { server.connections.isEmpty }
            }
        }
    }

    @Test("C86, C93: a peer that ends in the handshake is found at once, and named")
    func endInHandshake() async throws {
        try await withServer("fin-in-handshake") { peer in
            let error = try await refusal(by: peer.endpoint)
            #expect(error.code == .handshakeFailed)
            #expect(error.tls?.kind == .closedInHandshake)
        }
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(.lines, errors: errors) { $0.handshakeLimit = outerLimit }
        try await serving(server, echo) {
            try await withConnecting(.tlsEnds, to: server.endpoint, ["fin-in-handshake", "1.3", TLSFile.authority]) { _ in
                let error = try await errors.next()
                #expect(error.code == .handshakeFailed)
                #expect(error.tls?.kind == .closedInHandshake)
            }
        }
    }

    @Test("C93: a peer that speaks plain text is named, and what it says is never data")
    func plainText() async throws {
        try await withServer("garbage") { peer in
            let error = try await refusal(by: peer.endpoint)
            #expect(error.code == .handshakeFailed)
            #expect(error.tls?.kind == .notTLS)
        }
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(.lines, errors: errors)
        try await serving(server, echo) {
            try await withConnecting(.tlsEnds, to: server.endpoint, ["garbage", "1.3", TLSFile.authority]) { _ in
                let error = try await errors.next()
                #expect(error.code == .handshakeFailed)
                #expect(error.tls?.kind == .notTLS)
            }
            // A client in plain text is one like that.
            let plain = try await Connection.connect(to: .tcp("127.0.0.1", server.endpoint.port ?? 0), codec: .lines)
            try await plain.send("hello")
            #expect(try await errors.next().tls?.kind == .notTLS)
            await plain.close(within: .zero)
        }
    }

    @Test("C93: a peer that isn't there is refused, as without TLS")
    func nobody() async throws {
        let server = try await bindSecured(.lines)
        try await serving(server, echo) {}
        let error = try await refusal(by: server.endpoint)
        #expect(error.code == .refused)
        #expect(error.tls == nil)
    }

    @Test("C79: attempts that get no answer in the handshake end one after the other")
    func attempts() async throws {
        try await withServer("silent") { peer in
            var options = SupervisorOptions()
            options.connectLimit = .milliseconds(200)
            let link = Supervisor(
                endpoint: peer.endpoint, codec: .lines, on: try securedClient(),
                reconnect: .exponential(first: .milliseconds(1), cap: .milliseconds(1)), options: options)
            await link.start()
            var timeOuts = 0
            for await status in link.statusUpdates {
                guard let reason = status.offlineReason else { continue }
                #expect(reason.isTimeOut(.handshake))
                #expect(reason.mayRetry)
                timeOuts += 1
                if timeOuts == 3 { break }
            }
            await link.stop(within: .zero)
            #expect(timeOuts == 3)
        }
    }
}
