/// Why a connection has ended. Each connection ends once, with one reason: the first that held.
public enum CloseReason: Sendable, Equatable {
    /// This side closed it.
    case closedHere
    /// The peer closed it, or its side of it, at a frame border.
    case closedByPeer
    /// The server that it belongs to is shutting down.
    case shuttingDown
    /// Anything else; the error says what.
    case failed(SocketError)

    /// Whether readers see an ordinary end (`next()` gives nil) instead of an error.
    public var isClean: Bool {
        if case .failed = self { false } else { true }
    }

    /// The error, if the end wasn't clean.
    public var error: SocketError? {
        if case .failed(let error) = self { error } else { nil }
    }

    /// Whether connecting again may help: not after an end of this side's choice, a violation of the protocol, a kick, refused credentials
    /// or a certificate that wasn't accepted.
    public var mayRetry: Bool {
        switch self {
        case .closedHere, .shuttingDown: false
        case .closedByPeer: true
        case .failed(let error):
            switch error.code {
            case .protocolViolation, .frameTooLarge, .invalidEncoding, .invalidBody, .unencodable, .misuse, .invalidSetting, .unsupported,
                .unsupportedEndpoint, .invalidEndpoint, .notPermitted, .kicked, .loginRefused, .certificateRefused, .gaveUp:
                false
            default: true
            }
        }
    }
}

extension CloseReason: CustomStringConvertible {
    /// The reason in words, with the error's if there is one.
    public var description: String {
        switch self {
        case .closedHere: "closed here"
        case .closedByPeer: "closed by peer"
        case .shuttingDown: "shutting down"
        case .failed(let error): "\(error)"
        }
    }
}
