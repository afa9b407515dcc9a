import CLifelineTLS
import COpenSSL
import LifelineCore

/// OpenSSL's context: what all connections of a kind have in common.
final class TLSContext: @unchecked Sendable {  // Not changed once it is made, which is what OpenSSL asks of contexts that threads share.
    let pointer: OpaquePointer

    init(isServer: Bool, minimumVersion: TLSVersion, cipherSuites: [String]) throws(SocketError) {
        ERR_clear_error()
        guard let pointer = llt_context_new(isServer, Int32(minimumVersion.rawValue)) else {
            throw .invalidSetting("OpenSSL can't be set up")
        }
        self.pointer = pointer
        try TLSContext.choose(cipherSuites, in: pointer)
    }

    deinit { SSL_CTX_free(pointer) }

    /// The newest version that is spoken. To be called before the context is used.
    func limit(to version: TLSVersion) {
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, version.rawValue, nil)
    }

    /// To be called before the context is used.
    func use(_ identity: TLSIdentity) throws(SocketError) {
        let rest = identity.chain.dropFirst().map { Optional($0.pointer) }
        guard llt_context_use(pointer, identity.chain[0].pointer, identity.key.pointer, rest, rest.count) else {
            throw .invalidSetting("the certificate of \(identity.certificate.subject) can't be used")
        }
    }

    /// To be called before the context is used.
    func trust(_ trust: TLSTrust.Resolved, _ verification: llt_verification) {
        if let store = trust.store { SSL_CTX_set1_cert_store(pointer, store.pointer) }
        llt_context_verify(pointer, verification)
        if trust.pins != nil { TLSHandle.checkPinsInHandshake(on: pointer) }
    }

    private static func choose(_ names: [String], in context: OpaquePointer) throws(SocketError) {
        guard !names.isEmpty else { return }
        var older: [String] = []
        var newer: [String] = []
        // Looking for a suite needs a context with all of them.
        guard let scratch = llt_context_new(false, Int32(TLSVersion.tls12.rawValue)) else { throw .noMemory }
        defer { SSL_CTX_free(scratch) }
        for name in names {
            guard !name.utf8.contains(0), let cipher = llt_context_find_cipher(scratch, name), let known = SSL_CIPHER_get_name(cipher)
            else {
                ERR_clear_error()
                throw SocketError(.invalidSetting, "the cipher suite “\(name)” isn't known")
            }
            if llt_cipher_is_tls13(cipher) { newer.append(String(cString: known)) } else { older.append(String(cString: known)) }
        }
        let isTaken =
            (older.isEmpty || SSL_CTX_set_cipher_list(context, older.joined(separator: ":")) == 1)
            && (newer.isEmpty || SSL_CTX_set_ciphersuites(context, newer.joined(separator: ":")) == 1)
        guard isTaken else { throw .invalidSetting("these cipher suites can't be used") }
    }
}
