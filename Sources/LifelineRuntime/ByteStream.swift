public import LifelineCore

/// One live connection without framing: bytes as they come, exact reads, reads up to a delimiter, and single frames of any codec.
///
/// Nothing is decoded ahead of the reader, so a handshake can read as far as it goes and then hand the stream over with
/// ``framed(with:pairing:)``. An actor on the event loop that its bytes arrive on. One read at a time. A read that is cancelled or runs out of
/// time takes nothing: its bytes stay for the next one, and the stream stays usable.
///
/// When the last reference goes, what was written is offered to the kernel once more and the stream is closed.
public final actor ByteStream {
    nonisolated package let core: StreamCore
    nonisolated let outbound: Outbound<BytesEncoder>
    nonisolated let end = EndCell()
    var pendingRead: (any PendingRead)?
    /// A connection has taken the stream over.
    var isRetired = false

    /// The event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { core.loop.asUnownedSerialExecutor() }

    package init(over core: StreamCore) {
        self.core = core
        outbound = Outbound(outbox: core.outbox, encoder: BytesEncoder())
        core.loop.join()
        core.owner = self
    }

    isolated deinit {
        if !isRetired { core.abandon() }
        core.loop.leave()
    }

    /// Why the stream, or at least its reading, has ended; nil while it lives. Once set it never changes.
    public nonisolated var closeReason: CloseReason? { end.reason }

    /// Facts about the stream, also after its end.
    public var info: ConnectionInfo { core.info }

    /// Goes on as a connection that speaks `codec`. Bytes that have arrived and were not read go along. This stream throws
    /// ``SocketError/Code/misuse`` from now on.
    ///
    /// - Parameters:
    ///   - pairing: how answers find their requests; see ``Connection/request(_:within:)``.
    ///   - heartbeat: begins at once. Default: none.
    /// - Throws: ``SocketError/Code/misuse`` while a read waits, or if the stream was handed over before;
    ///   ``SocketError/Code/invalidSetting`` for a heartbeat that can't be meant.
    public func framed<C: Codec>(with codec: C, pairing: Pairing<C>? = nil, heartbeat: Heartbeat<C> = .none) throws -> Connection<C> {
        try framed(with: codec, pairing: pairing, heartbeat: HeartbeatPlan(heartbeat))
    }

    /// As ``framed(with:pairing:heartbeat:)``; a heartbeat that isn't begun only answers the peer's pings for now.
    package func framed<C: Codec>(
        with codec: C, pairing: Pairing<C>? = nil, heartbeat: HeartbeatPlan<C>?, isBegun: Bool = true
    ) throws -> Connection<C> {
        try checkUsable()
        if let pendingRead, !pendingRead.isDone {
            throw SocketError(.misuse, "a read is waiting: the stream can't change hands in the middle of it")
        }
        isRetired = true
        outbound.retire(Self.replaced)
        let connection = Connection(over: core, codec: codec, heartbeat: heartbeat, pairing: pairing)
        connection.inbound.adopt()
        if isBegun { connection.heartbeat?.begin() }
        return connection
    }

    func checkUsable() throws {
        if isRetired { throw Self.replaced }
    }

    private static var replaced: SocketError { SocketError(.misuse, "this stream was handed over to a connection") }
}

// Writing and closing, as on a connection.
extension ByteStream {
    /// Writes `bytes`. Returns when they are accepted. Above the outbox's high mark it waits its turn, for at most `limit`, first come,
    /// first served. The bytes of one call are never mixed with others.
    ///
    /// - Throws: `CancellationError` and ``SocketError/Code/timedOut`` (phase `write`) while it waits, and nothing was written then;
    ///   ``SocketError/Code/closed`` once nothing can be written.
    public nonisolated(nonsending) func write(_ bytes: Bytes, within limit: Duration? = nil) async throws {
        guard let limit else { return try await outbound.send(bytes) }
        try await outbound.send(bytes, within: limit, on: core.loop)
    }

    /// How many bytes were accepted and are not in the kernel yet.
    public nonisolated var bytesWaiting: Int { core.outbox.waitingBytes }

    /// Waits until the kernel has taken all that was accepted before this call; see ``Connection/flush(within:)``.
    public nonisolated(nonsending) func flush(within limit: Duration? = nil) async throws {
        try await core.outbox.flushed(within: limit, on: core.loop)
    }

    /// Ends this side in good order; see ``Connection/finishSending()``.
    public func finishSending() throws {
        if !isRetired { try core.finishSending() }
    }

    /// Closes in good order; see ``Connection/close(within:)``. Bytes that weren't read are thrown away.
    @discardableResult
    public nonisolated(nonsending) func close(within limit: Duration = .seconds(5)) async -> Bool {
        await core.closeGracefully(within: limit, by: self)
    }

    /// Closes at once; see ``Connection/closeNow()``.
    public nonisolated func closeNow() {
        core.closeNowFromAnywhere(by: self)
    }
}

/// Bytes as they are.
package struct BytesEncoder: FrameEncoder {
    package static var isStateless: Bool { true }

    package init() {}

    package func encode(_ frame: Bytes, into output: inout ByteOutput) { output.append(frame) }
}

/// The one reason of an end, readable from any thread. The proof behind `@unchecked`: `value` is guarded by `lock`.
final class EndCell: @unchecked Sendable {
    private let lock = Lock()
    private var value: CloseReason?

    var reason: CloseReason? { lock.withLock { value } }

    func set(_ reason: CloseReason) {
        lock.withLock { if value == nil { value = reason } }
    }
}
