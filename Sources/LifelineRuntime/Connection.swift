public import LifelineCore

/// One live connection that speaks in frames.
///
/// An actor on the event loop that its bytes arrive on. Frames come out of ``next()``, ``messages`` or ``batches``, one reader at a
/// time; they go in by ``send(_:)`` from any number of tasks. It ends once, with one ``closeReason``; frames decoded before the end are
/// delivered before the end is.
///
/// When the last reference goes, what was sent is offered to the kernel once more and the connection is closed. ``messages`` and
/// ``batches`` keep it alive.
public final actor Connection<C: Codec> {
    /// What arrives.
    public typealias Message = C.Message
    /// What is sent.
    public typealias Outgoing = C.Outgoing

    @usableFromInline nonisolated let inbox: Inbox<C.Decoder.Frame>
    @usableFromInline nonisolated let outbound: Outbound<C.Encoder>
    nonisolated package let core: StreamCore
    @usableFromInline nonisolated let codec: C

    nonisolated let inbound: Inbound<C.Decoder>
    /// Nil if there is none.
    nonisolated package let heartbeat: HeartbeatDriver<C>?
    /// Nil if the connection was made without a pairing.
    nonisolated let requests: (any RequestDesk<C>)?

    /// The event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { core.loop.asUnownedSerialExecutor() }

    /// A connection over a stream that nobody owns, or whose owner gives it up.
    ///
    /// - Parameter earlier: an inbox that its frames will follow in the end; what room that has left is this one's.
    package init(
        over core: StreamCore, codec: C, following earlier: Inbox<C.Decoder.Frame>? = nil, heartbeat: HeartbeatPlan<C>? = nil,
        pairing: Pairing<C>? = nil
    ) {
        self.init(
            core, codec, Inbound(core: core, decoder: codec.makeDecoder(), following: earlier),
            Outbound(outbox: core.outbox, encoder: codec.makeEncoder()), heartbeat, pairing)
    }

    /// A connection that fills `inbox`, in which the frames of several connections stand one behind the other. On the loop.
    package init(
        over core: StreamCore, codec: C, filling inbox: Inbox<C.Decoder.Frame>, heartbeat: HeartbeatPlan<C>? = nil,
        pairing: Pairing<C>? = nil
    ) {
        self.init(
            core, codec, Inbound(core: core, decoder: codec.makeDecoder(), filling: inbox),
            Outbound(outbox: core.outbox, encoder: codec.makeEncoder()), heartbeat, pairing)
    }

    /// As above, with the codec's state that `old` has come to, whose sends throw `error` from now on. ``succeed(_:_:)`` has to follow.
    package init(
        succeeding old: Connection<C>, filling inbox: Inbox<C.Decoder.Frame>, heartbeat: HeartbeatPlan<C>? = nil,
        pairing: Pairing<C>? = nil, _ error: SocketError
    ) {
        self.init(
            old.core, old.codec, Inbound(core: old.core, decoder: old.inbound.decoder, filling: inbox),
            Outbound(succeeding: old.outbound, error), heartbeat, pairing)
    }

    private init(
        _ core: StreamCore, _ codec: C, _ inbound: Inbound<C.Decoder>, _ outbound: Outbound<C.Encoder>, _ heartbeat: HeartbeatPlan<C>?,
        _ pairing: Pairing<C>?
    ) {
        self.core = core
        self.codec = codec
        let driver = heartbeat.map { HeartbeatDriver($0, codec: codec, core: core, outbound: outbound) }
        if let driver { inbound.add(driver) }
        self.inbound = inbound
        inbox = inbound.inbox
        self.outbound = outbound
        self.heartbeat = driver
        requests = pairing?.rule.makeDesk(inbound, outbound)
        core.loop.join()
    }

    /// Takes over the stream of `old`, with what has arrived and nobody has read, the requests that were given up but may still be
    /// answered, and the answers to pings that the kernel hasn't taken. That one throws `error` from now on.
    package nonisolated func succeed(_ old: Connection<C>, _ error: SocketError) {
        inbound.succeed(old.inbound, error) {
            if let requests, let earlier = old.requests { requests.succeed(earlier, error) }
            if let heartbeat, let earlier = old.heartbeat { heartbeat.succeed(earlier) }
        }
    }

    isolated deinit {
        if !inbound.isRetired { core.abandon() }
        core.loop.leave()
    }

    /// Why the connection, or at least its reading, has ended; nil while it lives. Once set it never changes, and it is set before a
    /// reader sees the end. After `.closedByPeer` this side may still send.
    public nonisolated var closeReason: CloseReason? { inbox.reason }

    /// Facts about the connection, also after its end.
    public var info: ConnectionInfo {
        var info = core.info
        info.requests = requests?.counts
        return info
    }
}

