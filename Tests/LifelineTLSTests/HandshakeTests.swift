import LifelineCore
import Testing

@testable import LifelineTLS

/// What two ends agree on.
@Suite struct HandshakeTests {
    @Test(arguments: TLSVersion.allCases)
    func `both ends tell what was agreed on`(version: TLSVersion) throws {
        let link = try Link(Protected.client(), Protected.server(), version: version).run()
        try #require(link.areBothThrough)
        let client = try link.client.info
        #expect(client.version == version)
        #expect(client.cipherSuite.hasPrefix("TLS_"))
        #expect(client.serverName == "localhost")
        #expect(client.peerCertificates.map(\.subject) == ["CN=localhost,O=Lifeline"])
        #expect(client.applicationProtocol == nil)
        #expect(!client.isResumed)
        #expect(client.peerEnd == .none)
        let server = try link.server.info
        #expect(server.version == version)
        #expect(server.cipherSuite == client.cipherSuite)
        #expect(server.serverName == "localhost")
        #expect(server.peerCertificates.isEmpty)
        link.client.write("hello")
        link.run()
        #expect(link.server.received == Array("hello".utf8))
    }

    @Test func `an elliptic key is as good as RSA`() throws {
        let link = try Link(Protected.client(), Protected.server("ec")).run()
        #expect(link.areBothThrough)
    }

    @Test func `a version that only one end speaks is refused by both`() throws {
        let server = try Protected.server { $0.minimumVersion = .tls13 }
        let link = try Link(Protected.client(), server, version: .tls12).run()
        #expect(link.server.failure?.code == .handshakeFailed)
        #expect(link.server.failure?.tls?.kind == .noCommonVersion)
        #expect(link.client.failure?.code == .handshakeFailed)
        #expect(link.client.failure?.tls?.kind == .noCommonVersion)
        #expect(link.client.failure?.tls?.alert == 70)
    }

    @Test func `TLS 1.1 isn't spoken`() throws {
        let fromOldClient = try Link(PlainOpenSSL(newest: 0x0302), Protected.server()).run()
        #expect(fromOldClient.server.failure?.tls?.kind == .noCommonVersion)
        let oldServer = try PlainOpenSSL(server: Protected.identity(), newest: 0x0302)
        let toOldServer = try Link(Protected.client(), oldServer).run()
        #expect(toOldServer.client.failure?.code == .handshakeFailed)
        #expect(toOldServer.client.failure?.tls?.kind == .noCommonVersion)
    }

    @Test func `the cipher suites that are named are used`() throws {
        let client = try Protected.client { $0.cipherSuites = ["TLS_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"] }
        for (version, name) in [
            (TLSVersion.tls12, "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"), (.tls13, "TLS_CHACHA20_POLY1305_SHA256"),
        ] {
            #expect(try Link(client, Protected.server(), version: version).run().client.info.cipherSuite == name)
        }
    }

    @Test func `the server's order of suites counts`() throws {
        let server = try Protected.server {
            $0.cipherSuites = ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES256-GCM-SHA384"]
        }
        let client = try Protected.client { $0.cipherSuites = ["ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256"] }
        let link = try Link(client, server, version: .tls12).run()
        #expect(try link.client.info.cipherSuite == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
    }

    @Test func `ends without a common suite tell so`() throws {
        let server = try Protected.server { $0.cipherSuites = ["ECDHE-RSA-AES256-GCM-SHA384"] }
        let client = try Protected.client { $0.cipherSuites = ["ECDHE-RSA-AES128-GCM-SHA256"] }
        let link = try Link(client, server, version: .tls12).run()
        #expect(link.server.failure?.tls?.kind == .noCommonCipher)
        #expect(link.client.failure?.code == .handshakeFailed)
        #expect(link.client.failure?.tls?.kind == .noCommonCipher)
        #expect(link.client.failure?.tls?.alert == 40)
    }

    @Test(arguments: ["TLS_SOMETHING", "HIGH", "ALL@SECLEVEL=0", "@SECLEVEL=0", "NULL-SHA256", "AECDH-NULL-SHA", "", "RSA\u{0}", "!MD5"])
    func `a suite that isn't known, or protects nothing, is an invalid setting`(name: String) {
        #expect { try Protected.client { $0.cipherSuites = [name] } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
        #expect { try Protected.server { $0.cipherSuites = [name] } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a connection isn't negotiated again in its middle`(version: TLSVersion) throws {
        let link = try Link(Protected.client(), Protected.server(), version: version).run()
        #expect(!link.client.negotiateAgain())
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `no time for the handshake is an invalid setting`(limit: Duration) {
        #expect { try Protected.server { $0.handshakeLimit = limit } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }
}
