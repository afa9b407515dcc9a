import LifelineCore
import LifelineRuntime
import LifelineTLS

/// Certificates that were made for the tests, and networks that are protected with them.
enum Protected {
    /// A file beside the tests, such as `ca.pem`.
    static func path(_ name: String) -> String { "\(folder)/\(name)" }

    private static let folder =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/") + "/Certificates"

    static var trust: TLSTrust { .authorities(atPath: path("ca.pem")) }

    /// `name.pem` with `name.key`.
    static func identity(_ name: String = "server") throws -> TLSIdentity {
        try TLSIdentity(certificatesAtPath: path("\(name).pem"), keyAtPath: path("\(name).key"))
    }

    /// A client that asks for `localhost`.
    static func client(_ change: (inout TLSClient.Settings) throws -> Void = { _ in }) throws -> TLSClient {
        var settings = TLSClient.Settings(trust: trust, serverName: "localhost")
        try change(&settings)
        return try TLSClient(settings)
    }

    static func server(_ name: String = "server", _ change: (inout TLSServer.Settings) throws -> Void = { _ in }) throws -> TLSServer {
        var settings = TLSServer.Settings(identity: try identity(name))
        try change(&settings)
        return try TLSServer(settings)
    }

    /// Client and server over `base`; without sessions to go on with, whose tickets come as bytes that aren't data. A dial goes on in a task
    /// once TCP has connected, which may have to wait for its turn where many tests run at once.
    static func network(over base: some Network) throws -> TLSNetwork {
        try TLSNetwork(
            over: base, client: client(),
            server: server {
                $0.resumesSessions = false
                $0.handshakeLimit = .seconds(300)
            })
    }
}
