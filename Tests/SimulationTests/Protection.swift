import LifelineCore
import LifelineRuntime
import LifelineTLS
import LifelineTesting

/// How the connections of a scenario are protected, as its seed draws it.
///
/// Contents differ from run to run, and lengths must not, or traces wouldn't replay: so the certificates are RSA, for ECDSA signatures vary
/// in length, and sessions aren't resumed, for a ticket has the real time in it, in as many bytes as that takes.
struct Protection: Sendable {
    /// What servers ask their clients for.
    enum Certificates: CaseIterable, Sendable {
        /// For none.
        case none
        /// For one if there is one, and there is none.
        case missing
        /// For one if there is one, and there is.
        case shown
        case required
    }

    let certificates: Certificates
    let handshakeLimit: Duration
    /// A client's own verdict on a server takes up to this; zero: none; nil: nobody is asked.
    let clientsThink: Duration?
    /// The same of a server on a client.
    let serversThink: Duration?
    /// The share of verdicts that are none.
    let refusals: Double

    /// From dice of its own: without TLS a seed draws what it always drew.
    init(seed: UInt64) {
        var dice = SeededGenerator(seed: seed ^ 0x715)
        func thinking() -> Duration? {
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: nil
            case 1: .zero
            default: .milliseconds(Int.random(in: 1...1_500, using: &dice))
            }
        }
        certificates = Certificates.allCases.randomElement(using: &dice)!
        handshakeLimit = .milliseconds(Int.random(in: 2_000...10_000, using: &dice))
        clientsThink = thinking()
        serversThink = thinking()
        refusals = [0, 0.05].randomElement(using: &dice)!
    }

    /// The longest that verdicts can hold up a connection where nothing else does.
    var longest: Duration { (clientsThink ?? .zero) + (serversThink ?? .zero) }

    typealias Judge = @Sendable (TLSInfo) async throws -> Void

    /// A client's network.
    func network(over host: SimulatedHost, client judge: @escaping Judge) throws -> TLSNetwork {
        let showsCertificate = certificates == .shown || certificates == .required
        let settings = TLSClient.Settings(
            trust: Self.authority, identity: showsCertificate ? try Self.client.get() : nil, serverName: "localhost",
            resumesSessions: false, verify: clientsThink == nil ? nil : judge)
        return TLSNetwork(over: host, client: try TLSClient(settings))
    }

    /// A server's network.
    func network(over host: SimulatedHost, server judge: @escaping Judge) throws -> TLSNetwork {
        let asked: TLSServer.ClientCertificates =
            switch certificates {
            case .none: .none
            case .missing, .shown: .optional(Self.authority)
            case .required: .required(Self.authority)
            }
        let settings = TLSServer.Settings(
            identity: try Self.server.get(), clientCertificates: asked, resumesSessions: false, handshakeLimit: handshakeLimit,
            verify: serversThink == nil ? nil : judge)
        return TLSNetwork(over: host, server: try TLSServer(settings))
    }

    /// Records of a client's handshake that look like its data from without: certificate, signature and Finished (RFC 8446, 5.2).
    var encryptedHandshakeRecords: Int {
        switch certificates {
        case .none: 1
        case .missing: 2
        case .shown, .required: 3
        }
    }

    // Read once in a process: that takes longer than the rest of a network.
    private static let server = Result { try identity("server") }
    private static let client = Result { try identity("client") }
    private static let authority = TLSTrust.authorities(atPath: path("ca.pem"))

    private static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(certificatesAtPath: path("\(name).pem"), keyAtPath: path("\(name).key"))
    }

    /// Of a file that was made for the tests of TLS.
    private static func path(_ name: String, file: String = #filePath) -> String {
        let folders = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return folders.joined(separator: "/") + "/LifelineTLSTests/Certificates/" + name
    }
}

// What both sides make of each other's certificates.
extension ClientApp {
    /// This client's verdict on a server.
    func judge(_ info: TLSInfo) async throws {
        ledger.count("judged servers")
        ledger.check(!info.peerCertificates.isEmpty, "client \(index): a server has no certificate")
        if case .connecting = link.status {} else { fault("it judges a server while it is \(link.status)") }
        if let longest = protection?.clientsThink, longest > .zero { try await pause(upTo: longest) }
        if let protection, chance(protection.refusals) {
            ledger.count("refused servers")
            auditor.hasRefusedServer = true
            throw Refused()
        }
        ledger.clients[index].verdict = .given
    }
}

extension ServerApp {
    /// This server's verdict on a client.
    func judge(_ info: TLSInfo) async throws {
        guard let protection else { return }
        ledger.count("judged clients")
        let mayBeMissing = protection.certificates == .none || protection.certificates == .missing
        ledger.check(info.peerCertificates.isEmpty == mayBeMissing, "a client shows \(info.peerCertificates.count) certificates")
        if let longest = protection.serversThink, longest > .zero {
            var dice = world.random
            try await world.advance(by: .nanoseconds(Int64.random(in: 1...longest.clampedNanoseconds, using: &dice)))
        }
        if chance(protection.refusals) {
            ledger.count("refused clients")
            throw ClientApp.Refused()
        }
        verdicts += 1
        ledger.clientsMayTalk = (ledger.clientsMayTalk ?? 0) + 1
    }
}
