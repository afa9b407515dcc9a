/// How a server behaves: its limits, and how its connections do.
public struct ServerOptions: Sendable {
    /// Where the handlers of connections run.
    public enum Handlers: Sendable, Hashable {
        /// On their connection's event loop: fastest, for handlers that wait only by `await`. One that blocks its thread blocks its loop.
        case loop
        /// On the default pool of threads: for handlers that block or compute for long.
        case pool
    }

    /// Connections at a time. One more is told so (see `tooBusy` of `Server.bind`) and closed. Default 10,000.
    public var maximumConnections = 10_000
    /// Accepted connections that wait for `run` to take them; beyond it the system's backlog holds them. Default 128.
    public var acceptQueue = 128
    /// Where handlers run. Default: on the event loops.
    public var handlers = Handlers.loop
    /// How each connection behaves, time limits for idleness and for the first frame among them.
    public var connection = ConnectionOptions()
    /// Called with what a handler throws; its connection is closed and no other is touched. Default: one line on standard error.
    public var onHandlerError: (@Sendable (any Error) -> Void)?
    /// Called when accepting fails for now, such as for lack of descriptors; it is tried again by itself. Default: one line on standard
    /// error.
    public var onAcceptError: (@Sendable (SocketError) -> Void)?

    /// The defaults.
    public init() {}
}

/// What a broadcast does about connections whose outbox is above its high mark.
public enum SlowRule: Sendable, Hashable {
    /// They don't get this frame.
    case skip
    /// They are waited for, once for all together and at most so long; who isn't below the mark then doesn't get this frame, and isn't
    /// waited for again until it has drained.
    case skipping(after: Duration)
    /// They are waited for in the same way; who isn't below the mark then is closed, with ``SocketError/Code/evicted``.
    case evict(after: Duration)
}

/// What became of a broadcast, in numbers of connections.
public struct BroadcastResult: Sendable, Hashable {
    /// The frame was accepted for sending.
    public var accepted = 0
    /// They were too slow, or had ended, and didn't get the frame.
    public var skipped = 0
    /// They were too slow and were closed.
    public var evicted = 0

    package init() {}
}
