import CLifelineTLS
import COpenSSL
import LifelineCore

/// What OpenSSL asks in the middle of a handshake. Each of them runs within a call that the handle's transport makes.
extension TLSHandle {
    /// No ticket of use is larger; a server that sends such ones doesn't fill this side's memory with them.
    private static let largestTicket = 16 * 1024

    static func listen(on context: OpaquePointer, isServer: Bool, logsKeys: Bool, sessions: Bool, protocols: ApplicationProtocols)
        throws(SocketError)
    {
        if logsKeys { SSL_CTX_set_keylog_callback(context, logKey) }
        if isServer {
            llt_context_give_sessions(context, sessions)
            SSL_CTX_set_client_hello_cb(context, chooseIdentity, nil)
            if !protocols.wire.isEmpty { SSL_CTX_set_alpn_select_cb(context, chooseProtocol, nil) }
        } else {
            llt_context_offer_sessions(context, sessions ? keepSession : nil)
            SSL_CTX_set_cert_cb(context, noteRequest, nil)
            // Zero is success here.
            guard protocols.wire.isEmpty || SSL_CTX_set_alpn_protos(context, protocols.wire, UInt32(protocols.wire.count)) == 0 else {
                throw .noMemory
            }
        }
    }

    /// Verifies a certificate and asks for its key's pin: here, so that the peer hears of it.
    static func checkPinsInHandshake(on context: OpaquePointer) { SSL_CTX_set_cert_verify_callback(context, verify, nil) }

    private static let verify: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
        guard let store, let certificate = X509_STORE_CTX_get0_cert(store),
            let handle = TLSHandle.of(OpaquePointer(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())))
        else { return 0 }
        if handle.trust?.store != nil {
            guard X509_verify_cert(store) == 1 else { return 0 }
        } else {
            X509_STORE_CTX_set_error(store, X509_V_OK)
        }
        guard handle.isPinned(certificate) else {
            handle.unpinned = TLSCertificate(certificate)
            // It becomes the alert bad_certificate.
            X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return 0
        }
        return 1
    }

    private static let logKey: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { ssl, line in
        guard let line, let handle = TLSHandle.of(ssl) else { return }
        switch handle.side {
        case .client(let own): own.client.keyLog?.add(line)
        case .server(let own): own.server.keyLog?.add(line)
        }
    }

    /// Keeps a copy of a new session: OpenSSL goes on with its own, and marks it as no good if the connection ends without a word.
    private static let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
        guard let session, let handle = TLSHandle.of(ssl), SSL_SESSION_is_resumable(session) == 1 else { return 0 }
        var ticket: UnsafePointer<UInt8>?
        var count = 0
        SSL_SESSION_get0_ticket(session, &ticket, &count)
        let handshakeTime = SSL_session_reused(ssl) == 1 ? handle.offered?.handshakeTime : nil
        if count <= largestTicket, let copy = SSL_SESSION_dup(session) {
            handle.keep(TLSSession(owning: copy, handshakeTime: handshakeTime))
        }
        return 0
    }

    /// A client hears here that the server wants a certificate.
    private static let noteRequest: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
        TLSHandle.of(ssl)?.wasAskedForCertificate = true
        return 1
    }

    /// Chooses the certificate by the name that the client asks for, before anything else is looked at.
    private static let chooseIdentity: @convention(c) (OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutableRawPointer?) -> Int32 = {
        ssl, _, _ in
        guard let ssl, let handle = TLSHandle.of(ssl), case .server(let own) = handle.side else { return SSL_CLIENT_HELLO_SUCCESS }
        handle.serverName = serverName(in: ssl)
        if let name = handle.serverName, let context = own.generation.context(for: name) { SSL_set_SSL_CTX(ssl, context.pointer) }
        return SSL_CLIENT_HELLO_SUCCESS
    }

    /// The host name in the client's first message (RFC 6066, 3). One that isn't well-formed is none; OpenSSL refuses what is against the rules.
    private static func serverName(in ssl: OpaquePointer) -> String? {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        guard SSL_client_hello_get0_ext(ssl, UInt32(TLSEXT_TYPE_server_name), &bytes, &count) == 1, let bytes, count > 5 else { return nil }
        let list = Int(bytes[0]) << 8 | Int(bytes[1])
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        guard list == count - 2, bytes[2] == TLSEXT_NAMETYPE_host_name, length == count - 5 else { return nil }
        let text = String(decoding: UnsafeBufferPointer(start: bytes + 5, count: length), as: UTF8.self)
        guard case .dns(let name)? = PeerName(text) else { return nil }
        return name
    }

    private static let chooseProtocol:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?, UInt32,
            UnsafeMutableRawPointer?
        ) -> Int32 = { ssl, choice, choiceCount, offered, offeredCount, _ in
            guard let handle = TLSHandle.of(ssl), case .server(let own) = handle.side, let offered else { return SSL_TLSEXT_ERR_NOACK }
            let list = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
            guard let place = own.server.protocols.choice(from: list) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            choice?.pointee = offered + place.lowerBound
            choiceCount?.pointee = UInt8(place.count)
            return SSL_TLSEXT_ERR_OK
        }
}
