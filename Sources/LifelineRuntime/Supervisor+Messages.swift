public import LifelineCore

// Reading.
extension Supervisor {
    /// The next message, waiting over reconnects as long as it takes; nil once the link was stopped in good order.
    ///
    /// As ``Connection/next()``: one call at a time, right on every executor, and a cancelled call loses nothing. If no message can be
    /// made of a frame, that is thrown in the message's place, and the connection that it came over ends with it, if it is still there.
    /// - Throws: `CancellationError`; the ``SocketError`` that stopped the link, behind the messages before it.
    @inlinable
    public nonisolated(nonsending) func next() async throws -> C.Message? {
        try await next(in: state.inbox)
    }

    /// As ``next()``, for at most `limit`.
    ///
    /// - Throws: ``SocketError/Code/timedOut`` in phase `read` at the limit; nothing is lost then.
    public nonisolated(nonsending) func next(within limit: Duration) async throws -> C.Message? {
        let inbox = state.inbox
        return try await inbox.next(within: limit, on: loop).map { try message(from: $0, in: inbox) }
    }

    /// The messages of all connections, to iterate with `for try await`.
    ///
    /// Each access makes a fresh stream over the same messages, as of a ``Connection``. It belongs to the run in which it is first read:
    /// when that is stopped, it ends behind what has arrived, in good order or with the error; a later run's messages never get into it.
    @inlinable
    public nonisolated var messages: AsyncThrowingStream<C.Message, any Error> {
        let run = RunReader(state)
        return AsyncThrowingStream { try await self.next(in: run.inbox) }
    }

    @inlinable @inline(__always)
    nonisolated(nonsending) func next(in inbox: Inbox<C.Decoder.Frame>) async throws -> C.Message? {
        try await inbox.next().map { try message(from: $0, in: inbox) }
    }

    @inlinable @inline(__always)
    nonisolated func message(from frame: C.Decoder.Frame, in inbox: Inbox<C.Decoder.Frame>) throws -> C.Message {
        do {
            return try codec.message(from: frame)
        } catch {
            throw refuse(error, in: inbox)
        }
    }

    @usableFromInline
    nonisolated func refuse(_ error: any Error, in inbox: Inbox<C.Decoder.Frame>) -> SocketError {
        let error = SocketError(decoding: error)
        state.refused(error, in: inbox)
        return error
    }

    /// A reader of its own for some of the messages, which ``messages`` doesn't get then: those that are wanted by several go to each of
    /// them, those that nobody wants to ``messages``. Only what is decoded from now on; it ends when the link stops.
    ///
    /// - Parameters:
    ///   - limit: how many unread messages it holds. Default 256; less than 1 is taken as 1.
    ///   - whenFull: what becomes of one more. By default the subscription ends with an error, so that nothing is lost in silence.
    ///   - isWanted: called on the event loop with each frame; it must be quick.
    public nonisolated func subscribe(
        upTo limit: Int = Subscription<C>.defaultLimit, whenFull: Subscription<C>.WhenFull = .end,
        where isWanted: @escaping @Sendable (C.Decoder.Frame) -> Bool
    ) -> Subscription<C> {
        let mailbox = Mailbox(limit: limit, makesRoom: whenFull == .dropOldest, isWanted: isWanted)
        subscriptions.add(mailbox)
        return Subscription(mailbox, codec: codec)
    }
}

/// Binds a stream of messages to the run in which it is first read.
///
/// The proof behind `@unchecked`: `bound` is guarded by `lock`.
@usableFromInline
final class RunReader<C: Codec>: @unchecked Sendable {
    private let state: SupervisorState<C>
    private let lock = Lock()
    private var bound: Inbox<C.Decoder.Frame>?

    @usableFromInline
    init(_ state: SupervisorState<C>) { self.state = state }

    @usableFromInline
    var inbox: Inbox<C.Decoder.Frame> {
        if let bound = lock.withLock({ bound }) { return bound }
        let present = state.inbox
        return lock.withLock {
            if let bound { return bound }
            bound = present
            return present
        }
    }
}

// Sending.
extension Supervisor {
    /// Sends `message`, over the present connection or by the rule for being offline. Returns when it is encoded and accepted, or when it
    /// is kept for the next connection.
    ///
    /// Messages that wait already go first. A message that was accepted is never sent again on another connection.
    /// - Parameter timeToLive: so long it may wait unencoded. Default nil: as long as it takes.
    /// - Throws: `CancellationError` when cancelled while it waits, and it won't be sent then; ``SocketError/Code/offline`` and
    ///   ``SocketError/Code/queueFull`` by the rule; ``SocketError/Code/expired``, ``SocketError/Code/superseded``;
    ///   ``SocketError/Code/closed`` once the link was stopped; what the encoder throws.
    public nonisolated(nonsending) func send(_ message: C.Outgoing, timeToLive: Duration? = nil) async throws {
        try await state.send(frame(for: message), of: message, within: timeToLive)
    }

    /// Hands `message` over without waiting, and follows it: see ``SendReceipt``.
    ///
    /// Without a connection, or while the present one has no room, it is kept by the rule. Its receipt tells if that refuses it.
    /// - Parameter timeToLive: so long it may wait unencoded. Default nil: as long as it takes.
    /// - Throws: what the codec throws when it makes a frame of it.
    public nonisolated func post(_ message: C.Outgoing, timeToLive: Duration? = nil) throws -> SendReceipt {
        try state.post(frame(for: message), of: message, within: timeToLive)
    }

    /// Sends `message` as a request over the present connection and returns the answer to it: see ``Connection/request(_:within:)``.
    ///
    /// It isn't kept for a later connection, nor sent again on one, and doesn't wait behind messages that wait for their turn.
    /// - Parameter limit: the time for everything; zero and less have run out at once. Nil for no limit.
    /// - Throws: ``SocketError/Code/offline`` without a connection, ``SocketError/Code/closed`` once the link was stopped; otherwise as on
    ///   a connection: ``SocketError/Code/closed`` with the reason when that ends.
    public nonisolated(nonsending) func request(_ message: C.Outgoing, within limit: Duration?) async throws -> C.Message {
        let link = try state.present()
        defer { withExtendedLifetime(link) {} }
        return try await link.request(message, within: limit)
    }

    /// How many messages wait, unencoded, for a connection or for their turn.
    public nonisolated var waitingMessages: Int { state.waitingMessages }

    private nonisolated func frame(for message: C.Outgoing) throws -> C.Encoder.Frame {
        do {
            return try codec.frame(for: message)
        } catch {
            throw SocketError(encoding: error)
        }
    }
}
