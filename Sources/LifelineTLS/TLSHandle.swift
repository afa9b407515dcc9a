import CLifelineTLS
import COpenSSL
import LifelineCore

/// An SSL object with what it needs to live. Confined to its transport's loop.
final class TLSHandle {
    /// What a client's handle takes from its settings.
    struct ClientSide {
        let client: TLSClient
        /// Whom the certificate has to be for; nil if that doesn't count.
        let name: PeerName?
        /// Where sessions are kept; nil if they aren't.
        let key: SessionCache.Key?
    }

    /// What a server's handle takes from its settings.
    struct ServerSide {
        let server: TLSServer
        /// The certificates of the time when the connection came.
        let generation: TLSServer.Generation
    }

    enum Side {
        case client(ClientSide)
        case server(ServerSide)
    }

    let ssl: OpaquePointer
    let side: Side
    /// This side's own verdict on the peer.
    let verifier: (@Sendable (TLSInfo) async throws -> Void)?

    /// The name that a client has asked for.
    var serverName: String?
    /// Whether a server has asked this client for a certificate.
    var wasAskedForCertificate = false
    /// The peer's certificate, if it passes but its key isn't pinned.
    var unpinned: TLSCertificate?
    /// The session that this client would like to go on with.
    var offered: TLSSession?
    /// Sessions from before the pins were checked: TLS 1.2 has them ready within the handshake.
    var uncheckedSessions: [TLSSession] = []
    var havePinsPassed = false
    var peerCertificates: [TLSCertificate]?

    init(_ context: TLSContext, _ side: Side) throws(SocketError) {
        ERR_clear_error()
        guard let ssl = SSL_new(context.pointer) else { throw .noMemory }
        self.ssl = ssl
        self.side = side
        switch side {
        case .client(let own):
            verifier = own.client.settings.verify
        case .server(let own):
            verifier = own.server.settings.verify
        }
        // Callbacks find the handle by this; they only run within calls that its transport makes, and so while it lives.
        guard SSL_set_ex_data(ssl, TLSHandle.index, Unmanaged.passUnretained(self).toOpaque()) == 1 else { throw .noMemory }
    }

    deinit { SSL_free(ssl) }

    var isClient: Bool {
        if case .client = side { true } else { false }
    }

    /// Whose word on the peer counts; nil for a server that asks for no certificate.
    var trust: TLSTrust.Resolved? {
        switch side {
        case .client(let own): own.client.trust
        case .server(let own): own.server.trust
        }
    }

    /// That of the application's own data, which OpenSSL has for everybody.
    private static let index: Int32 = 0

    static func of(_ ssl: OpaquePointer?) -> TLSHandle? {
        guard let ssl, let pointer = SSL_get_ex_data(ssl, index) else { return nil }
        return Unmanaged<TLSHandle>.fromOpaque(pointer).takeUnretainedValue()
    }
}
