/// What was agreed on with a peer by TLS.
public struct TLSInfo: Sendable, Hashable {
    /// How the peer has ended its side.
    public enum PeerEnd: Sendable, Hashable {
        /// Not yet.
        case none
        /// By close_notify (RFC 8446, 6.1): all that it sent has arrived.
        case closeNotify
        /// TCP has ended without it: somebody on the way may have cut off the rest. Where the framing doesn't prove that nothing is missing,
        /// that is an error, ``SocketError/Code/truncated``.
        case unannounced
    }

    /// The version.
    public let version: TLSVersion
    /// The cipher suite, by its name in the standard, such as `TLS_AES_128_GCM_SHA256`.
    public let cipherSuite: String
    /// The application protocol that was agreed on (ALPN, RFC 7301); nil if none was.
    public let applicationProtocol: String?
    /// The server's name as the client has asked for it (SNI, RFC 6066); nil if it hasn't.
    public let serverName: String?
    /// Whether an earlier session was gone on with, which saves certificates and a round trip.
    public let isResumed: Bool
    /// The peer's certificate and behind it those that lead to its authority, in the order in which they were sent. Empty for a client
    /// without one. A server sees only the first in a session that was resumed.
    public let peerCertificates: [TLSCertificate]
    /// How the peer has ended its side.
    public let peerEnd: PeerEnd

    package init(
        version: TLSVersion, cipherSuite: String, applicationProtocol: String?, serverName: String?, isResumed: Bool,
        peerCertificates: [TLSCertificate], peerEnd: PeerEnd
    ) {
        self.version = version
        self.cipherSuite = cipherSuite
        self.applicationProtocol = applicationProtocol
        self.serverName = serverName
        self.isResumed = isResumed
        self.peerCertificates = peerCertificates
        self.peerEnd = peerEnd
    }
}

/// A version of TLS. Older ones are broken (RFC 8996) and not spoken.
public enum TLSVersion: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    /// RFC 5246.
    case tls12 = 0x0303
    /// RFC 8446.
    case tls13 = 0x0304

    /// Whether `left` is the older one.
    public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }

    /// Such as “TLS 1.3”.
    public var description: String {
        switch self {
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }
}
