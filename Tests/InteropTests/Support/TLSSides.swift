import Foundation
import Lifeline
import LifelineCore
import LifelineRuntime
import LifelineTLS
import Testing

/// The files that the tests' certificates and keys are in.
enum TLSFile {
    /// Who has signed them, and is trusted.
    static let authority = path("ca.pem")

    static func certificate(_ name: String) -> String { path("\(name).pem") }
    static func key(_ name: String) -> String { path("\(name).key") }

    static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(certificatesAtPath: certificate(name), keyAtPath: key(name))
    }

    private static func path(_ file: String) -> String {
        URL(filePath: #filePath).appending(path: "../../../LifelineTLSTests/Certificates/\(file)").standardizedFileURL.path
    }
}

/// A network for clients that ask for localhost and trust the tests' authority, unless `change` says otherwise.
func securedClient(_ change: (inout TLSClient.Settings) throws -> Void = { _ in }) throws -> TLSNetwork {
    var settings = TLSClient.Settings(trust: .authorities(atPath: TLSFile.authority), serverName: "localhost")
    try change(&settings)
    return TLSNetwork(over: SystemNetwork(), client: try TLSClient(settings))
}

/// A server's settings, with the certificate for localhost.
func serverSettings(_ change: (inout TLSServer.Settings) throws -> Void = { _ in }) throws -> TLSServer.Settings {
    var settings = TLSServer.Settings(identity: try TLSFile.identity("server"))
    // Peers that are started may take their time where many tests run at once.
    settings.handshakeLimit = outerLimit
    try change(&settings)
    return settings
}

/// Binds to a free port of loopback, for TLS. What its handlers, and the handshakes before them, throw goes to `errors`.
func bindSecured<C: Codec>(
    _ codec: C, errors: Mailbox<SocketError>? = nil, options: ServerOptions = ServerOptions(),
    _ change: (inout TLSServer.Settings) throws -> Void = { _ in }
) async throws -> Server<C> {
    var options = options
    options.onHandlerError = { error in
        if let errors, let error = error as? SocketError { return errors.put(error) }
        Issue.record("a handler has thrown \(error)")
    }
    let network = TLSNetwork(over: SystemNetwork(), server: try TLSServer(serverSettings(change)))
    return try await Server.bind(.tls("127.0.0.1", 0), codec: codec, on: network, options: options)
}

extension Connection {
    /// Connects by TLS; see ``securedClient(_:)``.
    static func secured(
        to endpoint: Endpoint, codec: C, within limit: Duration = outerLimit, options: ConnectionOptions = ConnectionOptions(),
        _ change: (inout TLSClient.Settings) throws -> Void = { _ in }
    ) async throws -> Connection<C> {
        try await connect(to: endpoint, codec: codec, on: securedClient(change), within: limit, options: options)
    }

    /// What was agreed on.
    var tls: TLSInfo {
        get async throws { try #require(info.tls) }
    }

    /// Reads to the end, which must have been announced.
    func expectAnnouncedEnd(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let rest = await rest()
        #expect(rest.frames.isEmpty, sourceLocation: sourceLocation)
        #expect(rest.error == nil, sourceLocation: sourceLocation)
        #expect(closeReason == .closedByPeer, sourceLocation: sourceLocation)
        #expect(try await tls.peerEnd == .closeNotify, sourceLocation: sourceLocation)
    }
}

extension Connection where C == LineCodec {
    /// Says a line and hears it again.
    func expectEcho(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await send(line)
        #expect(try await frame() == line, sourceLocation: sourceLocation)
    }
}

/// The error that `body` throws, which has to be one of ours.
func failure(sourceLocation: SourceLocation = #_sourceLocation, of body: () async throws -> Void) async throws -> SocketError {
    do {
        try await body()
    } catch {
        return try #require(error as? SocketError, "not one of ours: \(error)", sourceLocation: sourceLocation)
    }
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    throw PeerFailure("nothing was thrown")
}

/// The error that ends a connection by TLS, be it in the handshake or, as TLS 1.3 has it for what a server refuses, behind it.
func refusal(
    by endpoint: Endpoint, sourceLocation: SourceLocation = #_sourceLocation,
    _ change: (inout TLSClient.Settings) throws -> Void = { _ in }
) async throws -> SocketError {
    try await failure(sourceLocation: sourceLocation) {
        let connection = try await Connection.secured(to: endpoint, codec: .lines, change)
        _ = try await connection.frame()
    }
}

extension Result where Failure == any Error {
    /// What comes of `body`.
    static func of(_ body: () async throws -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
