import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// Serves with `handler` while `body` runs, then shuts the server down and waits for `run`.
func serving<C: Codec, R: Sendable>(
    _ server: Server<C>, _ handler: @escaping @Sendable (Connection<C>) async throws -> Void, while body: () async throws -> R
) async throws -> R {
    try await withThrowingTaskGroup { group in
        group.addTask { try await server.run(handler) }
        let result = try await body()
        await server.shutdown(within: .seconds(1))
        try await group.waitForAll()
        return result
    }
}

/// Sends back what comes.
@Sendable func echo(_ connection: Connection<LineCodec>) async throws {
    while let line = try await connection.next() { try await connection.send(line) }
}

/// The error of the library that `body` throws; anything else is a failure of the test.
func failure<R: Sendable>(sourceLocation: SourceLocation = #_sourceLocation, of body: () async throws -> R) async -> SocketError? {
    do {
        let result = try await body()
        Issue.record("nothing was thrown, but \(result) returned", sourceLocation: sourceLocation)
    } catch let error as SocketError {
        return error
    } catch {
        Issue.record("\(error) was thrown", sourceLocation: sourceLocation)
    }
    return nil
}

/// `count` times the same byte; without a generic step per byte, which is slow in debug builds.
func block(_ count: Int, of byte: UInt8 = 7) -> Bytes { Bytes([UInt8](repeating: byte, count: count)) }

/// What several tasks note, in order.
///
/// The proof behind `@unchecked`: the notes are guarded by `lock`.
final class Notes<Note: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var notes: [Note] = []

    var all: [Note] { lock.withLock { notes } }
    var count: Int { lock.withLock { notes.count } }
    func add(_ note: Note) { lock.withLock { notes.append(note) } }
}

/// Something that is waited for even by a cancelled task.
///
/// The proof behind `@unchecked`: the state is guarded by `lock`.
final class Gate: @unchecked Sendable {
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

extension World {
    /// The two ends of a connection: the one that dialled and the one that was accepted.
    func ends(
        near: ConnectionOptions = ConnectionOptions(), far: ConnectionOptions = ConnectionOptions(), name: String = "ends"
    ) async throws -> (near: ByteStream, far: ByteStream) {
        try await streams(options: near, peer: far, name: name)
    }

    /// As ``ends(near:far:name:)``, with a connection at the end that was accepted.
    func connection<C: Codec>(
        _ codec: C, near: ConnectionOptions = ConnectionOptions(), far: ConnectionOptions = ConnectionOptions()
    ) async throws -> (peer: ByteStream, connection: Connection<C>) {
        let (peer, stream) = try await ends(near: near, far: far)
        return (peer, try await stream.framed(with: codec))
    }
}

extension ConnectionOptions {
    /// The defaults with pipes of `capacity` bytes.
    static func pipes(of capacity: Int) -> ConnectionOptions {
        var options = ConnectionOptions()
        options.socket.sendBuffer = capacity
        options.socket.receiveBuffer = capacity
        return options
    }
}
