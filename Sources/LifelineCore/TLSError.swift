/// What went wrong between two ends of TLS: the ``SocketError/cause`` of errors with the codes ``SocketError/Code/certificateRefused`` and
/// ``SocketError/Code/handshakeFailed``, and of some others. It never holds anything private.
public struct TLSError: Error, Sendable {
    /// What it was. An open set: later versions add to it, so a `switch` needs a `default`.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind's name, for logs.
        public let description: String

        /// A kind of your own, for what your own verification finds.
        public init(_ name: String) { description = name }

        // The peer's certificate, as this side sees it.
        /// It is past its time.
        public static let expired = Self("expired")
        /// Its time has yet to come.
        public static let notYetValid = Self("not yet valid")
        /// No trusted authority stands behind it; perhaps the peer has left out an intermediate certificate.
        public static let unknownIssuer = Self("unknown issuer")
        /// It is signed with its own key and not trusted itself.
        public static let selfSigned = Self("self-signed")
        /// It is for other names than the one that was asked for.
        public static let wrongHost = Self("wrong host")
        /// Its key isn't among those that are pinned.
        public static let notPinned = Self("not pinned")
        /// Its signature, or its key, is too weak, such as one made with SHA-1.
        public static let tooWeak = Self("too weak")
        /// It is for another use, such as a client's where a server's is asked for.
        public static let wrongPurpose = Self("wrong purpose")
        /// This side's own verification has refused it.
        public static let refusedByVerifier = Self("refused by the verifier")
        /// It is wrong in another way; the message says which.
        public static let invalidCertificate = Self("invalid certificate")
        /// The peer has sent none, and must.
        public static let missingCertificate = Self("missing certificate")

        // What the peer has said.
        /// It wants a certificate of this side, and there is none.
        public static let certificateRequired = Self("certificate required")
        /// It doesn't accept the certificate of this side.
        public static let refusedByPeer = Self("refused by the peer")

        // No agreement.
        /// There is no version of TLS that both speak.
        public static let noCommonVersion = Self("no common version")
        /// There is no cipher suite, or kind of key, that both have.
        public static let noCommonCipher = Self("no common cipher")
        /// There is no application protocol that both speak (ALPN).
        public static let noCommonProtocol = Self("no common protocol")
        /// The server doesn't know the name that it was asked for.
        public static let unrecognizedName = Self("unrecognized name")
        /// What came isn't TLS: the peer speaks plain text, or another protocol.
        public static let notTLS = Self("not TLS")
        /// The peer has closed the connection in the middle of the handshake.
        public static let closedInHandshake = Self("closed in the handshake")
        /// What came can't be decrypted, or isn't what the protocol allows here.
        public static let protocolError = Self("protocol error")
        /// Bytes in plain text came behind the border from which on all should be protected.
        public static let plaintextBehindBorder = Self("plain text behind the border")
    }

    /// What it was.
    public let kind: Kind
    /// The details, in words.
    public let message: String
    /// The certificate that is meant, if there is one.
    public let certificate: TLSCertificate?
    /// The alert that the peer has sent (RFC 8446, 6.2), if it was one.
    public let alert: UInt8?
    /// The error that this side's own verification has thrown, or that the connection below has ended with.
    public let cause: (any Error)?

    /// An error of a kind, such as your own verification throws.
    public init(_ kind: Kind, _ message: String, certificate: TLSCertificate? = nil) {
        self.init(kind, message, certificate: certificate, alert: nil, cause: nil)
    }

    package init(
        _ kind: Kind, _ message: String, certificate: TLSCertificate?, alert: UInt8? = nil, cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.message = message
        self.certificate = certificate
        self.alert = alert
        self.cause = cause
    }
}

extension TLSError: CustomStringConvertible {
    /// The kind, the details, and the certificate's facts.
    public var description: String {
        let text = message.isEmpty ? "\(kind)" : "\(kind): \(message)"
        return certificate.map { "\(text); \($0)" } ?? text
    }
}

extension SocketError {
    /// What TLS says about it: the ``cause`` or one behind that, if it is TLS's.
    public var tls: TLSError? {
        var cause = cause
        while let error = cause {
            if let error = error as? TLSError { return error }
            cause = (error as? SocketError)?.cause
        }
        return nil
    }
}
