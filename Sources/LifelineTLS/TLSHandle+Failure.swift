import CLifelineTLS
import COpenSSL
import LifelineCore

extension TLSHandle {
    /// What has failed, after OpenSSL has said that something has. Its queue is empty then.
    func failure(inHandshake: Bool) -> SocketError {
        let errors = OpenSSLError.drain()
        if errors.contains(where: \.isNoMemory) { return .noMemory }
        // Behind the first come the layers through which it went.
        guard let error = errors.first(where: { $0.library == LLT_LIBRARY_SSL }) ?? errors.first else {
            if SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 { return end(inHandshake) }
            return fault(TLSError(.protocolError, "OpenSSL gives no reason"), inHandshake)
        }
        guard error.library == LLT_LIBRARY_SSL else { return fault(TLSError(.protocolError, error.words), inHandshake) }
        if let alert = UInt8(exactly: error.reason - Int32(SSL_AD_REASON_OFFSET)) { return failure(alert, error.words, inHandshake) }
        switch error.reason {
        case SSL_R_CERTIFICATE_VERIFY_FAILED: return refusal()
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            return SocketError(
                .certificateRefused, "the peer has no certificate", cause: TLSError(.missingCertificate, "a certificate is required"))
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: return end(inHandshake)
        default: return fault(TLSError(kind(of: error.reason, inHandshake), error.words), inHandshake)
        }
    }

    /// Everything that isn't about certificates.
    private func fault(_ error: TLSError, _ inHandshake: Bool) -> SocketError {
        if inHandshake { return SocketError(.handshakeFailed, "no TLS with the peer", cause: error) }
        return SocketError(.protocolViolation, "the peer broke the rules of TLS", cause: error)
    }

    private func end(_ inHandshake: Bool) -> SocketError {
        if inHandshake { return fault(TLSError(.closedInHandshake, "the peer has closed the connection"), inHandshake) }
        return SocketError(.truncated, "the peer's stream ended without close_notify")
    }

    private func kind(of reason: Int32, _ inHandshake: Bool) -> TLSError.Kind {
        switch reason {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: .notTLS
        case SSL_R_WRONG_VERSION_NUMBER: inHandshake && hasHeardNothing ? .notTLS : .protocolError
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_VERSION_TOO_HIGH, SSL_R_NO_PROTOCOLS_AVAILABLE,
            SSL_R_WRONG_SSL_VERSION,
            SSL_R_INAPPROPRIATE_FALLBACK:
            .noCommonVersion
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_GROUPS, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM,
            SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_CIPHERS_AVAILABLE, SSL_R_DH_KEY_TOO_SMALL:
            .noCommonCipher
        case SSL_R_NO_APPLICATION_PROTOCOL: .noCommonProtocol
        default: .protocolError
        }
    }

    /// Whether no message of TLS has come from the peer.
    private var hasHeardNothing: Bool {
        switch SSL_get_state(ssl) {
        case TLS_ST_BEFORE, TLS_ST_CW_CLNT_HELLO, TLS_ST_CR_SRVR_HELLO, TLS_ST_SR_CLNT_HELLO: true
        default: false
        }
    }
}

// What the peer has said.
extension TLSHandle {
    private func failure(_ alert: UInt8, _ words: String, _ inHandshake: Bool) -> SocketError {
        switch Int32(alert) {
        case SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE, SSL_AD_CERTIFICATE_REVOKED, SSL_AD_CERTIFICATE_EXPIRED,
            SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA, SSL_AD_ACCESS_DENIED:
            let error = TLSError(.refusedByPeer, words, certificate: nil, alert: alert)
            return SocketError(.certificateRefused, "the peer refuses this side's certificate", cause: error)
        case SSL_AD_CERTIFICATE_REQUIRED:
            return certificateRequired(alert, words)
        case SSL_AD_HANDSHAKE_FAILURE where wasAskedForCertificate && SSL_get_certificate(ssl) == nil:
            // TLS 1.2 has no alert of its own for it.
            return certificateRequired(alert, "it has asked for a certificate, got none and refused the handshake")
        case SSL_AD_HANDSHAKE_FAILURE:
            return fault(said(.noCommonCipher, "the peer found no parameters that it accepts", alert), inHandshake)
        case SSL_AD_INSUFFICIENT_SECURITY:
            return fault(said(.noCommonCipher, "the peer asks for stronger ciphers", alert), inHandshake)
        case SSL_AD_PROTOCOL_VERSION, SSL_AD_INAPPROPRIATE_FALLBACK: return fault(said(.noCommonVersion, words, alert), inHandshake)
        case SSL_AD_UNRECOGNIZED_NAME:
            let name = serverName.map { "the peer doesn't know the name \($0)" }
            return fault(said(.unrecognizedName, name ?? words, alert), inHandshake)
        case SSL_AD_NO_APPLICATION_PROTOCOL:
            return fault(said(.noCommonProtocol, "the peer speaks none of the application protocols", alert), inHandshake)
        default: return fault(said(.protocolError, "the peer says: \(words)", alert), inHandshake)
        }
    }

    private func said(_ kind: TLSError.Kind, _ words: String, _ alert: UInt8) -> TLSError {
        TLSError(kind, words, certificate: nil, alert: alert)
    }

    private func certificateRequired(_ alert: UInt8, _ words: String) -> SocketError {
        SocketError(.certificateRefused, "the peer wants a certificate of this side", cause: said(.certificateRequired, words, alert))
    }
}

// What is wrong with the peer's certificate.
extension TLSHandle {
    static func notPinned(_ certificate: TLSCertificate) -> SocketError {
        let error = TLSError(.notPinned, "its key \(certificate.publicKeyHash) isn't among those that are pinned", certificate: certificate)
        return SocketError(.certificateRefused, "the peer's certificate was refused", cause: error)
    }

    private func refusal() -> SocketError {
        if let unpinned { return TLSHandle.notPinned(unpinned) }
        var pointer: OpaquePointer?
        var depth: Int32 = 0
        let verdict = llt_verdict(ssl, &pointer, &depth)
        let certificate = pointer.map { TLSCertificate($0) }
        var words = X509_verify_cert_error_string(Int(verdict)).map { String(cString: $0) } ?? ""
        if let name, verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH {
            words = "it isn't for \(name.text)"
        }
        if depth > 0 { words += ", \(depth) above the peer's own" }
        let error = TLSError(TLSHandle.kind(ofVerdict: verdict), words, certificate: certificate)
        return SocketError(.certificateRefused, "the peer's certificate was refused", cause: error)
    }

    private var name: PeerName? {
        if case .client(let own) = side { own.name } else { nil }
    }

    private static func kind(ofVerdict verdict: Int32) -> TLSError.Kind {
        switch verdict {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        // An authority of the peer's own, which isn't trusted.
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: .unknownIssuer
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED:
            .unknownIssuer
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongHost
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .tooWeak
        case X509_V_ERR_INVALID_PURPOSE: .wrongPurpose
        default: .invalidCertificate
        }
    }
}
