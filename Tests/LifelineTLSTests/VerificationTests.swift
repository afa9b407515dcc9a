import LifelineCore
import Testing

@testable import LifelineTLS

/// Which certificates of servers pass, and what is said about the others.
@Suite struct VerificationTests {
    struct Refused: CustomTestStringConvertible, Sendable {
        let name: String
        let kind: TLSError.Kind
        var testDescription: String { name }
    }

    @Test(
        arguments: [
            Refused(name: "expired", kind: .expired), Refused(name: "notyet", kind: .notYetValid),
            Refused(name: "other", kind: .unknownIssuer), Refused(name: "selfsigned", kind: .selfSigned),
            Refused(name: "a", kind: .wrongHost), Refused(name: "commonname", kind: .wrongHost),
            Refused(name: "clientonly", kind: .wrongPurpose), Refused(name: "sha1", kind: .tooWeak),
            Refused(name: "weak", kind: .tooWeak), Refused(name: "leaf", kind: .unknownIssuer),
        ], TLSVersion.allCases)
    func `C93: a certificate is refused with the true reason`(refused: Refused, version: TLSVersion) throws {
        let identity = try Protected.identity(refused.name)
        let server = try PlainOpenSSL(server: identity, newest: Int32(version.rawValue))
        let link = try Link(Protected.client(), server).run()
        let failure = try #require(link.client.failure)
        #expect(failure.code == .certificateRefused)
        #expect(failure.tls?.kind == refused.kind, "\(failure)")
        #expect(failure.tls?.certificate == identity.certificate)
        #expect(failure.tls?.alert == nil)
        #expect(!link.client.isThrough)
    }

    @Test func `a server hears that it was refused`() throws {
        let link = try Link(Protected.client(), Protected.server("other")).run()
        #expect(link.server.failure?.code == .certificateRefused)
        #expect(link.server.failure?.tls?.kind == .refusedByPeer)
        #expect(link.server.failure?.tls?.alert == 48)
    }

    @Test(arguments: [
        "localhost", "LocalHost", "localhost.", "127.0.0.1", "::1", "0:0::1", "::1%lo", "chat.example.com", "x.wild.test", "X-1.WILD.test",
    ])
    func `a name of the certificate passes`(host: String) throws {
        let client = try TLSClient(.init(trust: Protected.trust))
        let link = try Link(client, Protected.server(), host: host).run()
        #expect(link.areBothThrough, "\(String(describing: link.client.failure))")
    }

    @Test(arguments: [
        "localhost.example.com", "local", "127.0.0.2", "127.1", "2130706433", "::2", "example.com", "wild.test", "a.b.wild.test",
    ])
    func `another name doesn't pass`(host: String) throws {
        let client = try TLSClient(.init(trust: Protected.trust))
        let link = try Link(client, Protected.server(), host: host).run()
        #expect(link.client.failure?.tls?.kind == .wrongHost)
        #expect(!link.client.isThrough)
    }

    @Test(arguments: [
        "*.wild.test", ".wild.test", "", ".", "local host", "localhost\u{0}", "010.0.0.1", "10.0.0.00", "ab:cd", "1:2:3:4:5:6:7:8:9", ":::",
        "::ffff:010.0.0.1",
    ])
    func `an endpoint's host that can't be a name is an invalid endpoint`(host: String) throws {
        let client = try TLSClient(.init(trust: Protected.trust))
        #expect { try client.makeHandle(host: host, port: 1) } throws: { ($0 as? SocketError)?.code == .invalidEndpoint }
    }

    @Test func `a wrong host is named`() throws {
        let client = try TLSClient(.init(trust: Protected.trust))
        let failure = try Link(client, Protected.server(), host: "example.com").run().client.failure
        #expect(failure?.description.contains("it isn't for example.com") == true)
        #expect(failure?.description.contains("chat.example.com") == true)
    }

    @Test func `a zero byte ends no name`() throws {
        let client = try TLSClient(.init(trust: Protected.trust))
        let link = try Link(client, Protected.server("zero"), host: "a.test").run()
        #expect(link.client.failure?.tls?.kind == .wrongHost)
        #expect(link.client.failure?.tls?.certificate?.names == ["a.test\\x00.evil.test\\x00"])
    }

    @Test func `the name of the settings comes before the endpoint's`() throws {
        let client = try TLSClient(.init(trust: Protected.trust, serverName: "chat.example.com"))
        let link = try Link(client, Protected.server(), host: "10.0.0.1").run()
        #expect(link.areBothThrough)
        #expect(try link.server.info.serverName == "chat.example.com")
    }

    @Test func `where a name is needed and there is none, that is an invalid setting`() throws {
        let client = try TLSClient(.init(trust: Protected.trust))
        #expect { try client.makeHandle(host: nil, port: nil) } throws: { ($0 as? SocketError)?.code == .invalidSetting }
        let unverified = try TLSClient(.init(trust: .withoutVerification))
        #expect(try Link(unverified, Protected.server(), host: nil).run().areBothThrough)
    }

    @Test(arguments: ["", "a b", "ü.test", "a..b", "ab:cd", "010.0.0.1", String(repeating: "a.", count: 127) + "a"])
    func `what can't be a name is an invalid setting`(name: String) {
        #expect { try TLSClient(.init(serverName: name)) } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }

    @Test func `a server that sends its intermediate certificate passes`() throws {
        let identity = try TLSIdentity(certificatesAtPath: Protected.path("chain.pem"), keyAtPath: Protected.path("leaf.key"))
        let server = try TLSServer(.init(identity: identity))
        let link = try Link(Protected.client(), server).run()
        try #require(link.areBothThrough)
        #expect(try link.client.info.peerCertificates.map(\.subject) == ["CN=leaf,O=Lifeline", "CN=Lifeline test intermediate,O=Lifeline"])
    }

    @Test func `an authority counts even if another stands above it`() throws {
        let client = try Protected.client { $0.trust = .authorities(atPath: Protected.path("intermediate.pem")) }
        #expect(try Link(client, Protected.server("leaf")).run().areBothThrough)
        #expect(try Link(client, Protected.server()).run().client.failure?.tls?.kind == .unknownIssuer)
    }

    @Test func `the system's authorities don't know the tests'`() throws {
        let client = try Protected.client { $0.trust = .system }
        #expect(try Link(client, Protected.server()).run().client.failure?.tls?.kind == .unknownIssuer)
    }

    @Test(arguments: ["expired", "other", "selfsigned", "weak", "sha1", "clientonly", "a"])
    func `without verification any certificate passes and is told`(name: String) throws {
        let client = try Protected.client { $0.trust = .withoutVerification }
        let identity = try Protected.identity(name)
        let link = try Link(client, PlainOpenSSL(server: identity)).run()
        #expect(link.client.isThrough && link.client.failure == nil)
        #expect(try link.client.info.peerCertificates == [identity.certificate])
    }

    @Test(arguments: ["weak", "sha1"])
    func `a server doesn't show a certificate that is too weak`(name: String) {
        #expect { try Protected.server(name) } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }
}
