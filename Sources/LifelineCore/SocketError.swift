/// What went wrong with a connection, a listener or a frame.
///
/// Tell causes apart by ``code`` (and ``phase`` for time limits), never by the text. A cancelled call throws `CancellationError`
/// instead.
public struct SocketError: Error, Sendable {
    /// The kind of a failure. An open set: later versions add to it, so a `switch` needs a `default`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, for logs.
        public let description: String

        /// A kind of your own.
        public init(_ name: String) { description = name }
    }

    /// The part of a connection's life that a time limit was set on.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Looking up a name.
        case resolve
        /// Connecting, with the look-up unless it has a limit of its own.
        case connect
        /// Agreeing on TLS, this side's own verdict on the peer's certificate included.
        case handshake
        /// Waiting for the first frame: ``ConnectionOptions/firstFrameLimit``.
        case firstFrame
        /// Waiting for the rest of a frame: ``ConnectionOptions/unfinishedFrameLimit``.
        case frame
        /// One call that reads.
        case read
        /// One call that writes, or the peer takes nothing: ``ConnectionOptions/writeLimit``.
        case write
        /// Waiting for any byte: ``ConnectionOptions/idleLimit``.
        case idle
        /// Waiting for this side's end after the peer's: ``ConnectionOptions/halfOpenLimit``.
        case halfOpen
        /// Closing in good order.
        case close
        /// Shutting a server down.
        case shutdown
        /// Registering on a new connection, in a supervisor.
        case registration
        /// Waiting for the answer to a request that was sent: `Connection.request(_:within:)`.
        case answer

        package var words: String {
            switch self {
            case .resolve: "looking up the name"
            case .connect: "connecting"
            case .handshake: "in the TLS handshake"
            case .firstFrame: "waiting for the first frame"
            case .frame: "waiting for the rest of a frame"
            case .read: "reading"
            case .write: "writing"
            case .idle: "waiting for any byte"
            case .halfOpen: "waiting for this side's end"
            case .close: "closing"
            case .shutdown: "shutting down"
            case .registration: "registering"
            case .answer: "waiting for the answer"
            }
        }
    }

    /// The facts, in one block: an error travels through every state and queue, so it has the size of a pointer.
    private final class Facts: Sendable {
        let code: Code
        let text: Text
        let errno: Int32?
        let phase: Phase?
        let pending: PendingFrame?
        let cause: (any Error)?

        init(code: Code, text: Text, errno: Int32? = nil, phase: Phase? = nil, pending: PendingFrame? = nil, cause: (any Error)? = nil) {
            self.code = code
            self.text = text
            self.errno = errno
            self.phase = phase
            self.pending = pending
            self.cause = cause
        }
    }

    /// Words are put together when somebody reads them: most time limits never run out.
    private enum Text: Sendable {
        case words(String)
        case limit(Phase, Duration, detail: String)
    }

    private let facts: Facts

    /// The kind of failure.
    public var code: Code { facts.code }
    /// The system's error number, where the system reported one.
    public var errno: Int32? { facts.errno }
    /// For ``Code/timedOut``: which limit.
    public var phase: Phase? { facts.phase }
    /// For ``Code/truncated``, and for ``Code/timedOut`` in phase `frame`: how much of the frame had arrived.
    public var pending: PendingFrame? { facts.pending }
    /// What caused this, such as the error that a codec of yours threw.
    public var cause: (any Error)? { facts.cause }

    /// What happened, in words.
    public var message: String {
        switch facts.text {
        case .words(let words): words
        case .limit(let phase, let limit, let detail): "timed out after \(limit) \(phase.words)\(detail.isEmpty ? "" : ": \(detail)")"
        }
    }

    /// An error of a kind.
    public init(_ code: Code, _ message: String, errno: Int32? = nil, cause: (any Error)? = nil) {
        facts = Facts(code: code, text: .words(message), errno: errno, cause: cause)
    }

    @usableFromInline
    init(_ code: Code, _ message: String, pending: PendingFrame?) {
        facts = Facts(code: code, text: .words(message), pending: pending)
    }

    package init(timedOut phase: Phase, after limit: Duration, detail: String = "", pending: PendingFrame? = nil) {
        facts = Facts(code: .timedOut, text: .limit(phase, limit, detail: detail), phase: phase, pending: pending)
    }
}

extension SocketError.Code {
    // Never connected.
    /// Nobody listens at the address.
    public static let refused = Self("refused")
    /// The name isn't known, or it has no address.
    public static let unknownHost = Self("unknown host")
    /// There is no way to the address.
    public static let unreachable = Self("unreachable")
    /// Every address of a name failed; the cause is the last failure and the message lists them all.
    public static let allAddressesFailed = Self("all addresses failed")
    /// The network can't serve this kind of endpoint.
    public static let unsupportedEndpoint = Self("unsupported endpoint")
    /// An endpoint that can't be understood or used: bad text, a path that is too long, no such interface.
    public static let invalidEndpoint = Self("invalid endpoint")

