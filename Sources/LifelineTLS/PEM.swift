import CLifelineTLS
import COpenSSL
import LifelineCore

/// Text in PEM, in a file or in memory.
enum PEM {
    case file(String)
    case bytes(Bytes)

    /// For errors: never the text itself.
    var description: String {
        switch self {
        case .file(let path): "“\(path)”"
        case .bytes: "the bytes given"
        }
    }

    /// The certificates, in their order; at least one. What else stands there, such as keys, is passed over.
    func certificates() throws(SocketError) -> [X509Certificate] {
        try read { (bio) throws(SocketError) in
            var certificates: [X509Certificate] = []
            while let pointer = llt_read_certificate(bio) { certificates.append(X509Certificate(owning: pointer)) }
            let reason = ERR_peek_last_error()
            guard !certificates.isEmpty, llt_is_end_of_pem(reason) else {
                throw .invalidSetting(
                    llt_is_end_of_pem(reason)
                        ? "no certificate stands in \(description)"
                        : "certificate \(certificates.count + 1) in \(description) can't be understood")
            }
            ERR_clear_error()
            return certificates
        }
    }

    /// The private key: the first that stands there.
    func privateKey(passphrase: String?) throws(SocketError) -> PrivateKey {
        try read { (bio) throws(SocketError) in
            var isEncrypted = false
            let pointer =
                if var passphrase {
                    passphrase.withUTF8 { text in
                        text.withMemoryRebound(to: CChar.self) { llt_read_key(bio, $0.baseAddress, $0.count, &isEncrypted) }
                    }
                } else {
                    llt_read_key(bio, nil, 0, &isEncrypted)
                }
            if let pointer {
                ERR_clear_error()
                return PrivateKey(owning: pointer)
            }
            // OpenSSL's words on it may be misleading, and these say all.
            if isEncrypted {
                ERR_clear_error()
                let fault = passphrase == nil ? "is encrypted and there is no passphrase" : "can't be decrypted with this passphrase"
                throw SocketError(.invalidSetting, "the key in \(description) \(fault)")
            }
            throw .invalidSetting("no private key that can be understood stands in \(description)")
        }
    }

    private func read<Result>(_ body: (OpaquePointer) throws(SocketError) -> Result) throws(SocketError) -> Result {
        ERR_clear_error()
        switch self {
        case .file(let path):
            guard !path.utf8.contains(0), let bio = BIO_new_file(path, "r") else {
                throw .invalidSetting("\(description) can't be read")
            }
            defer { BIO_free(bio) }
            return try body(bio)
        case .bytes(let bytes):
            return try bytes.withUnsafeBytes { (buffer) throws(SocketError) in
                guard let count = Int32(exactly: buffer.count) else { throw SocketError(.invalidSetting, "\(buffer.count) bytes of PEM") }
                guard let bio = BIO_new_mem_buf(buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1), count) else { throw .noMemory }
                defer { BIO_free(bio) }
                return try body(bio)
            }
        }
    }
}

/// A certificate of OpenSSL's.
final class X509Certificate: @unchecked Sendable {  // It never changes; what OpenSSL caches in it, it guards by itself.
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }
    deinit { X509_free(pointer) }
}

/// A private key of OpenSSL's.
final class PrivateKey: @unchecked Sendable {  // It never changes; what OpenSSL caches in it, it guards by itself.
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }
    deinit { EVP_PKEY_free(pointer) }
}
