import LifelineCore
import LifelineRuntime
import LifelineTLS
import LifelineTesting
import Testing

/// Verdicts, limits and ends at moments at which nobody expects them.
struct OddMomentTests {
    @Test("a verifier that ignores its cancellation holds up connect, but not the connection: that is closed at the limit")
    func stubbornVerifier() async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let gate = Gate()
            let client = try Protected.client { $0.verify = { _ in await gate.pass() } }
            let network = TLSNetwork(over: world.network, client: client, server: try Protected.server())
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            try await serving(server) { connection in
                _ = try? await connection.next()
                #expect(world.now == .seconds(1))
                gate.open()
            } while: {
                _ = await expectError(.timedOut, .handshake) {
                    try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network, within: .seconds(1))
                }
            }
        }
    }

    @Test("a verifier that throws CancellationError though nobody has cancelled it has refused the peer, who sees no ordinary end")
    func cancellationError() async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let server = try Protected.server { $0.verify = { _ in throw CancellationError() } }
            let network = try TLSNetwork(over: world.network, client: Protected.client(), server: server)
            let refusing = try TLSNetwork(
                over: world.network, client: Protected.client { $0.verify = { _ in throw CancellationError() } })
            let bound = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: .noting(errors))
            try await serving(bound, echo) {
                await expectError(.certificateRefused, nil, .refusedByVerifier) {
                    try await Connection.connect(to: .inMemory("home"), codec: .lines, on: refusing)
                }
                let connection = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
                await expectError(.reset) { try await connection.next() }
                #expect(world.now == .zero)
            }
            #expect(errors.entries.contains { $0.tls?.kind == .refusedByVerifier })
        }
    }

    @Test("limits for silence begin behind the verdict", arguments: ["idle", "first frame"])
    func limitsBehindVerdict(limit: String) async throws {
        try await simulate { world in
            let server = try Protected.server { $0.verify = { _ in try await world.advance(by: .seconds(4)) } }
            let network = try TLSNetwork(over: world.network, client: Protected.client(), server: server)
            var options = ServerOptions()
            if limit == "idle" {
                options.connection.idleLimit = .seconds(3)
            } else {
                options.connection.firstFrameLimit = .seconds(3)
            }
            let bound = try await Server.bind(.inMemory("home"), codec: .lines, on: network, options: options)
            try await serving(bound, echo) {
                let connection = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: network)
                try await connection.send("a")
                #expect(try await connection.next() == "a")
                #expect(world.now == .seconds(4))
                await connection.close()
            }
        }
    }

    @Test("startTLS behind this side's end: at once, and not as a handshake that runs out of time")
    func startTLSBehindEnd() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            try await near.finishSending()
            await expectError(.closed) { try await near.startTLS(Protected.client(), serverName: nil) }
            #expect(world.now == .zero)
            far.closeNow()
        }
    }

    @Test("a peer that goes while the last plain text is on its way ends startTLS with the true reason")
    func goneBeforeBorder() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.socket.sendBuffer = 1000
            let (near, far) = try await world.streams(options: options, peer: .deaf)
            try await near.write(pattern(50_000))
            async let refused = expectError(.reset) { try await near.startTLS(Protected.client(), serverName: nil) }
            await world.settle()
            far.closeNow()
            _ = await refused
            #expect(world.now == .zero)
            #expect(near.closeReason?.error?.code == .reset)
        }
    }

    @Test("behind its end a connection that somebody still holds keeps no bytes that were on their way")
    func memoryBehindEnd() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.raw, peer: .deaf)
            try await connection.send("1")
            await world.settle()
            try await connection.send(pattern(300_000))
            await world.settle()
            #expect(connection.bytesInPipe > 0)
            connection.closeNow()
            await world.settle()
            #expect(connection.bytesInPipe == 0)
            peer.closeNow()
        }
    }

    @Test("close_notify arrives though there is no room for it at once", arguments: 0..<40)
    func closeNotifyWithoutRoom(spare: Int) async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.socket.sendBuffer = 8_000
            let (connection, peer) = try await world.link(.raw, options: options, peer: .deaf)
            try await connection.send("1")
            await world.settle()
            // A record has 22 bytes more than it carries.
            try await connection.send(pattern(8_000 - 22 - spare))
            await world.settle()
            try await peer.finishSending()
            await world.settle()
            async let closed = connection.close(within: .seconds(5))
            await world.settle()
            #expect(try await peer.readAll().count == 1 + 8_000 - 22 - spare)
            #expect(await closed)
        }
    }

    @Test("close_notify waits for the rest of a message of TLS's own")
    func closeInHalfTicket() async throws {
        try await simulate { world in
            let server = try Protected.server { $0.clientCertificates = .required(Protected.trust) }
            let client = try Protected.client { $0.identity = try Protected.identity("client") }
            let (connection, peer) = try await world.link(.lines, client: client, server: server)
            await world.settle()
            let rest = peer.writeHalfOfTicket()
            await world.settle()
            async let closed = connection.close(within: .seconds(5))
            await world.settle()
            peer.writeBelow(rest)
            #expect(try await peer.readAndClose() == "")
            #expect(await closed)
        }
    }
}

/// Something that is waited for even by a cancelled task.
private final class Gate: @unchecked Sendable {  // The state is guarded by `lock`.
    private let lock = Lock()
    private var isOpen = false
    private var waiting: [UnsafeContinuation<Void, Never>] = []

    func open() {
        let woken = lock.withLock {
            isOpen = true
            defer { waiting = [] }
            return waiting
        }
        for continuation in woken { continuation.resume() }
    }

    func pass() async {
        await withUnsafeContinuation { continuation in
            let passes = lock.withLock {
                if !isOpen { waiting.append(continuation) }
                return isOpen
            }
            if passes { continuation.resume() }
        }
    }
}
