import LifelineCore
import Testing

@testable import LifelineTLS

/// Servers that ask clients for a certificate.
@Suite struct ClientCertificateTests {
    private func server(_ certificates: TLSServer.ClientCertificates) throws -> TLSServer {
        try Protected.server { $0.clientCertificates = certificates }
    }

    private func client(_ name: String?) throws -> TLSClient {
        try Protected.client { $0.identity = try name.map { try Protected.identity($0) } }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a certificate that passes is told`(version: TLSVersion) throws {
        for certificates in [TLSServer.ClientCertificates.required(Protected.trust), .optional(Protected.trust)] {
            let server = try server(certificates)
            let client = try client("client")
            for isResumed in [false, true] {
                let link = try Link(client, server, version: version).run()
                try #require(link.areBothThrough)
                #expect(try link.server.info.isResumed == isResumed)
                #expect(try link.server.info.peerCertificates == [Protected.identity("client").certificate])
            }
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `whoever needs none has none`(version: TLSVersion) throws {
        for (certificates, name) in [(TLSServer.ClientCertificates.optional(Protected.trust), nil), (.none, "client")] {
            let link = try Link(client(name), server(certificates), version: version).run()
            #expect(link.areBothThrough)
            #expect(try link.server.info.peerCertificates.isEmpty)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a certificate that is missing is asked for`(version: TLSVersion) throws {
        let link = try Link(client(nil), server(.required(Protected.trust)), version: version).run()
        #expect(link.server.failure?.code == .certificateRefused)
        #expect(link.server.failure?.tls?.kind == .missingCertificate)
        #expect(link.client.failure?.code == .certificateRefused)
        #expect(link.client.failure?.tls?.kind == .certificateRequired)
        #expect(link.client.failure?.tls?.alert == (version == .tls13 ? 116 : 40))
        // In TLS 1.3 the client is through before the server has looked.
        #expect(link.client.isThrough == (version == .tls13))
    }

    @Test(
        arguments: [
            ("other-client", TLSError.Kind.unknownIssuer), ("server", .wrongPurpose), ("selfsigned", .selfSigned),
        ], TLSVersion.allCases)
    func `one that doesn't pass is refused, optional or not`(refused: (name: String, kind: TLSError.Kind), version: TLSVersion) throws {
        for certificates in [TLSServer.ClientCertificates.required(Protected.trust), .optional(Protected.trust)] {
            let link = try Link(client(refused.name), server(certificates), version: version).run()
            #expect(link.server.failure?.code == .certificateRefused)
            #expect(link.server.failure?.tls?.kind == refused.kind)
            #expect(try link.server.failure?.tls?.certificate == Protected.identity(refused.name).certificate)
            #expect(link.client.failure?.code == .certificateRefused)
            #expect(link.client.failure?.tls?.kind == .refusedByPeer)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `pinned keys of clients`(version: TLSVersion) throws {
        let pin = try Protected.identity("selfsigned").certificate.publicKeyHash
        let server = try server(.required(.keys([pin])))
        #expect(try Link(client("selfsigned"), server, version: version).run().areBothThrough)
        #expect(try Link(client("client"), server, version: version).run().server.failure?.tls?.kind == .notPinned)
        #expect(try Link(client(nil), server, version: version).run().server.failure?.tls?.kind == .missingCertificate)
        let optional = try self.server(.optional(.keys([pin])))
        #expect(try Link(client(nil), optional, version: version).run().areBothThrough)
        #expect(try Link(client("client"), optional, version: version).run().server.failure?.tls?.kind == .notPinned)
    }

    @Test func `a certificate is asked for under every name`() throws {
        let server = try Protected.server {
            $0.clientCertificates = .required(Protected.trust)
            $0.identities = try ["a.test": Protected.identity("a")]
        }
        let client = try Protected.client { $0.serverName = "a.test" }
        #expect(try Link(client, server).run().server.failure?.tls?.kind == .missingCertificate)
    }

    @Test func `a server names the authorities that it trusts`() throws {
        let link = try Link(client("client"), server(.required(Protected.trust)), version: .tls12)
        link.client.act()
        link.server.receive(link.client.take())
        // In TLS 1.2 the request is readable: it holds the name in DER.
        let name = Array("Lifeline test authority".utf8)
        let flight = link.server.take()
        let request = flight.suffix(200)
        #expect(request.indices.contains { request[$0...].starts(with: name) })
    }

    @Test(arguments: TLSVersion.allCases)
    func `a client hears that its key isn't pinned`(version: TLSVersion) throws {
        let pin = try Protected.identity("selfsigned").certificate.publicKeyHash
        for trust in [TLSTrust.keys([pin]), Protected.trust.pinned(to: [pin])] {
            let link = try Link(client("client"), server(.optional(trust)), version: version).run()
            #expect(link.server.failure?.tls?.kind == .notPinned)
            #expect(link.client.failure?.tls?.kind == .refusedByPeer)
            #expect(link.client.failure?.tls?.alert == 42)
        }
    }
}
