import Foundation
import Lifeline
import LifelineTLS
import LifelineTesting
import Testing

/// The manual's examples of TLS do what they say.
@Suite(.timeLimit(.minutes(5)))
struct TLSTests {
    @Test(arguments: 1...5) func newsAreRead(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let protection = try TLSServer(.init(identity: try Self.identity("server"), applicationProtocols: ["news/1"]))
            let host = world.simulated.host("host")
            let server = try await Server.bind(
                .tls("localhost", 7000), codec: .lines, on: TLSNetwork(over: host, server: protection))
            let (served, serving) = AsyncStream.makeStream(of: String?.self)
            async let running: Void = server.run { connection in
                serving.yield(await connection.info.tls?.applicationProtocol)
                try await connection.send("all is well")
            }
            try await readNews(from: server.endpoint, trusting: .authorities(atPath: Self.file("ca.pem")), on: host)
            // It says so and returns; no handler hears of it.
            try await readNews(from: server.endpoint, trusting: .authorities(atPath: Self.file("other-ca.pem")), on: host)
            await server.shutdown(within: .seconds(1))
            try await running
            serving.finish()
            #expect(await served.reduce(into: []) { $0.append($1) } == ["news/1"])
        }
    }

    @Test func aVaultKnowsItsClientsAndIsRenewed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.copyItem(atPath: Self.folder.path, toPath: folder.path)
        try await simulate { world in
            let host = world.simulated.host("host")
            let vault = try await Vault(at: .tls("localhost", 7000), keysIn: folder.path, on: host)
            async let running: Void = vault.run()
            let pin = try Self.identity("server").certificate.publicKeyHash
            let first = try await enterVault(at: vault.server.endpoint, keysIn: folder.path, pins: [pin], on: host)
            try await first.send("hello")
            #expect(try await first.next() == "CN=client,O=Lifeline says hello")
            #expect(await first.info.tls?.version == .tls13)

            try Self.install("ec", in: folder)
            try vault.renew()
            try await first.send("still here")
            #expect(try await first.next() == "CN=client,O=Lifeline says still here")
            await #expect(throws: SocketError(.certificateRefused, "")) {
                _ = try await enterVault(at: vault.server.endpoint, keysIn: folder.path, pins: [pin], on: host)
            }
            let newPin = try Self.identity("ec").certificate.publicKeyHash
            let second = try await enterVault(at: vault.server.endpoint, keysIn: folder.path, pins: [newPin], on: host)
            try await second.send("hello")
            #expect(try await second.next() == "CN=client,O=Lifeline says hello")

            for connection in [first, second] { await connection.close(within: .seconds(60)) }
            await vault.server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test(arguments: 1...5) func plainTextBecomesTLS(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let network = world.network
            let protection = try TLSServer(.init(identity: try Self.identity("server")))
            async let _ = echo(at: .inMemory("echo"), with: protection, on: network)
            await world.settle()
            let client = try TLSClient(.init(trust: .authorities(atPath: Self.file("ca.pem"))))
            let connection = try await enter(.inMemory("echo"), with: client, on: network)
            #expect(await connection.info.tls != nil)
            try await connection.send("hello")
            #expect(try await connection.next() == "hello")
            await connection.close()
            // Leaving cancels the server.
        }
    }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("LifelineTLSTests/Certificates")

    private static func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

    static func identity(_ name: String) throws -> TLSIdentity {
        try TLSIdentity(certificatesAtPath: file("\(name).pem"), keyAtPath: file("\(name).key"))
    }

    /// Another certificate and its key in the place of the server's.
    private static func install(_ name: String, in folder: URL) throws {
        for kind in ["pem", "key"] {
            let file = folder.appendingPathComponent("server.\(kind)")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.copyItem(at: folder.appendingPathComponent("\(name).\(kind)"), to: file)
        }
    }
}
