import CLifelineTLS
import COpenSSL
public import LifelineCore
import LifelineRuntime

/// How connections to this side are protected: made once, used for any number of them.
public final class TLSServer: Sendable {
    /// Whether clients show certificates.
    public enum ClientCertificates: Sendable {
        /// They aren't asked for one.
        case none
        /// They are asked for one and may have none. One that they have must pass.
        case optional(TLSTrust)
        /// They must have one that passes.
        case required(TLSTrust)
    }

    /// What a server may choose.
    public struct Settings: Sendable {
        /// This side's certificate and key.
        public var identity: TLSIdentity
        /// Others, by the name that the client asks for (SNI): DNS names in any case, or `*.` and a domain for all names right below it. Default:
        /// none. Who asks for another name, or for none, gets ``identity``.
        public var identities: [String: TLSIdentity]
        /// Default: ``ClientCertificates/none``.
        public var clientCertificates: ClientCertificates
        /// The application protocols that this side speaks, the best first (ALPN, RFC 7301). Default: none. A client that names only others is
        /// refused; one that names none is served.
        public var applicationProtocols: [String]
        /// The oldest version that is spoken. Default: ``TLSVersion/tls12``.
        public var minimumVersion: TLSVersion
        /// As ``TLSClient/Settings/cipherSuites``.
        public var cipherSuites: [String]
        /// Whether clients may go on with earlier sessions. Default: true. At the latest 24 hours after a whole handshake, or when the
        /// client's certificate expires, the next one is whole again.
        public var resumesSessions: Bool
        /// The time for each handshake, ``verify`` included; it counts from when the connection was accepted. More than zero; default 10 s.
        public var handshakeLimit: Duration
        /// As ``TLSClient/Settings/keyLogPath``.
        public var keyLogPath: String?
        /// As ``TLSClient/Settings/verify``, for clients; it is asked about clients without a certificate, too. It runs in the task that the
        /// connection's handler will run in, or one like it. Where a server has one, a connection above the limit gets no `tooBusy` reply.
        public var verify: (@Sendable (TLSInfo) async throws -> Void)?

        /// Settings.
        public init(
            identity: TLSIdentity, identities: [String: TLSIdentity] = [:], clientCertificates: ClientCertificates = .none,
            applicationProtocols: [String] = [], minimumVersion: TLSVersion = .tls12, cipherSuites: [String] = [],
            resumesSessions: Bool = true, handshakeLimit: Duration = .seconds(10), keyLogPath: String? = nil,
            verify: (@Sendable (TLSInfo) async throws -> Void)? = nil
        ) {
            self.identity = identity
            self.identities = identities
            self.clientCertificates = clientCertificates
            self.applicationProtocols = applicationProtocols
            self.minimumVersion = minimumVersion
            self.cipherSuites = cipherSuites
            self.resumesSessions = resumesSessions
            self.handshakeLimit = handshakeLimit
            self.keyLogPath = keyLogPath
            self.verify = verify
        }
    }

    let settings: Settings
    /// Whose word on clients counts; nil if they show no certificate.
    let trust: TLSTrust.Resolved?
    let keyLog: KeyLog?
    let protocols: ApplicationProtocols
    /// Tickets are encrypted with these, whatever the certificates.
    private let ticketKeys: TicketKeys
    private let lock = Lock()
    // Guarded by `lock`.
    private nonisolated(unsafe) var generation: Generation

    /// - Throws: ``SocketError/Code/invalidSetting`` for settings that can't be used; see ``TLSClient/init(_:)``.
    public init(_ settings: Settings) throws {
        guard settings.handshakeLimit > .zero else {
            throw SocketError(.invalidSetting, "a handshake can't be through within \(settings.handshakeLimit)")
        }
        self.settings = settings
        trust =
            switch settings.clientCertificates {
            case .none: nil
            case .optional(let trust), .required(let trust): try trust.resolved()
            }
        protocols = try ApplicationProtocols(settings.applicationProtocols)
        keyLog = try settings.keyLogPath.map { (path) throws(SocketError) in try KeyLog(path: path) }
        ticketKeys = try TicketKeys()
        let maker = Generation.Maker(settings: settings, trust: trust, protocols: protocols, ticketKeys: ticketKeys)
        generation = try maker.make(settings.identity, named: settings.identities)
    }

    /// Other certificates and keys from now on, such as renewed ones. Connections that are there, and handshakes under way, keep the old ones.
    /// Sessions are gone on with as before.
    ///
    /// - Parameters:
    ///   - identity: as ``Settings/identity``.
    ///   - identities: as ``Settings/identities``: all of them, also those that stay the same.
    /// - Throws: ``SocketError/Code/invalidSetting`` if they can't be used; the old ones stay then.
    public func replaceIdentities(_ identity: TLSIdentity, named identities: [String: TLSIdentity]) throws {
        let maker = Generation.Maker(settings: settings, trust: trust, protocols: protocols, ticketKeys: ticketKeys)
        let next = try maker.make(identity, named: identities)
        // The old one is freed behind the lock.
        let old = lock.withLock { () -> Generation in
            let old = generation
            generation = next
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// What a connection of a client's begins with.
    func makeHandle() throws(SocketError) -> TLSHandle {
        let generation = lock.withLock { self.generation }
        let handle = try TLSHandle(generation.fallback, .server(TLSHandle.ServerSide(server: self, generation: generation)))
        SSL_set_accept_state(handle.ssl)
        return handle
    }
}
