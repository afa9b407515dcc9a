public import LifelineCore

/// Whose word on a peer's certificate counts.
public struct TLSTrust: Sendable {
    /// The authorities that the system trusts.
    public static var system: TLSTrust { TLSTrust(anchors: .system) }

    /// These authorities and no others.
    ///
    /// - Parameter path: a file with certificates in PEM.
    public static func authorities(atPath path: String) -> TLSTrust { TLSTrust(anchors: .file(path)) }

    /// These authorities and no others.
    ///
    /// - Parameter pem: certificates in PEM, one behind the other.
    public static func authorities(_ pem: Bytes) -> TLSTrust { TLSTrust(anchors: .pem(pem)) }

    /// No authority, but these public keys: whoever has one of them is the peer, whatever the rest of its certificate says.
    ///
    /// - Parameter hashes: as ``TLSCertificate/publicKeyHash``.
    public static func keys(_ hashes: Set<String>) -> TLSTrust { TLSTrust(anchors: .nobody, pins: hashes) }

    /// Nobody's: any certificate passes, and everyone on the way can read and change everything. For tests, and for a
    /// ``TLSClient/Settings/verify`` that decides all by itself.
    public static var withoutVerification: TLSTrust { TLSTrust(anchors: .nobody) }

    /// As this, and one of these public keys must be the peer's, too. Of keys that were pinned before, only those count that are pinned here,
    /// too; if none is left, that is an invalid setting of the client or server.
    ///
    /// - Parameter hashes: as ``TLSCertificate/publicKeyHash``.
    public func pinned(to hashes: Set<String>) -> TLSTrust {
        TLSTrust(anchors: anchors, pins: pins.map { $0.intersection(hashes) } ?? hashes)
    }

    enum Anchors: Sendable {
        case system
        case file(String)
        case pem(Bytes)
        case nobody
    }

    let anchors: Anchors
    let pins: Set<String>?

    private init(anchors: Anchors, pins: Set<String>? = nil) {
        self.anchors = anchors
        self.pins = pins
    }
}
