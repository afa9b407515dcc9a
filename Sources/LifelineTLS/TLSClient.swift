import CLifelineTLS
import COpenSSL
public import LifelineCore

/// How this side's connections are protected: made once, used for any number of them.
///
/// By default the server's certificate has to lead to an authority that the system trusts, be valid now, and be for the host that was asked
/// for; TLS 1.2 and 1.3 are spoken. What is weaker than that has a name that says so.
public final class TLSClient: Sendable {
    /// What a client may choose.
    public struct Settings: Sendable {
        /// Whose word on the server counts. Default: the authorities that the system trusts.
        public var trust: TLSTrust
        /// This side's own certificate and key, for servers that ask for one. Default: none.
        public var identity: TLSIdentity?
        /// The name that the server's certificate has to be for and that is asked for (SNI); nil, the default, for the host of the endpoint.
        /// An IP address is checked and not asked for, as RFC 6066 says.
        public var serverName: String?
        /// The application protocols that this side speaks, the best first (ALPN, RFC 7301). Default: none are named. Which one it was is in
        /// ``TLSInfo/applicationProtocol``; a server that knows none of them refuses, and one that doesn't know ALPN leaves it nil.
        public var applicationProtocols: [String]
        /// The oldest version that is spoken. Default: ``TLSVersion/tls12``.
        public var minimumVersion: TLSVersion
        /// The newest. For tests: nobody needs to do without it.
        package var maximumVersion = TLSVersion.tls13
        /// Cipher suites, the best first, by their names in OpenSSL or in the standard; for versions that aren't named here the default
        /// holds: what OpenSSL's security level 2 allows.
        public var cipherSuites: [String]
        /// Whether sessions are gone on with by later connections to the same host and port. Default: true. Certificates aren't sent again
        /// then; pins and ``verify`` are asked each time. At the latest 24 hours after a whole handshake, or when the server's certificate
        /// expires, the next one is whole again.
        public var resumesSessions: Bool
        /// A file that the secrets of each connection are added to, so that Wireshark can read what was recorded; default nil. For debugging
        /// only: whoever has the file can read everything.
        public var keyLogPath: String?
        /// This side's own verdict, after the certificate has passed ``trust``; an error that it throws refuses the server. It may take its
        /// time: the connection isn't there before it has returned, and nothing is sent or delivered. At the limit its task is cancelled, which
        /// it must heed: the connection is closed then, and `connect` waits for it. Default: none.
        public var verify: (@Sendable (TLSInfo) async throws -> Void)?

        /// Settings; the defaults verify the server against the system's authorities.
        public init(
            trust: TLSTrust = .system, identity: TLSIdentity? = nil, serverName: String? = nil, applicationProtocols: [String] = [],
            minimumVersion: TLSVersion = .tls12, cipherSuites: [String] = [], resumesSessions: Bool = true, keyLogPath: String? = nil,
            verify: (@Sendable (TLSInfo) async throws -> Void)? = nil
        ) {
            self.trust = trust
            self.identity = identity
            self.serverName = serverName
            self.applicationProtocols = applicationProtocols
            self.minimumVersion = minimumVersion
            self.cipherSuites = cipherSuites
            self.resumesSessions = resumesSessions
            self.keyLogPath = keyLogPath
            self.verify = verify
        }
    }

    let settings: Settings
    let trust: TLSTrust.Resolved
    let keyLog: KeyLog?
    /// Nil if no session is gone on with.
    let sessions: SessionCache?
    private let context: TLSContext
    private let serverName: PeerName?

    /// - Throws: ``SocketError/Code/invalidSetting`` for settings that can't be used, such as authorities that can't be read, an application
    ///   protocol that is empty or longer than 255 bytes, a cipher suite that isn't known.
    public init(_ settings: Settings = Settings()) throws {
        self.settings = settings
        trust = try settings.trust.resolved()
        let protocols = try ApplicationProtocols(settings.applicationProtocols)
        serverName = try settings.serverName.map { (name) throws(SocketError) in
            guard let known = PeerName(name) else { throw SocketError(.invalidSetting, "“\(name)” can't be a server's name") }
            return known
        }
        context = try TLSContext(isServer: false, minimumVersion: settings.minimumVersion, cipherSuites: settings.cipherSuites)
        context.limit(to: settings.maximumVersion)
        context.trust(trust, trust.store == nil ? LLT_ANY : LLT_REQUIRED)
        if let identity = settings.identity { try context.use(identity) }
        keyLog = try settings.keyLogPath.map { (path) throws(SocketError) in try KeyLog(path: path) }
        sessions = settings.resumesSessions ? SessionCache() : nil
        try TLSHandle.listen(
            on: context.pointer, isServer: false, logsKeys: keyLog != nil, sessions: sessions != nil, protocols: protocols)
    }

    /// What a connection to a server begins with.
    ///
    /// - Throws: ``SocketError/Code/invalidSetting`` if the certificate has to be for a name and there is none,
    ///   ``SocketError/Code/invalidEndpoint`` if `host` can't be one.
    func makeHandle(host: String?, port: UInt16?) throws(SocketError) -> TLSHandle {
        let name = if let serverName { serverName } else { try peerName(host) }
        let key = name.map { SessionCache.Key(name: $0, port: port) }
        let side = TLSHandle.ClientSide(client: self, name: trust.store == nil ? nil : name, key: sessions == nil ? nil : key)
        let handle = try TLSHandle(context, .client(side))
        if let name {
            if let indication = name.indication {
                guard llt_ask_for_name(handle.ssl, indication) else { throw .noMemory }
                handle.serverName = indication
            }
            if trust.store != nil, !llt_expect_peer(handle.ssl, name.text, name.isAddress) {
                ERR_clear_error()
                throw SocketError(
                    serverName == nil ? .invalidEndpoint : .invalidSetting, "“\(name.text)” can't be a server's name in a certificate")
            }
        }
        if let key, let session = sessions?.session(for: key) {
            handle.offered = session
            session.offer(by: handle.ssl)
        }
        SSL_set_connect_state(handle.ssl)
        return handle
    }

    private func peerName(_ host: String?) throws(SocketError) -> PeerName? {
        let name = host.flatMap { PeerName($0) }
        if name != nil || trust.store == nil { return name }
        guard let host else {
            throw SocketError(
                .invalidSetting, "there is no name that the server's certificate has to be for; TLSClient.Settings.serverName sets it")
        }
        throw SocketError(.invalidEndpoint, "“\(host)” can't be a server's name in a certificate")
    }
}
