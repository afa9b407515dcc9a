import Lifeline
import LifelineTLS

/// The options that say how a connection is protected.
struct TLSOptions: Sendable {
    /// A certificate and its key, by their files.
    struct Files: Sendable {
        let certificate: String
        let key: String
    }

    /// Whether clients of `serve` show certificates.
    private enum Clients: String { case optional, required }

    /// `--tls`: whatever the endpoint's scheme.
    private var isAsked = false
    /// `--tls-ca`: the file with the authorities; `system` for the system's.
    private var authorities: String?
    /// `--tls-pin`: the keys that the peer may have.
    private var pins: Set<String> = []
    /// `--tls-insecure`.
    private var isInsecure = false
    /// `--tls-client`.
    private var clients: Clients?
    /// `--tls-cert` and `--tls-key`.
    private var certificate: String?
    private var key: String?
    /// `--tls-sni`.
    private var named: [String: Files] = [:]
    /// `--tls-passphrase-file`.
    private var passphraseFile: String?
    /// `--tls-name`.
    private var name: String?
    /// `--tls-alpn`.
    private var protocols: [String] = []
    /// `--tls-min`.
    private var minimum = TLSVersion.tls12
    /// `--tls-keylog`.
    private var keyLog: String?

    /// Those that were given.
    private var given: [String] = []

    /// Takes the option called `name` from `arguments`; false if it is none of these.
    mutating func take(_ name: String, from arguments: inout Arguments, for command: Command) throws(UsageError) -> Bool {
        switch name {
        case "--tls":
            isAsked = true
            return true
        case "--tls-ca": authorities = try arguments.value(of: name)
        case "--tls-pin": pins.insert(try Self.pin(arguments.value(of: name)))
        case "--tls-cert": certificate = try arguments.value(of: name)
        case "--tls-key": key = try arguments.value(of: name)
        case "--tls-passphrase-file": passphraseFile = try arguments.value(of: name)
        case "--tls-alpn": protocols = try Self.protocols(arguments.value(of: name))
        case "--tls-min": minimum = try Self.version(arguments.value(of: name))
        case "--tls-keylog": keyLog = try arguments.value(of: name)
        case "--tls-insecure" where command == .connect: isInsecure = true
        case "--tls-name" where command == .connect: self.name = try arguments.value(of: name)
        case "--tls-client" where command == .serve:
            let text = try arguments.value(of: name)
            clients = Clients(rawValue: text)
            if clients == nil { throw UsageError("\(name) takes required or optional, not \(text)") }
        case "--tls-sni" where command == .serve:
            let (name, files) = try Self.named(arguments.value(of: name))
            named[name] = files
        default: return false
        }
        given.append(name)
        return true
    }

    /// To be called behind the last option. Returns the endpoint as it will be used, with the scheme that tells.
    mutating func finish(_ endpoint: Endpoint, for command: Command) throws(UsageError) -> Endpoint {
        if case .tls = endpoint { isAsked = true }
        guard isAsked else {
            if let name = given.first { throw UsageError("\(name) means nothing without --tls or a tls:// endpoint") }
            return endpoint
        }
        if certificate == nil {
            if command == .serve {
                throw UsageError("with TLS a server needs a certificate: --tls-cert FILE --tls-key FILE, \(Self.recipe)")
            }
            if key != nil { throw UsageError("--tls-key means nothing without --tls-cert") }
            if passphraseFile != nil { throw UsageError("--tls-passphrase-file means nothing without --tls-cert") }
        }
        if isInsecure, authorities != nil || !pins.isEmpty {
            throw UsageError("--tls-insecure takes any certificate: leave out \(authorities == nil ? "--tls-pin" : "--tls-ca")")
        }
        if command == .serve {
            if clients == nil, authorities != nil || !pins.isEmpty {
                throw UsageError("\(authorities == nil ? "--tls-pin" : "--tls-ca") means nothing without --tls-client")
            }
            if clients != nil, authorities == nil, pins.isEmpty { throw UsageError("--tls-client needs --tls-ca or --tls-pin, too") }
        } else if case .unix = endpoint, name == nil, !isInsecure, pins.isEmpty || authorities != nil {
            throw UsageError("--tls-name is needed: a Unix socket has no name that a certificate could be for")
        }
        if case .tcp(let host, let port) = endpoint { return .tls(host, port) }
        return endpoint
    }

    /// How to make a certificate, for those who have none.
    static let recipe = """
        such as “openssl req -x509 -newkey rsa:2048 -nodes -days 30 -keyout key.pem -out cert.pem -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1” makes
        """
}

