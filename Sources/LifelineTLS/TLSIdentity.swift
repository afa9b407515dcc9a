import COpenSSL
public import LifelineCore

/// A certificate, those that lead from it to its authority, and its private key.
public struct TLSIdentity: Sendable {
    /// The certificate's facts.
    public let certificate: TLSCertificate

    /// The certificate, and behind it the intermediate ones.
    let chain: [X509Certificate]
    let key: PrivateKey

    /// Reads both from files in PEM.
    ///
    /// - Parameters:
    ///   - path: the certificate, and behind it the intermediate ones.
    ///   - keyPath: the private key; it may stand in the same file.
    ///   - passphrase: for an encrypted key. Default nil.
    /// - Throws: ``SocketError/Code/invalidSetting`` if a file can't be read or understood, if the passphrase is wrong or missing, or if the key
    ///   isn't the certificate's.
    public init(certificatesAtPath path: String, keyAtPath keyPath: String, passphrase: String? = nil) throws {
        try self.init(.file(path), key: .file(keyPath), passphrase)
    }

    /// As ``init(certificatesAtPath:keyAtPath:passphrase:)``, from memory.
    public init(certificates: Bytes, key: Bytes, passphrase: String? = nil) throws {
        try self.init(.bytes(certificates), key: .bytes(key), passphrase)
    }

    private init(_ certificates: PEM, key keyText: PEM, _ passphrase: String?) throws(SocketError) {
        chain = try certificates.certificates()
        key = try keyText.privateKey(passphrase: passphrase)
        guard X509_check_private_key(chain[0].pointer, key.pointer) == 1 else {
            ERR_clear_error()
            throw SocketError(
                .invalidSetting, "the key in \(keyText.description) isn't that of the first certificate in \(certificates.description)")
        }
        certificate = TLSCertificate(chain[0].pointer)
    }
}