    // Listening.
    /// The address or path is taken, or something that isn't a stale socket stands at the path.
    public static let addressInUse = Self("address in use")
    /// The system doesn't allow it.
    public static let notPermitted = Self("not permitted")
    /// The server holds as many connections as it may.
    public static let tooBusy = Self("too busy")

    // The end of a connection.
    /// The connection, or this direction of it, has ended.
    public static let closed = Self("closed")
    /// The peer, or the path to it, ended the connection abruptly.
    public static let reset = Self("reset")
    /// A time limit ran out; ``SocketError/phase`` says which.
    public static let timedOut = Self("timed out")
    /// The peer didn't answer the heartbeat.
    public static let heartbeatMissed = Self("heartbeat missed")
    /// The peer sent what the codec can't accept.
    public static let protocolViolation = Self("protocol violation")
    /// A frame is, or says it is, larger than the limit.
    public static let frameTooLarge = Self("frame too large")
    /// The peer's stream ended inside a frame; or, where TLS should have said so, it ended without a word, and nothing proves that all has
    /// arrived.
    public static let truncated = Self("truncated frame")
    /// A frame arrived whole, and its body isn't what it should be; the cause says why.
    public static let invalidBody = Self("invalid body")
    /// Text that isn't in the promised encoding.
    public static let invalidEncoding = Self("invalid encoding")
    /// The connection didn't keep up with what was sent to it and was ended by rule.
    public static let evicted = Self("evicted")
    /// The server is shutting down.
    public static let shuttingDown = Self("shutting down")
    /// The server doesn't want this client any more, as when it has logged in elsewhere.
    public static let kicked = Self("kicked")

    // A link that is kept up.
    /// The registration failed; the cause says why where it isn't one of these errors.
    public static let loginRefused = Self("login refused")
    /// A certificate wasn't accepted: the peer's by this side, or this side's by the peer. ``SocketError/tls`` says why.
    public static let certificateRefused = Self("certificate refused")
    /// TLS, or the upgrade to another protocol, couldn't be agreed on. For TLS ``SocketError/tls`` says why.
    public static let handshakeFailed = Self("handshake failed")
    /// The reconnect policy allowed no further attempt; the cause is the last one's error.
    public static let gaveUp = Self("gave up")
    /// There is no connection now, and the rule for that is to fail.
    public static let offline = Self("offline")
    /// As many messages wait for the connection as may.
    public static let queueFull = Self("queue full")
    /// A message waited for longer than it was good for.
    public static let expired = Self("expired")
    /// A message was taken back before it was sent.
    public static let withdrawn = Self("withdrawn")
    /// A newer message took the place of this one before it was sent.
    public static let superseded = Self("superseded")

    // The caller.
    /// The call isn't allowed in this state, such as a second `next()` while one waits.
    public static let misuse = Self("misuse")
    /// What was asked for doesn't exist in the protocol that this connection speaks, such as half-closing with TLS 1.2.
    public static let unsupported = Self("unsupported")
    /// A setting that can't be meant, such as a period of zero.
    public static let invalidSetting = Self("invalid setting")
    /// As many requests as may be, or as there are ids, wait for their answers on one connection.
    public static let tooManyRequests = Self("too many requests")
    /// An outgoing value that the codec can't put into a frame.
    public static let unencodable = Self("unencodable")
    /// The process or system is out of descriptors or memory.
    public static let resourcesExhausted = Self("resources exhausted")
    /// Another failure that the system reported; see ``SocketError/errno``.
    public static let system = Self("system")
}

extension SocketError: CustomStringConvertible {
    /// The code, what happened, and the error number and cause where there are any. A cause's own words, which may quote a peer at any
    /// length, are cut off behind a thousand characters.
    public var description: String {
        var text = "\(code): \(message)"
        if let errno { text += " (errno \(errno))" }
        if let cause {
            let words = String(describing: cause).unicodeScalars
            text += " <- "
            text.unicodeScalars.append(contentsOf: words.prefix(1000))
            if words.dropFirst(1000).first != nil { text += "…" }
        }
        return text
    }
}

extension SocketError: Equatable {
    /// Equal kind, phase and error number; words and causes are not compared.
    public static func == (left: SocketError, right: SocketError) -> Bool {
        left.code == right.code && left.phase == right.phase && left.errno == right.errno
    }
}

extension SocketError {
    /// `error` as it is if it is one of ours, else wrapped: a codec's own errors are violations of its protocol.
    package init(decoding error: any Error) {
        self = error as? SocketError ?? SocketError(.protocolViolation, "the decoder refused what the peer sent", cause: error)
    }

    @usableFromInline
    package init(encoding error: any Error) {
        self = error as? SocketError ?? SocketError(.unencodable, "the encoder refused the frame", cause: error)
    }
}
