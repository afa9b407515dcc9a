import Glibc
import LifelineCore
import LifelineSockets
import Testing

@testable import LifelineRuntime

/// What a connection goes through.
enum Way: CaseIterable, Sendable { case tcp, unix }

/// Somewhere to listen, picked by the system.
struct Place: Sendable {
    let endpoint: Endpoint
    private let folder: Folder?

    private init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
        folder = nil
    }

    init(_ way: Way) {
        switch way {
        case .tcp:
            endpoint = .tcp("127.0.0.1", 0)
            folder = nil
        case .unix:
            let folder = Folder()
            endpoint = .unix(folder.path + "/s")
            self.folder = folder
        }
    }
}

extension Place {
    /// For tests that listen at a port for a second time: a loopback address of this process's own, so that nobody else's connection
    /// gets the port in between.
    static func toReturnTo(_ way: Way) -> Place {
        let id = getpid()
        return way == .unix ? Place(way) : Place(.tcp("127.\(1 + id >> 16 & 63).\(id >> 8 & 255).\(id & 255)", 0))
    }
}

/// Where tests' connections live, and where their peers do.
let network = SystemNetwork(loops: EventLoops(count: 2))
let peerNetwork = SystemNetwork(loops: EventLoops(count: 1))

/// A connection under test and the peer at its other end, which does what the test says.
struct Link<C: Codec>: Sendable {
    let connection: Connection<C>
    let peer: ByteStream
}

/// The two ends of a connection through the kernel: a dialled one over `network`, and an accepted one over `peerNetwork`.
func link<C: Codec>(
    _ codec: C, _ way: Way = .tcp, options: ConnectionOptions = ConnectionOptions(), peer: ConnectionOptions = ConnectionOptions()
) async throws -> Link<C> {
    let (near, far) = try await streams(way, options: options, peer: peer)
    return Link(connection: try await near.framed(with: codec), peer: far)
}

func streams(
    _ way: Way = .tcp, options: ConnectionOptions = ConnectionOptions(), peer: ConnectionOptions = ConnectionOptions()
) async throws -> (near: ByteStream, far: ByteStream) {
    let place = Place(way)
    let sink = Sink()
    let driver = peerNetwork._driver.base
    let listener = try await driver.listen(
        place.endpoint, on: driver.nextLoop(), dealingTo: driver.loops, options: peer.socket, sink: sink)
    let near = try await ByteStream.connect(to: listener.endpoint, on: network, within: outerLimit, options: options)
    let far = ByteStream(over: StreamCore(transport: try await sink.transports.next(), options: peer))
    await far.start()
    await listener.close()
    return (near, far)
}

/// Serves with `handler` while `body` runs, then shuts the server down and waits for `run`.
func serving<C: Codec, R: Sendable>(
    _ server: Server<C>, _ handler: @escaping @Sendable (Connection<C>) async throws -> Void,
    while body: () async throws -> R
) async throws -> R {
    try await withThrowingTaskGroup { group in
        group.addTask { try await server.run(handler) }
        do {
            let result = try await body()
            await server.shutdown(within: outerLimit)
            try await group.waitForAll()
            return result
        } catch {
            group.cancelAll()
            throw error
        }
    }
}

/// Sends back what comes.
@Sendable func echo<C: FrameCodec>(_ connection: Connection<C>) async throws {
    while let frame = try await connection.next() { try await connection.send(frame) }
}

/// Says `text` and hears it again.
func expectEcho(
    _ text: String, on connection: Connection<LineCodec>, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    try await connection.send(text)
    #expect(try await connection.next(within: outerLimit) == text, sourceLocation: sourceLocation)
}

extension ServerOptions {
    /// Nothing is told, except as `change` says.
    static func quiet(_ change: (inout ServerOptions) -> Void = { _ in }) -> ServerOptions {
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        change(&options)
        return options
    }
}

extension ConnectionOptions {
    /// The kernel's smallest buffers, and whatever else `change` sets.
    static func small(_ size: Int = 4096, _ change: (inout ConnectionOptions) -> Void = { _ in }) -> ConnectionOptions {
        var options = ConnectionOptions()
        options.socket.sendBuffer = size
        options.socket.receiveBuffer = size
        change(&options)
        return options
    }

    /// Of a peer that takes one portion and then reads nothing unless it is told to.
    static var deaf: ConnectionOptions { .small { $0.inbox = Marks(high: 1, low: 0) } }
}

extension ByteStream {
    /// Ends as a crash does.
    nonisolated func reset() {
        core.loop.run {
            self.core.transport.close(reset: true)
            self.core.closeNow()
        }
    }

    /// All bytes up to the end.
    func readAll() async throws -> [UInt8] {
        var all: [UInt8] = []
        while let some = try await read(atMost: 1 << 20, within: outerLimit) {
            some.withUnsafeBytes { all.append(contentsOf: $0) }
        }
        return all
    }
}

/// Runs `body`, which is cancelled and has failed when it takes longer than `limit`.
func bounded<R: Sendable>(
    _ limit: Duration = outerLimit, _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
    let result = try await withThrowingTaskGroup(of: R?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            let expiry = OneShot<Void>(timeOut: SocketError(timedOut: .read, after: limit, detail: "the test's own limit"))
            try await expiry.value(within: limit, on: referee)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
    return try #require(result)
}

/// Waits until `fact` holds, asked on `loop`.
func eventually(on loop: any EventLoop, _ fact: @escaping @Sendable () -> Bool) async throws {
    try await bounded {
        while try await !loop.perform(fact) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// Frames behind a length of four bytes.
let framed = LengthPrefixCodec(max: 16 << 20)

/// A length of four bytes and the text.
func frame(_ text: String) -> Bytes {
    let count = UInt32(text.utf8.count)
    return Bytes([UInt8(count >> 24), UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)] + Array(text.utf8))
}

/// `count` bytes, a multiple of four, that say where in the whole they stand.
func counted(_ count: Int) -> Bytes {
    let numbers = [UInt32](0..<UInt32(count / 4))
    return numbers.withUnsafeBytes { Bytes(copying: $0) }
}

/// Expects the same bytes. (A failed `#expect` looks for the smallest difference, which takes minutes for a megabyte.)
func expectSame(_ left: Bytes, _ right: Bytes, sourceLocation: SourceLocation = #_sourceLocation) {
    let isSame = left == right
    #expect(isSame, "\(left.count) bytes aren't the \(right.count) expected", sourceLocation: sourceLocation)
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

/// The last reference to something.
///
/// The proof behind `@unchecked`: `value` is guarded by `lock`.
final class Box<Value: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value?

    init(_ value: consuming Value) { self.value = value }

    func drop() {
        let last = lock.withLock {
            defer { value = nil }
            return value
        }
        withExtendedLifetime(last) {}
    }
}
