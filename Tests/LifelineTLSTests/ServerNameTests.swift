import LifelineCore
import Testing

@testable import LifelineTLS

/// The server's choice by the name that the client asks for (SNI), and what a client asks for.
@Suite struct ServerNameTests {
    private func server() throws -> TLSServer {
        try Protected.server("ec") {
            $0.identities = try [
                "A.test": Protected.identity("a"), "*.wild.test": Protected.identity(), "b.test.": Protected.identity("b"),
            ]
            $0.applicationProtocols = ["x"]
        }
    }

    @Test(
        arguments: [
            ("a.test", "a"), ("A.TEST.", "a"), ("b.test", "b"), ("x.wild.test", "server"), ("wild.test", "ec"), ("x.y.wild.test", "ec"),
            ("xa.test", "ec"), ("localhost", "ec"), ("127.0.0.1", "ec"),
        ], TLSVersion.allCases)
    func `the name decides on the certificate`(choice: (name: String, identity: String), version: TLSVersion) throws {
        let client = try TLSClient(.init(trust: .withoutVerification, applicationProtocols: ["x"]))
        let link = try Link(client, server(), host: choice.name, version: version).run()
        try #require(link.areBothThrough)
        #expect(try link.client.info.peerCertificates.first == Protected.identity(choice.identity).certificate)
        // Whatever the certificate, the rest is the same.
        #expect(try link.client.info.applicationProtocol == "x")
    }

    @Test func `a client without a name gets the first certificate`() throws {
        let link = try Link(TLSClient(.init(trust: .withoutVerification)), server(), host: nil).run()
        #expect(try link.client.info.peerCertificates.first == Protected.identity("ec").certificate)
        #expect(try link.server.info.serverName == nil)
    }

    @Test(arguments: ["127.0.0.1", "::1", "fe80::1%eth0", "127.1", "0x7f000001", "2130706433", "1.2.3.4"])
    func `no address is asked for, in whatever form`(host: String) throws {
        let link = try Link(TLSClient(.init(trust: .withoutVerification)), server(), host: host).run()
        try #require(link.areBothThrough)
        #expect(try link.client.info.serverName == nil)
        #expect(try link.server.info.serverName == nil)
    }

    @Test(arguments: ["", "*", "*.", "*.*.test", "a.*.test", "127.0.0.1", "a b", "a..test"])
    func `a pattern that can't be a name is an invalid setting`(pattern: String) {
        #expect {
            try Protected.server { $0.identities = try [pattern: Protected.identity("a")] }
        } throws: {
            ($0 as? SocketError)?.code == .invalidSetting
        }
    }

    @Test func `one name with two certificates is an invalid setting`() {
        #expect {
            try Protected.server { $0.identities = try ["a.test": Protected.identity("a"), "A.TEST": Protected.identity("b")] }
        } throws: {
            ($0 as? SocketError)?.code == .invalidSetting
        }
    }

    @Test func `names are told from addresses`() {
        #expect(PeerName("Example.COM.") == .dns("example.com"))
        #expect(PeerName("_a-1.b") == .dns("_a-1.b"))
        #expect(PeerName("256.0.0.1") == .dns("256.0.0.1"))
        #expect(PeerName("1.2.3") == .dns("1.2.3"))
        #expect(PeerName("0.10.200.0") == .address("0.10.200.0"))
        #expect(PeerName("1.2.3.4") == .address("1.2.3.4"))
        #expect(PeerName("fe80::1%eth0") == .address("fe80::1"))
        #expect(PeerName("::ffff:1.2.3.4") == .address("::ffff:1.2.3.4"))
        for text in ["", ".", "a..b", "a.b..", "*.a", "a b", "a\u{0}b", "ä", "g::1", "[::1]", "a/b", "01.2.3.4", "ab:cd"] {
            #expect(PeerName(text) == nil, "\(text)")
        }
    }
}
