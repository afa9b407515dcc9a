import LifelineCore
import Testing

@testable import LifelineTLS

/// Public keys that are pinned.
@Suite struct PinTests {
    private static func pin(_ name: String) throws -> String { try Protected.identity(name).certificate.publicKeyHash }

    @Test(arguments: TLSVersion.allCases)
    func `a pinned key passes, another doesn't`(version: TLSVersion) throws {
        let client = try Protected.client { $0.trust = try Protected.trust.pinned(to: [Self.pin("server"), Self.pin("a")]) }
        #expect(try Link(client, Protected.server(), version: version).run().areBothThrough)
        let failure = try Link(client, Protected.server("ec"), version: version).run().client.failure
        #expect(failure?.code == .certificateRefused)
        #expect(failure?.tls?.kind == .notPinned)
        #expect(try failure?.tls?.certificate == Protected.identity("ec").certificate)
    }

    @Test func `a pinned key of an unknown authority's doesn't pass`() throws {
        let client = try Protected.client { $0.trust = try Protected.trust.pinned(to: [Self.pin("other")]) }
        #expect(try Link(client, Protected.server("other")).run().client.failure?.tls?.kind == .unknownIssuer)
    }

    @Test(arguments: ["selfsigned", "expired", "other", "a"])
    func `where only keys count, the rest of the certificate doesn't`(name: String) throws {
        let client = try Protected.client { $0.trust = try .keys([Self.pin(name)]) }
        #expect(try Link(client, Protected.server(name)).run().areBothThrough)
        #expect(try Link(client, Protected.server()).run().client.failure?.tls?.kind == .notPinned)
    }

    @Test(arguments: ["", "sha256/abc", String(repeating: "A", count: 44), String(repeating: "A", count: 42) + "B=", "ä"])
    func `a pin that nobody could have is an invalid setting`(pin: String) {
        #expect { try Protected.client { $0.trust = .keys([pin]) } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }

    @Test func `no pin at all is an invalid setting`() {
        #expect { try Protected.client { $0.trust = .keys([]) } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session of a server that wasn't pinned isn't kept`(version: TLSVersion) throws {
        let client = try Protected.client { $0.trust = try .keys([Self.pin("a")]) }
        let link = try Link(client, Protected.server(), version: version).run()
        #expect(link.client.failure?.tls?.kind == .notPinned)
        #expect(client.sessions?.count == 0)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a server hears that its key isn't pinned`(version: TLSVersion) throws {
        for trust in try [TLSTrust.keys([Self.pin("a")]), Protected.trust.pinned(to: [Self.pin("a")])] {
            let link = try Link(Protected.client { $0.trust = trust }, Protected.server(), version: version).run()
            #expect(link.client.failure?.tls?.kind == .notPinned)
            #expect(!link.client.isThrough)
            #expect(link.server.failure?.tls?.kind == .refusedByPeer)
            #expect(link.server.failure?.tls?.alert == 42)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `pins count for sessions that are gone on with, too`(version: TLSVersion) throws {
        let server = try Protected.server()
        let client = try Protected.client()
        try Link(client, server, version: version).run()
        let key = SessionCache.Key(name: .dns("localhost"), port: 7000)
        let session = try #require(client.sessions?.session(for: key))
        let pinning = try Protected.client { $0.trust = try Protected.trust.pinned(to: [Self.pin("a")]) }
        pinning.sessions?.keep(session, for: key)
        let link = try Link(pinning, server, version: version).run()
        #expect(try link.client.info.isResumed)
        #expect(link.client.failure?.tls?.kind == .notPinned)
    }

    @Test func `whoever is pinned twice has to be among both`() throws {
        let pins = try (server: Self.pin("server"), a: Self.pin("a"))
        let client = try Protected.client { $0.trust = Protected.trust.pinned(to: [pins.server, pins.a]).pinned(to: [pins.a]) }
        #expect(try Link(client, Protected.server()).run().client.failure?.tls?.kind == .notPinned)
        for trust in [TLSTrust.keys([pins.a]).pinned(to: [pins.server]), Protected.trust.pinned(to: [])] {
            #expect { try Protected.client { $0.trust = trust } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
            #expect {
                try Protected.server { $0.clientCertificates = .optional(trust) }
            } throws: {
                ($0 as? SocketError)?.code == .invalidSetting
            }
        }
    }
}
