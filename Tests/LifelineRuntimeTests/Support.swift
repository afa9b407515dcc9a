import LifelineCore

import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

/// A connection under test and the peer at its other end, which does what the test's script says.
struct Pair<C: Codec>: Sendable {
    let connection: Connection<C>
    let peer: ByteStream
}

extension World {
    /// A connection that was dialed, and its peer.
    ///
    /// The bounds of the pipes are the socket buffers in `options`: what this side sends is in `sendBuffer`.
    func pair<C: Codec>(
        _ codec: C, options: ConnectionOptions = ConnectionOptions(), peer peerOptions: ConnectionOptions = ConnectionOptions(),
        name: String = "peer"
    ) async throws -> Pair<C> {
        let (stream, peer) = try await streams(options: options, peer: peerOptions, name: name)
        return Pair(connection: try await stream.framed(with: codec), peer: peer)
    }

    /// Two bare streams at the ends of one connection.
    func streams(
        options: ConnectionOptions = ConnectionOptions(), peer peerOptions: ConnectionOptions = ConnectionOptions(), name: String = "peer"
    ) async throws -> (ByteStream, ByteStream) {
        let acceptor = Acceptor(peerOptions)
        let driver = network.driver
        let listener = try await driver.listen(
            .inMemory(name), on: driver.nextLoop(), dealingTo: driver.loops, options: SocketOptions(), sink: acceptor)
        let stream = try await ByteStream.connect(to: .inMemory(name), on: network, options: options)
        let peer = try await acceptor.stream.value()
        await listener.close()
        return (stream, peer)
    }
}

/// Takes one connection as a bare stream.
final class Acceptor: ListenerSink {
    let stream = OneShot<ByteStream>()
    private let options: ConnectionOptions

    init(_ options: ConnectionOptions) { self.options = options }

    func accepted(_ transport: any Transport) {
        let core = StreamCore(transport: transport, options: options)
        let stream = ByteStream(over: core)
        core.start()
        self.stream.succeed(stream)
    }

    func acceptFailed(_ error: SocketError) { Issue.record("accepting failed: \(error)") }
}

extension ByteStream {
    /// Ends the stream as a crash does.
    nonisolated func reset() {
        core.loop.run {
            self.core.transport.close(reset: true)
            self.core.closeNow()
        }
    }

    /// All bytes up to the end.
    func readAll() async throws -> [UInt8] {
        var all: [UInt8] = []
        while let some = try await read(atMost: 64 * 1024) { some.withUnsafeBytes { all.append(contentsOf: $0) } }
        return all
    }
}

extension ConnectionOptions {
    /// Options of a peer that takes one portion and then reads nothing unless it is told to.
    static var slow: ConnectionOptions {
        var options = ConnectionOptions()
        options.inbox = Marks(high: 1, low: 0)
        return options
    }

    /// Small pipes, and whatever else `change` sets.
    static func small(_ buffer: Int = 4096, _ change: (inout ConnectionOptions) -> Void = { _ in }) -> ConnectionOptions {
        var options = ConnectionOptions()
        options.socket.sendBuffer = buffer
        options.socket.receiveBuffer = buffer
        change(&options)
        return options
    }
}

/// Frames behind a length of four bytes, as most tests have them.
let lengthPrefixed = LengthPrefixCodec(layout: LengthLayout(width: .four, order: .big))

/// A length of four bytes and the text.
func frame(_ text: String) -> Bytes {
    let count = UInt32(text.utf8.count)
    return Bytes([UInt8(count >> 24), UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)] + Array(text.utf8))
}

/// `count` bytes that tell where in the whole they stand.
func pattern(_ count: Int, from start: Int = 0) -> Bytes {
    let unit = (0..<251).map { UInt8($0) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 502)
    bytes.append(contentsOf: unit[(start % 251)...])
    while bytes.count < count { bytes.append(contentsOf: unit) }
    return Bytes(bytes[..<count])
}

/// Expects `body` to throw a `SocketError` of this kind.
@discardableResult
func expectError(
    _ code: SocketError.Code, _ phase: SocketError.Phase? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> some Any
) async -> SocketError? {
    do {
        let value = try await body()
        Issue.record("no error but \(value)", sourceLocation: sourceLocation)
    } catch let error as SocketError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(error.phase == phase, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// Something that several tasks add to.
final class Log<Entry: Sendable>: @unchecked Sendable {  // `list` is guarded by `lock`.
    private let lock = Lock()
    private var list: [Entry] = []

    var entries: [Entry] { lock.withLock { list } }
    var count: Int { lock.withLock { list.count } }
    func add(_ entry: Entry) { lock.withLock { list.append(entry) } }
    /// Breaks the circle where an entry leads back to what captures this.
    func removeAll() { lock.withLock { list = [] } }
}

extension VirtualEventLoop {
    /// How many timers are armed.
    var timerCount: Int { seat.queues.timers.count }
}
