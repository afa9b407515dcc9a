import CLifelineSystem
import LifelineCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

// The one place where the system's error numbers become kinds of failures.
extension SocketError {
    /// What the system reported while `doing`, which the message begins with. The number is kept.
    init(errno number: Int32, _ doing: String) {
        self.init(Self.code(for: number), "\(doing): \(Self.words(for: number))", errno: number)
    }

    private static func code(for number: Int32) -> Code {
        switch number {
        case ECONNREFUSED: .refused
        case ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN, ESHUTDOWN: .reset
        case ETIMEDOUT: .timedOut
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: .unreachable
        case EADDRINUSE: .addressInUse
        case EACCES, EPERM: .notPermitted
        case EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC: .resourcesExhausted
        case ENAMETOOLONG, ENODEV, ENOTDIR, ELOOP: .invalidEndpoint
        case EAFNOSUPPORT, EPROTONOSUPPORT: .unsupportedEndpoint
        default: .system
        }
    }

    static func words(for number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            lls_error_text(number, start, buffer.count)
            return String(cString: start)
        }
    }
}

/// What the system's resolver said about a name; the cause of a ``SocketError`` with ``SocketError/Code/unknownHost``.
public struct ResolverFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The resolver's code, one of the C library's `EAI_…`.
    public let code: Int32
    /// Whether the same question may have an answer later: the name server wasn't reached.
    public var isTemporary: Bool { code == EAI_AGAIN }
    /// The code in words.
    public var description: String { "\(String(cString: lls_resolver_text(code))) (resolver code \(code))" }

    package init(code: Int32) { self.code = code }
}