// The values of the options.
extension TLSOptions {
    /// 32 bytes in Base64.
    private static func pin(_ text: String) throws(UsageError) -> String {
        let digits = text.utf8.dropLast()
        let isRight =
            digits.count == 43 && text.utf8.last == UInt8(ascii: "=")
            && digits.allSatisfy { digit in
                switch digit {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
        guard isRight else { throw UsageError("--tls-pin takes the SHA-256 of a public key in Base64, 44 characters, not \(text)") }
        return text
    }

    private static func protocols(_ text: String) throws(UsageError) -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard names.allSatisfy({ 1...255 ~= $0.utf8.count }) else {
            throw UsageError("--tls-alpn takes names of protocols such as chat/2,chat/1, not \(text)")
        }
        return names
    }

    private static func version(_ text: String) throws(UsageError) -> TLSVersion {
        switch text {
        case "1.2": return .tls12
        case "1.3": return .tls13
        default: throw UsageError("--tls-min takes 1.2 or 1.3, not \(text)")
        }
    }

    private static func named(_ text: String) throws(UsageError) -> (String, Files) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let files = parts.last?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        guard parts.count == 2, !parts[0].isEmpty, 1...2 ~= files.count, files.allSatisfy({ !$0.isEmpty }) else {
            throw UsageError("--tls-sni takes NAME=CERT,KEY, not \(text)")
        }
        return (parts[0], Files(certificate: files[0], key: files[files.count - 1]))
    }
}

// What comes of them. Files are read here, and again each time.
extension TLSOptions {
    /// What a client connects over.
    func network() throws -> any Network {
        guard isAsked else { return SystemNetwork() }
        if isInsecure { Console.note("nobody is verified: whoever is on the way can read and change everything") }
        let client = try TLSClient(
            TLSClient.Settings(
                trust: trust, identity: try identity(), serverName: name, applicationProtocols: protocols, minimumVersion: minimum,
                keyLogPath: keyLog))
        return TLSNetwork(over: SystemNetwork(), client: client)
    }

    /// What a server is protected by; nil if it isn't.
    func server() throws -> TLSServer? {
        guard isAsked, let identity = try identity() else { return nil }
        let clients: TLSServer.ClientCertificates =
            switch clients {
            case nil: .none
            case .optional: .optional(trust)
            case .required: .required(trust)
            }
        return try TLSServer(
            TLSServer.Settings(
                identity: identity, identities: try identities(), clientCertificates: clients, applicationProtocols: protocols,
                minimumVersion: minimum, keyLogPath: keyLog))
    }

    /// Has `server` show what stands in the files now. Returns the certificate that most clients will see.
    func renew(_ server: TLSServer) throws -> TLSCertificate? {
        guard let identity = try identity() else { return nil }
        try server.replaceIdentities(identity, named: try identities())
        return identity.certificate
    }

    private var trust: TLSTrust {
        if isInsecure { return .withoutVerification }
        guard let authorities else { return pins.isEmpty ? .system : .keys(pins) }
        let trust = authorities == "system" ? TLSTrust.system : .authorities(atPath: authorities)
        return pins.isEmpty ? trust : trust.pinned(to: pins)
    }

    private func identity() throws -> TLSIdentity? {
        try certificate.map { try Self.read(Files(certificate: $0, key: key ?? $0), passphrase()) }
    }

    private func identities() throws -> [String: TLSIdentity] {
        try named.mapValues { try Self.read($0, passphrase()) }
    }

    private static func read(_ files: Files, _ passphrase: String?) throws -> TLSIdentity {
        try TLSIdentity(certificatesAtPath: files.certificate, keyAtPath: files.key, passphrase: passphrase)
    }

    /// The first line of the file.
    private func passphrase() throws -> String? {
        try passphraseFile.map { String(decoding: try System.firstLine(of: $0), as: UTF8.self) }
    }
}

extension TLSInfo {
    /// Such as `TLS 1.3, TLS_AES_128_GCM_SHA256, ALPN chat/1, peer CN=localhost, resumed`.
    var words: String {
        var words = "\(version), \(cipherSuite)"
        if let applicationProtocol { words += ", ALPN \(applicationProtocol)" }
        if let serverName { words += ", asked for \(serverName)" }
        words += peerCertificates.first.map { ", peer \($0.subject)" } ?? ", peer without a certificate"
        return isResumed ? words + ", resumed" : words
    }
}
