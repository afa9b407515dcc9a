/// Why a link is offline. Set before anyone is told that it is.
public indirect enum OfflineReason: Sendable, Equatable {
    /// The application stopped it.
    case byUser(StopReason)
    /// The server closed the connection in good order.
    case byServer
    /// The way to the server is gone: reset, unreachable, name unknown, cut off inside a frame, or nothing was acknowledged for as long as
    /// the system tries.
    case networkGone(SocketError)
    /// A time limit ran out; the phase says which.
    case timedOut(SocketError.Phase, SocketError)
    /// The peer didn't answer in time, though nothing has failed.
    case heartbeatMissed(SocketError)
    /// The server doesn't want this client any more: logged in elsewhere, banned, told not to come back.
    case kicked(SocketError)
    /// Nobody listens, or the server is too busy.
    case refused(SocketError)
    /// The registration failed: wrong credentials, for instance. An error of your own that it threw is the cause.
    case loginRefused(SocketError)
    /// The peer sent what the codec can't accept.
    case protocolViolation(SocketError)
    /// TLS couldn't be agreed on, or the server's certificate wasn't accepted.
    case tls(SocketError)
    /// Anything else.
    case failed(SocketError)
    /// The reconnect policy allows no further attempt; the last reason says why one would have been needed.
    case gaveUp(attempts: Int, last: OfflineReason)

    /// The error behind it; nil after an end in good order. For ``gaveUp(attempts:last:)`` the last attempt's.
    public var error: SocketError? {
        switch self {
        case .byUser, .byServer: nil
        case .networkGone(let error), .timedOut(_, let error), .heartbeatMissed(let error), .kicked(let error), .refused(let error),
            .loginRefused(let error), .protocolViolation(let error), .tls(let error), .failed(let error):
            error
        case .gaveUp(_, let last): last.error
        }
    }

    /// Whether connecting again may help. It can't after a stop, a kick, refused credentials, a certificate that wasn't accepted or a
    /// violation of the protocol. This is what a ``ReconnectPolicy`` goes by unless it is told otherwise.
    public var mayRetry: Bool {
        switch self {
        case .byUser, .kicked, .loginRefused, .protocolViolation, .gaveUp: false
        case .byServer, .timedOut, .heartbeatMissed, .refused: true
        case .networkGone(let error), .tls(let error), .failed(let error): CloseReason.failed(error).mayRetry
        }
    }
}

extension OfflineReason {
    /// Why a connection's end takes the link offline.
    package init(_ reason: CloseReason) {
        switch reason {
        case .closedByPeer, .shuttingDown: self = .byServer
        case .closedHere: self = .failed(SocketError(.closed, "this side closed the connection"))
        // No limit of ours: the kernel has sent again and again, and nothing was acknowledged.
        case .failed(let error) where error.code == .timedOut && error.phase == nil: self = .networkGone(error)
        case .failed(let error): self.init(error)
        }
    }

    /// Why an error, of dialling or of a connection, takes the link offline.
    package init(_ error: SocketError) {
        // Of several addresses that failed, the last one's failure tells the kind.
        let kind = error.code == .allAddressesFailed ? error.cause as? SocketError ?? error : error
        switch kind.code {
        case .timedOut: self = .timedOut(kind.phase ?? .connect, error)
        case .heartbeatMissed: self = .heartbeatMissed(error)
        case .kicked: self = .kicked(error)
        case .loginRefused: self = .loginRefused(error)
        case .refused, .tooBusy: self = .refused(error)
        case .reset, .unreachable, .unknownHost, .allAddressesFailed, .closed, .truncated, .system: self = .networkGone(error)
        case .protocolViolation, .frameTooLarge, .invalidBody, .invalidEncoding: self = .protocolViolation(error)
        case .certificateRefused, .handshakeFailed: self = .tls(error)
        default: self = .failed(error)
        }
    }
}

extension OfflineReason: CustomStringConvertible {
    /// The reason in words, with the error's if there is one.
    public var description: String {
        switch self {
        case .byUser(let reason): "\(reason)"
        case .byServer: "closed by the server"
        case .gaveUp(let attempts, let last): "gave up after \(attempts) \(attempts == 1 ? "attempt" : "attempts"): \(last)"
        case .networkGone(let error), .timedOut(_, let error), .heartbeatMissed(let error), .kicked(let error), .refused(let error),
            .loginRefused(let error), .protocolViolation(let error), .tls(let error), .failed(let error):
            "\(error)"
        }
    }
}
