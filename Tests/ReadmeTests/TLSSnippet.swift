// snippet: tls client
import Lifeline
import LifelineTLS

func readNews(
    from endpoint: Endpoint, trusting trust: TLSTrust = .system, on base: some Network = SystemNetwork()
) async throws {
    let client = try TLSClient(.init(trust: trust, applicationProtocols: ["news/2", "news/1"]))
    let network = TLSNetwork(over: base, client: client)
    do {
        let connection = try await Connection.connect(to: endpoint, codec: .lines, on: network, within: .seconds(3))
        if let tls = await connection.info.tls { print("\(tls.version), \(tls.applicationProtocol ?? "no protocol agreed on")") }
        for try await line in connection.messages { print(line) }
    } catch let error as SocketError where error.code == .certificateRefused {
        print("not who it should be: \(error.tls?.description ?? "")")  // Such as “expired: …”, and the certificate.
    }
}
// end

// snippet: tls server
import Lifeline
import LifelineTLS

struct Vault {
    let server: Server<LineCodec>
    private let protection: TLSServer
    private let folder: String

    init(at endpoint: Endpoint, keysIn folder: String, on base: some Network = SystemNetwork()) async throws {
        var settings = TLSServer.Settings(identity: try Self.identity(in: folder))
        settings.clientCertificates = .required(.authorities(atPath: "\(folder)/ca.pem"))
        settings.minimumVersion = .tls13
        protection = try TLSServer(settings)
        server = try await Server.bind(endpoint, codec: .lines, on: TLSNetwork(over: base, server: protection))
        self.folder = folder
    }

    func run() async throws {
        try await server.run { connection in
            let client = await connection.info.tls?.peerCertificates.first?.subject ?? "nobody"
            for try await line in connection.messages { try await connection.send("\(client) says \(line)") }
        }
    }

    /// From now on whoever connects sees what stands in the files; nobody who is there loses a connection.
    func renew() throws { try protection.replaceIdentities(Self.identity(in: folder), named: [:]) }

    private static func identity(in folder: String) throws -> TLSIdentity {
        try TLSIdentity(certificatesAtPath: "\(folder)/server.pem", keyAtPath: "\(folder)/server.key")
    }
}

func enterVault(
    at endpoint: Endpoint, keysIn folder: String, pins: Set<String>, on base: some Network = SystemNetwork()
) async throws -> Connection<LineCodec> {
    let settings = TLSClient.Settings(
        trust: .authorities(atPath: "\(folder)/ca.pem").pinned(to: pins),
        identity: try TLSIdentity(certificatesAtPath: "\(folder)/client.pem", keyAtPath: "\(folder)/client.key"))
    return try await .connect(to: endpoint, codec: .lines, on: TLSNetwork(over: base, client: TLSClient(settings)))
}
// end

// snippet: start tls
import Lifeline
import LifelineTLS

func enter(_ endpoint: Endpoint, with client: TLSClient, on network: some Network = SystemNetwork()) async throws -> Connection<LineCodec> {
    let stream = try await ByteStream.connect(to: endpoint, on: network, within: .seconds(3))
    try await stream.write(Bytes("STARTTLS\n"))
    guard try await stream.read(with: .lines, within: .seconds(3)) == "go ahead" else {
        throw SocketError(.handshakeFailed, "the server doesn't want TLS")
    }
    try await stream.startTLS(client, serverName: "localhost")
    return try await stream.framed(with: .lines)
}

func echo(at endpoint: Endpoint, with protection: TLSServer, on network: some Network = SystemNetwork()) async throws {
    let server = try await Server.bind(endpoint, codec: .lines, on: network) { stream in
        guard try await stream.read(with: .lines, within: .seconds(3)) == "STARTTLS" else {
            throw SocketError(.protocolViolation, "nothing is said in plain text here")
        }
        try await stream.startTLS(protection, announcing: Bytes("go ahead\n"))
    }
    try await server.run { connection in
        for try await line in connection.messages { try await connection.send(line) }
    }
}
// end
