import LifelineCore
import LifelineRuntime
import LifelineTLS
import LifelineTesting
import Testing

/// Handshakes that don't go well, and verdicts that take their time.
struct ConnectingTests {
    @Test("C86: a server that says nothing: a handshake error at the limit, and nothing is left")
    func silentServer() async throws {
        try await simulate { world in
            let lobby = try await Lobby(world, "home")
            let network = try TLSNetwork(over: world.network, client: Protected.client())
            let took = await world.duration {
                await expectError(.timedOut, .handshake) {
                    try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network, within: .seconds(3))
                }
            }
            #expect(took == .seconds(3))
            let peer = try await lobby.next()
            let hello = try await peer.readAll()
            #expect(hello.first == 22)
            await peer.close()
            #expect(world.armedTimers == 0)
        }
    }

    @Test("C86: a server that sends half of its hello and then nothing")
    func halfHello() async throws {
        try await simulate { world in
            let lobby = try await Lobby(world, "home")
            let network = try TLSNetwork(over: world.network, client: Protected.client())
            async let refused = expectError(.timedOut, .handshake) {
                try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network, within: .seconds(3))
            }
            let peer = try await lobby.next()
            try await peer.write([22, 3, 3, 0, 80, 2, 0])
            _ = await refused
            #expect(world.now == .seconds(3))
        }
    }

    @Test("C86: a server that half-closes in the handshake: at once")
    func halfClosingServer() async throws {
        try await simulate { world in
            let lobby = try await Lobby(world, "home")
            let network = try TLSNetwork(over: world.network, client: Protected.client())
            async let refused = expectError(.handshakeFailed, nil, .closedInHandshake) {
                try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network, within: .seconds(3))
            }
            try await lobby.next().finishSending()
            _ = await refused
            #expect(world.now == .zero)
        }
    }

    @Test(
        "C86: clients that say nothing, half of their hello, or half-close; the handler never sees them, and a good one is served meanwhile"
    )
    func silentClients() async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let network = try TLSNetwork(
                over: world.network, client: Protected.client(), server: Protected.server { $0.handshakeLimit = .seconds(2) })
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            try await serving(server, echo) {
                let silent = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
                let half = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
                try await half.write([22, 3, 1, 2, 0, 1])
                let gone = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
                try await gone.finishSending()
                let good = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
                try await good.send("hello")
                #expect(try await good.next() == "hello")
                #expect(try await gone.readAll() == "")
                #expect(world.now == .zero)
                #expect(try await silent.readAll() == "")
                _ = try await half.readAll()
                #expect(world.now == .seconds(2))
                await good.close()
            }
            #expect(Set(errors.entries.map(\.phase)) == [nil, .handshake])
            #expect(errors.count == 3)
        }
    }

    @Test("a server that shuts down doesn't wait for handshakes that have yet to be done")
    func shutdownInHandshake() async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let network = try Protected.network(over: world.network)
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            let silent = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
            try await serving(server, echo) {
                await world.settle()
                #expect(await server.shutdown(within: .seconds(8)))
                #expect(world.now == .zero)
                let rest = try await silent.readAll()
                #expect(rest == "")
            }
            #expect(errors.count == 0)
        }
    }

    @Test("what a handler throws in a shutdown is reported, over TLS as without it")
    func handlerErrorInShutdown() async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let network = try Protected.network(over: world.network)
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            try await serving(server) { connection in
                _ = try await connection.next()
                throw SocketError(.closed, "the handler's own")
            } while: {
                let connection = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
                await world.settle()
                await server.shutdown(within: .seconds(1))
                connection.closeNow()
            }
            #expect(errors.entries.map(\.message) == ["the handler's own"])
        }
    }

    @Test("C79: a server that never answers TLS costs a supervisor one attempt, and the next begins")
    func supervisedAttempts() async throws {
        try await simulate { world in
            let lobby = try await Lobby(world, "home")
            let network = try TLSNetwork(over: world.network, client: Protected.client())
            var options = SupervisorOptions()
            options.connectLimit = .seconds(4)
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: .lines, on: network, reconnect: .every(.seconds(1)), options: options)
            await link.start()
            let first = try await lobby.next()
            let second = try await lobby.next()
            #expect(world.now == .seconds(5))
            #expect(try await second.read(exactly: 1) == [22])
            await link.stop()
            _ = try await first.readAll()
        }
    }

    @Test("C69: stopped in the TLS handshake, a supervisor leaves nothing behind")
    func stoppedInHandshake() async throws {
        for seed in 0..<20 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                let lobby = try await Lobby(world, "home")
                let network = try TLSNetwork(over: world.network, client: Protected.client())
                let link = Supervisor(endpoint: .inMemory("home"), codec: .lines, on: network, reconnect: .every(.seconds(1)))
                await link.start()
                let peer = try await lobby.next()
                _ = try await peer.read(exactly: 5)
                await link.stop()
                #expect(link.status == .stopped(why: .byUser(.user)))
                _ = try await peer.readAll()
                await peer.close()
                try await world.advance(by: .seconds(30))
                #expect(world.now == .seconds(30))
                #expect(world.armedTimers == 0)
            }
        }
    }

    @Test("C78: a supervisor doesn't hammer on a server whose certificate was refused")
    func refusedCertificate() async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let network = try TLSNetwork(over: world.network, client: Protected.client(), server: Protected.server("other"))
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            try await serving(server, echo) {
                let link = Supervisor(endpoint: .inMemory("home"), codec: .lines, on: network, reconnect: .every(.seconds(1)))
                let error = await expectError(.certificateRefused, nil, .unknownIssuer) { try await link.run() }
                #expect(error?.tls?.certificate?.names.contains("localhost") == true)
                #expect(world.now == .zero)
            }
            #expect(errors.entries.map(\.code) == [.certificateRefused])
        }
    }

    @Test("C92: a verdict that takes its time and is no: nothing was sent, nothing delivered, and connect throws")
    func lateRefusal() async throws {
        try await simulate { world in
            let handled = Log<String?>()
            let errors = Log<SocketError>()
            let client = try Protected.client {
                $0.verify = { _ in
                    try await world.advance(by: .milliseconds(500))
                    throw TLSError(.refusedByVerifier, "not this one")
                }
            }
            let network = try TLSNetwork(over: world.network, client: client, server: Protected.server())
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            try await serving(server) { connection in
                for number in 0..<10 { try await connection.send("frame \(number)") }
                handled.add(try await connection.next())
            } while: {
                let link = Supervisor(endpoint: .inMemory("home"), codec: .lines, on: network, reconnect: .never)
                let receipt = try link.post("queued")
                let running = Log<LinkStatus>()
                async let watching: Void = {
                    for await status in link.statusUpdates {
                        running.add(status)
                        if case .stopped = status { return }
                    }
                }()
                await expectError(.certificateRefused, nil, .refusedByVerifier) { try await link.run() }
                await watching
                #expect(world.now == .milliseconds(500))
                #expect(running.entries.allSatisfy { $0 != .connected })
                if case .written = try await receipt.outcome { Issue.record("the queued message was sent") }
            }
            #expect(handled.entries == [])
            #expect(errors.entries.map(\.code) == [.reset])
        }
    }

    @Test("C92: on the server's side, too: a client that is refused late is neither heard nor told anything")
    func lateRefusalByServer() async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let handled = Log<String>()
            let server = try Protected.server {
                $0.verify = { info in
                    #expect(info.peerCertificates.isEmpty)
                    try await world.advance(by: .milliseconds(500))
                    throw TLSError(.refusedByVerifier, "not this one")
                }
            }
            let network = try TLSNetwork(over: world.network, client: Protected.client(), server: server)
            let bound = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            try await serving(bound) { _ in
                handled.add("a connection")
            } while: {
                let connection = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
                try await connection.send("early")
                // Nobody else sees it before the verdict, so nothing is kept for it.
                #expect(bound.connections.isEmpty)
                let told = try await bound.broadcast("to all")
                #expect(told.accepted == 0)
                _ = try? await connection.next()
                #expect(world.now == .milliseconds(500))
                #expect(await connection.info.framesReceived == 0)
            }
            #expect(handled.entries == [])
            #expect(errors.entries.map(\.tls?.kind) == [.refusedByVerifier])
        }
    }

    @Test("a verdict that is yes lets everything through that was queued, in order")
    func lateApproval() async throws {
        try await simulate { world in
            let verify: @Sendable (TLSInfo) async throws -> Void = { _ in try await world.advance(by: .milliseconds(500)) }
            let network = try TLSNetwork(
                over: world.network, client: Protected.client { $0.verify = verify }, server: Protected.server { $0.verify = verify })
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network)
            try await serving(server, echo) {
                let connection = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
                #expect(world.now == .milliseconds(500))
                for number in 0..<10 { try await connection.send("\(number)") }
                for number in 0..<10 { #expect(try await connection.next() == "\(number)") }
                #expect(world.now == .milliseconds(500))
                #expect(try await server.broadcast("to all").accepted == 1)
                #expect(try await connection.next() == "to all")
                await connection.close()
            }
        }
    }

    @Test("a server that is shut down before its verdict says goodbye all the same (simulation's seed 301012)")
    func closedBeforeVerdict() async throws {
        try await simulate { world in
            let server = try Protected.server { $0.verify = { _ in try await world.advance(by: .seconds(50)) } }
            let network = try TLSNetwork(over: world.network, client: Protected.client(), server: server)
            let bound = try await Server.bind(.inMemory("home"), codec: .lines, on: network)
            try await serving(bound, echo) {
                let connection = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
                await bound.shutdown(within: .seconds(1))
                #expect(try await connection.next() == nil)
                #expect(await connection.info.tls?.peerEnd == .closeNotify)
                await connection.close()
            }
        }
    }

    @Test("a verdict that doesn't come ends with the limit")
    func noVerdict() async throws {
        try await simulate { world in
            let client = try Protected.client { $0.verify = { _ in try await world.advance(by: .seconds(1000)) } }
            let network = try TLSNetwork(over: world.network, client: client, server: Protected.server())
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network)
            try await serving(server, echo) {
                await expectError(.timedOut, .handshake) {
                    try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network, within: .seconds(2))
                }
                #expect(world.now == .seconds(2))
            }
        }
    }

    @Test("C93: a peer that speaks plain text")
    func plainTextPeer() async throws {
        try await simulate { world in
            let lobby = try await Lobby(world, "home")
            let network = try TLSNetwork(over: world.network, client: Protected.client())
            async let refused = expectError(.handshakeFailed, nil, .notTLS) {
                try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
            }
            try await lobby.next().write("HTTP/1.0 400 Bad Request\r\n\r\n")
            _ = await refused
        }
    }

    @Test("a network without the settings for a direction says so")
    func missingSettings() async throws {
        try await simulate { world in
            let network = TLSNetwork(over: world.network)
            await expectError(.unsupportedEndpoint) { try await ByteStream.connect(to: .inMemory("home"), on: network) }
            await expectError(.unsupportedEndpoint) { try await Server.bind(.inMemory("home"), codec: .lines, on: network) }
            await expectError(.unsupportedEndpoint) { try await ByteStream.connect(to: .tls("home", 1), on: world.network) }
            await expectError(.unsupportedEndpoint) {
                try await ByteStream.connect(to: .tls("home", 1), on: world.simulated.host("here"))
            }
        }
    }
}
