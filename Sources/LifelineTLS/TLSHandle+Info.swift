import CLifelineTLS
import COpenSSL
import LifelineCore

extension TLSHandle {
    /// What was agreed on, once the handshake is through.
    func info(peerEnd: TLSInfo.PeerEnd) -> TLSInfo {
        TLSInfo(
            version: SSL_version(ssl) == TLSVersion.tls13.rawValue ? .tls13 : .tls12,
            cipherSuite: SSL_get_current_cipher(ssl).flatMap { SSL_CIPHER_standard_name($0) }.map { String(cString: $0) } ?? "",
            applicationProtocol: applicationProtocol,
            serverName: serverName,
            isResumed: SSL_session_reused(ssl) == 1,
            peerCertificates: certificatesOfPeer(),
            peerEnd: peerEnd)
    }

    /// Whether a certificate's key is pinned, or none has to be.
    func isPinned(_ certificate: OpaquePointer) -> Bool { trust?.pins?.contains(TLSCertificate.publicKeyHash(of: certificate)) ?? true }

    /// Once the handshake is through: in one that goes on with a session no certificate is verified.
    func checkPins() throws(SocketError) {
        if let certificate = SSL_get0_peer_certificate(ssl) {
            guard isPinned(certificate) else { throw TLSHandle.notPinned(TLSCertificate(certificate)) }
        } else if trust?.pins != nil, isClient {
            throw SocketError(.certificateRefused, "the server has no certificate", cause: TLSError(.missingCertificate, ""))
        }
        havePinsPassed = true
        let sessions = uncheckedSessions
        uncheckedSessions = []
        for session in sessions { keep(session) }
    }

    /// Keeps a session for later connections; not before the pins were checked.
    func keep(_ session: TLSSession) {
        guard case .client(let own) = side, let key = own.key else { return }
        guard havePinsPassed else {
            // A server sends as many as it likes.
            if uncheckedSessions.count >= SessionCache.mostSessionsOfKey { uncheckedSessions.removeFirst() }
            uncheckedSessions.append(session)
            return
        }
        own.client.sessions?.keep(session, for: key)
    }

    private var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name, count > 0 else { return nil }
        return TLSCertificate.escaped(String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self))
    }

    private func certificatesOfPeer() -> [TLSCertificate] {
        if let peerCertificates { return peerCertificates }
        var certificates: [TLSCertificate] = []
        while let next = llt_peer_chain(ssl, Int32(certificates.count)) { certificates.append(TLSCertificate(next)) }
        peerCertificates = certificates
        return certificates
    }
}
