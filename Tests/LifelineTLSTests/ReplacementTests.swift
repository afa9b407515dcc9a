import LifelineCore
import Testing

@testable import LifelineTLS

/// Renewed certificates without a restart.
@Suite struct ReplacementTests {
    private let client: TLSClient

    init() throws { client = try TLSClient(.init(trust: .withoutVerification, resumesSessions: false)) }

    private func subject(_ server: TLSServer, _ host: String) throws -> String? {
        try Link(client, server, host: host).run().client.info.peerCertificates.first?.subject
    }

    @Test func `connections from now on see the new ones`() throws {
        let server = try Protected.server { $0.identities = try ["a.test": Protected.identity("a")] }
        let here = try Link(client, server, host: "a.test").run()
        let underWay = try Link(client, server, host: "a.test")
        underWay.client.act()
        try server.replaceIdentities(Protected.identity("client"), named: ["b.test": Protected.identity("b")])
        #expect(try subject(server, "b.test") == "CN=b.test,O=Lifeline")
        #expect(try subject(server, "a.test") == "CN=client,O=Lifeline")
        // Those that were there, and those under way, have the old ones.
        #expect(try underWay.run().client.info.peerCertificates.first?.subject == "CN=a.test,O=Lifeline")
        here.client.write("still there")
        #expect(here.run().server.received == Array("still there".utf8))
    }

    @Test func `what can't be used changes nothing`() throws {
        let server = try Protected.server()
        #expect { try server.replaceIdentities(Protected.identity("weak"), named: [:]) } throws: {
            ($0 as? SocketError)?.code == .invalidSetting
        }
        #expect {
            try server.replaceIdentities(Protected.identity("a"), named: ["*": Protected.identity("b")])
        } throws: {
            ($0 as? SocketError)?.code == .invalidSetting
        }
        #expect(try subject(server, "localhost") == "CN=localhost,O=Lifeline")
    }

    @Test func `many threads replace and connect at the same time`() async throws {
        let server = try Protected.server("ec")
        let client = client
        try await withThrowingTaskGroup { group in
            group.addTask {
                for index in 0..<50 { try server.replaceIdentities(Protected.identity(index % 2 == 0 ? "a" : "ec"), named: [:]) }
            }
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<30 {
                        let link = try Link(client, server).run()
                        #expect(link.areBothThrough)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