// Reading.
extension Connection {
    /// The next message; nil after a clean end (``CloseReason/isClean``). Waits as long as it takes: see ``next(within:)``.
    ///
    /// Right on the event loop and on any other executor. A frame that is there already is returned without suspending. One call at a
    /// time: a second one while the first waits throws ``SocketError/Code/misuse``; calls one after another from different tasks are a
    /// hand-over. A cancelled call loses no frame.
    ///
    /// What the codec does to make a message of a frame (``Codec/message(from:)``) is done here, in the calling task. If it fails, that
    /// is thrown in the message's place, the connection ends with it, and what had arrived behind it is dropped.
    /// - Throws: `CancellationError`, or the ``SocketError`` that ended the connection, after the frames before it.
    @inlinable
    public nonisolated(nonsending) func next() async throws -> C.Message? {
        // As `Inbox.next`, written out: the fast path becomes the caller's, and the slow one has a frame less on the task's stack.
        switch inbox.take() {
        case .frame(let frame): return try message(from: frame)
        case .nothing: return try await inbox.wait(inbox.newWaiterID()).map { try message(from: $0) }
        case .ended(let reason):
            if let error = reason.error { throw error }
            return nil
        case .busy: throw Inbox<C.Decoder.Frame>.secondReader
        }
    }

    /// As ``next()``, for at most `limit`.
    ///
    /// - Throws: ``SocketError/Code/timedOut`` in phase `read` at the limit; the connection stays usable and no frame is lost.
    public nonisolated(nonsending) func next(within limit: Duration) async throws -> C.Message? {
        try await inbox.next(within: limit, on: core.loop).map { try message(from: $0) }
    }

    /// The messages, to iterate with `for try await`.
    ///
    /// Each access makes a fresh stream over the same messages: what one loop has left, a later one gets. When the reader stops, reading
    /// pauses at the inbox's high mark, and the peer has to wait. Ends after a clean end, or when the iterating task was cancelled
    /// between two frames; ``closeReason`` tells these apart. Throws the error that ended the connection otherwise.
    @inlinable
    public nonisolated var messages: AsyncThrowingStream<C.Message, any Error> {
        // Inlined, so that the closure specialises in the user's module.
        AsyncThrowingStream { try await self.next() }
    }

    /// The messages in the portions in which they arrived: all that are there at a time, at least one. Otherwise as ``messages``.
    public nonisolated var batches: AsyncThrowingStream<[C.Message], any Error> {
        AsyncThrowingStream { try await self.inbox.nextBatch().map { try self.messages(from: $0) } }
    }
}

// Sending.
extension Connection {
    /// Sends `message`. Returns when it is encoded and accepted, which says nothing about the peer: use ``flush(within:)`` to wait for
    /// the kernel and ``close(within:)`` or an answer of your protocol to know that the peer has read it.
    ///
    /// The codec makes a frame of it at once (``Codec/frame(for:)``), in the calling task.
    /// Above the outbox's high mark it waits its turn, first come, first served, and encodes after that; a frame is never cut, and
    /// frames of different tasks are never mixed. Frames sent in one turn of the event loop leave in one system call.
    /// - Throws: `CancellationError` when cancelled while it waits, and nothing was encoded then; ``SocketError/Code/closed`` once
    ///   nothing can be sent; what the encoder throws, and nothing of the frame is sent then.
    @inlinable
    public nonisolated(nonsending) func send(_ message: C.Outgoing) async throws {
        try await outbound.send(frame(for: message))
    }

    /// As ``send(_:)``, waiting for at most `limit`.
    ///
    /// - Throws: ``SocketError/Code/timedOut`` in phase `write` at the limit; nothing was encoded then.
    public nonisolated(nonsending) func send(_ message: C.Outgoing, within limit: Duration) async throws {
        try await outbound.send(frame(for: message), within: limit, on: core.loop)
    }

    /// Waits until the kernel has taken all that was accepted before this call.
    ///
    /// - Throws: ``SocketError/Code/timedOut`` in phase `write` at the limit, and nothing is lost then; ``SocketError/Code/closed`` if
    ///   the connection ends before; `CancellationError`.
    public nonisolated(nonsending) func flush(within limit: Duration? = nil) async throws {
        try await core.outbox.flushed(within: limit, on: core.loop)
    }

    /// Ends this side in good order: the peer sees the end behind the last frame and may go on sending. Sends throw from now on.
    ///
    /// The connection ends when the peer ends its side, too.
    ///
    /// - Throws: ``SocketError/Code/unsupported`` with TLS 1.2, where the end of one direction is the end of both; nothing has happened then.
    public func finishSending() throws {
        if !inbound.isRetired { try core.finishSending() }
    }

    /// Closes in good order: sends what was accepted, ends this side, and reads on (throwing the bytes away) until the peer has ended
    /// its side, for at most `limit`. Frames that were decoded before stay readable. Calling it again is harmless, and can only shorten
    /// the wait.
    ///
    /// A cancelled call closes at once.
    /// - Returns: true if both sides have ended in good order; the peer has seen everything then, unless it had ended its own side before
    ///   (see ``closeReason``) and may have left since. False if the limit or a failure came first.
    @discardableResult
    public nonisolated(nonsending) func close(within limit: Duration = .seconds(5)) async -> Bool {
        await core.closeGracefully(within: limit, by: inbound)
    }

    /// Closes at once. What the kernel hasn't taken yet is lost, and the peer is told so by a reset. Returns before it is done; calling
    /// it again is harmless.
    public nonisolated func closeNow() {
        core.closeNowFromAnywhere(by: inbound)
    }
}
