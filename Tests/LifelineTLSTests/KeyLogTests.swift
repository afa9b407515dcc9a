import Foundation
import LifelineCore
import Testing

@testable import LifelineTLS

/// The file of secrets for debugging.
@Suite struct KeyLogTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func withLog(_ body: (String) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appendingPathComponent("keys").path)
    }

    private func lines(_ path: String) throws -> [[Substring]] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.hasSuffix("\n"))
        return text.split(separator: "\n").map { $0.split(separator: " ") }
    }

    @Test func `each connection's secrets are added`() throws {
        try withLog { path in
            let client = try Protected.client {
                $0.keyLogPath = path
                $0.resumesSessions = false
            }
            try Link(client, Protected.server()).run()
            #expect(try Set(lines(path).map { $0[0] }).isSuperset(of: ["CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0"]))
            let count = try lines(path).count
            try Link(client, Protected.server(), version: .tls12).run()
            #expect(try lines(path).dropFirst(count).map { $0[0] } == ["CLIENT_RANDOM"])
            #expect(try lines(path).allSatisfy { $0.count == 3 })
        }
    }

    @Test func `a server's, under whatever name, and a client's are the same`() throws {
        try withLog { path in
            let server = try Protected.server {
                $0.keyLogPath = path + "-server"
                $0.identities = try ["a.test": Protected.identity("a")]
            }
            let client = try Protected.client {
                $0.keyLogPath = path
                $0.serverName = "a.test"
            }
            try #require(try Link(client, server).run().areBothThrough)
            #expect(try Set(lines(path)) == Set(lines(path + "-server")))
        }
    }

    @Test func `only its owner can read it`() throws {
        try withLog { path in
            _ = try Protected.client { $0.keyLogPath = path }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `lines of many threads stay whole`() async throws {
        let path = folder.appendingPathComponent("many").path
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try Protected.server("ec") { $0.keyLogPath = path }
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<10 { _ = try? Link(Protected.client { $0.keyLogPath = path }, server).run() } }
            }
        }
        let lines = try lines(path)
        #expect(lines.count == 8 * 10 * 2 * 5)
        #expect(lines.allSatisfy { $0.count == 3 && $0[1].utf8.count == 64 })
    }

    @Test(arguments: ["/nowhere/at/all", "/", "", "a\0b"])
    func `a path that can't be written to is an invalid setting`(path: String) {
        #expect { try Protected.client { $0.keyLogPath = path } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
        #expect { try Protected.server { $0.keyLogPath = path } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }
}
