import CLifelineTLS
import COpenSSL
import LifelineCore

extension TLSTrust {
    /// What a trust comes to: read once, used by all contexts.
    struct Resolved: Sendable {
        /// Nil: nobody's word counts.
        let store: CertificateStore?
        /// The authorities that were named.
        let authorities: [X509Certificate]
        let pins: Set<String>?
    }

    /// Reads the authorities.
    func resolved() throws(SocketError) -> Resolved {
        if let pins { try TLSTrust.check(pins) }
        switch anchors {
        case .nobody: return Resolved(store: nil, authorities: [], pins: pins)
        case .system: return Resolved(store: try CertificateStore(), authorities: [], pins: pins)
        case .file(let path): return try named(.file(path))
        case .pem(let bytes): return try named(.bytes(bytes))
        }
    }

    private func named(_ text: PEM) throws(SocketError) -> Resolved {
        let authorities = try text.certificates()
        return Resolved(store: try CertificateStore(authorities), authorities: authorities, pins: pins)
    }

    /// A hash that can't be one would refuse everybody, and nobody would know why.
    private static func check(_ pins: Set<String>) throws(SocketError) {
        guard !pins.isEmpty else { throw SocketError(.invalidSetting, "no key is pinned, or none by both of two sets, so none could pass") }
        for pin in pins where !isHash(pin) {
            throw SocketError(.invalidSetting, "“\(pin)” isn't the SHA-256 of a public key in Base64")
        }
    }

    private static func isHash(_ text: String) -> Bool {
        let digits = Array(text.utf8)
        // 32 bytes: 43 digits, the last of which stands for four bits, and one sign that fills up.
        guard digits.count == 44, digits[43] == UInt8(ascii: "="), "AEIMQUYcgkosw048".utf8.contains(digits[42]) else { return false }
        return digits.prefix(43).allSatisfy { digit in
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }
}

/// Authorities that are trusted.
final class CertificateStore: @unchecked Sendable {  // Only looked up in once it is made, which OpenSSL guards by a lock of its own.
    let pointer: OpaquePointer

    /// Those of the system, where OpenSSL was built to look for them; `SSL_CERT_FILE` and `SSL_CERT_DIR` name other places.
    init() throws(SocketError) {
        pointer = try CertificateStore.make()
        guard X509_STORE_set_default_paths(pointer) == 1 else { throw .invalidSetting("the system's authorities can't be read") }
        // A place that isn't there is no error; then nobody is trusted.
        ERR_clear_error()
    }

    init(_ authorities: [X509Certificate]) throws(SocketError) {
        pointer = try CertificateStore.make()
        for authority in authorities {
            guard X509_STORE_add_cert(pointer, authority.pointer) == 1 else { throw .invalidSetting("an authority can't be used") }
        }
        llt_store_trust_partial_chains(pointer)
    }

    deinit { X509_STORE_free(pointer) }

    private static func make() throws(SocketError) -> OpaquePointer {
        guard let pointer = X509_STORE_new() else { throw .noMemory }
        return pointer
    }
}
