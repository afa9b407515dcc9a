import CLifelineTLS
import COpenSSL
public import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime
@testable import LifelineTLS

/// Bare streams of the simulation's network in memory, one of which a test scripts.
extension World {
    /// A stream that was dialled in plain text, and the one that was accepted.
    func streams(
        _ name: String = "peer", options: ConnectionOptions = ConnectionOptions(), peer: ConnectionOptions = ConnectionOptions()
    ) async throws -> (ByteStream, ByteStream) {
        let lobby = try await Lobby(self, name, options: peer)
        let stream = try await ByteStream.connect(to: .inMemory(name), on: network, options: options)
        return (stream, try await lobby.next())
    }

    /// A connection over TLS, and a peer behind its handshake.
    func link<C: Codec>(
        _ codec: C, client: TLSClient? = nil, server: TLSServer? = nil, options: ConnectionOptions = ConnectionOptions(),
        peer: ConnectionOptions = ConnectionOptions()
    ) async throws -> (Connection<C>, ByteStream) {
        let (near, far) = try await streams(options: options, peer: peer)
        try await protect(near, far, client: client, server: server)
        return (try await near.framed(with: codec), far)
    }

    /// Has both ends go over to TLS, as soon as the server has said so.
    func protect(_ near: ByteStream, _ far: ByteStream, client: TLSClient? = nil, server: TLSServer? = nil) async throws {
        let accepting = try server ?? Protected.server()
        async let accepted = far.startTLS(accepting, announcing: "!")
        #expect(try await near.read(exactly: 1) == "!")
        try await near.startTLS(client ?? Protected.client(), serverName: nil)
        _ = try await accepted
    }

    /// How long `body` takes.
    func duration(of body: () async throws -> Void) async rethrows -> Duration {
        let start = now
        try await body()
        return now - start
    }
}

/// Listens in plain text and hands out what it has accepted.
final class Lobby: Sendable {
    private final class Door: ListenerSink {
        let streams = Inbox<ByteStream>(marks: Marks(high: 1000), frames: 1000)
        private let options: ConnectionOptions

        init(_ options: ConnectionOptions) { self.options = options }

        func accepted(_ transport: any Transport) {
            let core = StreamCore(transport: transport, options: options)
            let stream = ByteStream(over: core)
            core.start()
            var arrivals = FrameQueue<ByteStream>()
            arrivals.append(stream)
            _ = streams.add(&arrivals, bytes: 1, marked: false)
        }

        func acceptFailed(_ error: SocketError) { Issue.record("accepting failed: \(error)") }
    }

    private let door: Door
    private let listener: any Listener

    init(_ world: World, _ name: String, options: ConnectionOptions = ConnectionOptions()) async throws {
        door = Door(options)
        let driver = world.network.driver
        listener = try await driver.listen(
            .inMemory(name), on: driver.nextLoop(), dealingTo: driver.loops, options: SocketOptions(), sink: door)
    }

    func next() async throws -> ByteStream {
        try #require(try await door.streams.next())
    }

    func close() async { await listener.close() }
}

extension ByteStream {
    /// What TLS lies on.
    private nonisolated var base: any Transport { (core.transport as? TLSTransport)?.base ?? core.transport }

    /// Ends TCP without a word of TLS's.
    nonisolated func cut(reset: Bool = false) { core.loop.run { self.base.close(reset: reset) } }

    /// Writes past TLS.
    nonisolated func writeBelow(_ bytes: [UInt8]) {
        core.loop.run { _ = try? self.base.write(Bytes(bytes)) }
    }

    /// Takes encrypted bytes past TLS, which can't go on behind that.
    nonisolated func readBelow(_ count: Int) {
        core.loop.run {
            withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer in
                _ = try? self.base.read(into: buffer)
            }
        }
    }

    private nonisolated var transport: TLSTransport? { core.transport as? TLSTransport }

    /// Writes the first of the records that a large new ticket takes; the others are the result.
    nonisolated func writeHalfOfTicket() -> [UInt8] {
        guard let transport else { return [] }
        // The smallest fragments that OpenSSL makes.
        SSL_ctrl(transport.ssl, SSL_CTRL_SET_MAX_SEND_FRAGMENT, 512, nil)
        #expect(SSL_new_session_ticket(transport.ssl) == 1)
        #expect(SSL_do_handshake(transport.ssl) == 1)
        var count = 0
        guard let bytes = llt_pipe_written(transport.pipe, &count) else { return [] }
        let all = Array(UnsafeBufferPointer(start: bytes, count: count))
        llt_pipe_consume(transport.pipe, count)
        let first = 5 + (Int(all[3]) << 8 | Int(all[4]))
        #expect(first < all.count)
        writeBelow(Array(all[..<first]))
        return Array(all[first...])
    }

    /// Asks for new keys again and again.
    nonisolated func floodKeyUpdates(_ count: Int) {
        core.loop.run {
            guard let transport = self.transport else { return }
            for _ in 0..<count {
                _ = SSL_key_update(transport.ssl, SSL_KEY_UPDATE_REQUESTED)
                _ = SSL_do_handshake(transport.ssl)
                transport.flushPipe()
            }
        }
    }

    /// All bytes up to the end.
    func readAll() async throws -> Bytes {
        var all: [UInt8] = []
        while let some = try await read(atMost: 64 * 1024) { all += some }
        return Bytes(all)
    }

    /// All bytes up to the end, whereupon this side ends, too.
    func readAndClose() async throws -> Bytes {
        let all = try await readAll()
        await close()
        return all
    }

    /// Asks for new keys in both directions.
    func updateKeys() {
        guard let transport = core.transport as? TLSTransport else { return }
        #expect(SSL_key_update(transport.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
    }
}

extension Connection {
    /// Encrypted bytes that the transport below hasn't taken. On the loop.
    nonisolated var bytesInPipe: Int { (core.transport as? TLSTransport)?.pendingInPipe ?? 0 }
}

extension Bytes: ExpressibleByStringLiteral {
    /// The text in UTF-8.
    public init(stringLiteral text: String) { self.init(text) }
}

/// Expects `body` to throw a `SocketError` of this kind.
@discardableResult
func expectError(
    _ code: SocketError.Code, _ phase: SocketError.Phase? = nil, _ kind: TLSError.Kind? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> some Any
) async -> SocketError? {
    do {
        let value = try await body()
        Issue.record("no error but \(value)", sourceLocation: sourceLocation)
    } catch let error as SocketError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(error.phase == phase, "\(error)", sourceLocation: sourceLocation)
        if let kind { #expect(error.tls?.kind == kind, "\(error)", sourceLocation: sourceLocation) }
        return error
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return nil
}
