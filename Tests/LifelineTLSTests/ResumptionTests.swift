import COpenSSL
import LifelineCore
import Testing

@testable import LifelineTLS

/// Going on with earlier sessions.
@Suite struct ResumptionTests {
    @Test(arguments: TLSVersion.allCases)
    func `a second connection goes on with the first one's session`(version: TLSVersion) throws {
        let client = try Protected.client { $0.applicationProtocols = ["a"] }
        let server = try Protected.server { $0.applicationProtocols = ["a"] }
        #expect(try Link(client, server, version: version).run().client.info.isResumed == false)
        let link = try Link(client, server, version: version).run()
        try #require(link.areBothThrough)
        #expect(try link.client.info.isResumed)
        #expect(try link.server.info.isResumed)
        // What the first one has told is there again.
        #expect(try link.client.info.peerCertificates == [Protected.identity().certificate])
        #expect(try link.client.info.applicationProtocol == "a")
        #expect(try link.client.info.serverName == "localhost")
        #expect(try link.server.info.serverName == "localhost")
        #expect(try Link(client, server, version: version).run().client.info.isResumed)
    }

    @Test func `a ticket of TLS 1.3 is used once`() throws {
        let client = try Protected.client()
        let server = try Protected.server()
        try Link(client, server).run()
        let count = try #require(client.sessions?.count)
        #expect(count > 0)
        // These never get so far that new tickets come.
        let links = try (0...count).map { _ in try Link(client, server) }
        #expect(client.sessions?.count == 0)
        let resumed = links.filter { (try? $0.run().client.info.isResumed) == true }
        #expect(resumed.count == count)
    }

    @Test(arguments: TLSVersion.allCases)
    func `an end that doesn't want to doesn't`(version: TLSVersion) throws {
        let ends = [
            (try Protected.client { $0.resumesSessions = false }, try Protected.server()),
            (try Protected.client(), try Protected.server { $0.resumesSessions = false }),
        ]
        for (client, server) in ends {
            for _ in 0..<2 {
                let link = try Link(client, server, version: version).run()
                #expect(link.areBothThrough)
                #expect(try link.client.info.isResumed == false)
            }
            #expect(client.sessions?.count ?? 0 == 0)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session is of use with its own server only`(version: TLSVersion) throws {
        let client = try TLSClient(.init(trust: Protected.trust))
        let server = try Protected.server()
        try Link(client, server, host: "localhost", port: 1, version: version).run()
        #expect(try Link(client, server, host: "localhost", port: 2, version: version).run().client.info.isResumed == false)
        #expect(try Link(client, server, host: "127.0.0.1", port: 1, version: version).run().client.info.isResumed == false)
        #expect(try Link(client, server, host: "LOCALHOST.", port: 1, version: version).run().client.info.isResumed)
        // Another one at the same place, such as one that was started anew, takes a whole handshake.
        let link = try Link(client, Protected.server(), host: "localhost", port: 1, version: version).run()
        #expect(link.areBothThrough)
        #expect(try link.client.info.isResumed == false)
    }

    @Test(arguments: TLSVersion.allCases)
    func `no name's session is gone on with under another's certificate`(version: TLSVersion) throws {
        // One that doesn't mind the name offers what it has to whomever it asks for.
        let server = try Protected.server { $0.identities = try ["a.test": Protected.identity("a")] }
        let client = try TLSClient(.init(trust: .withoutVerification))
        try Link(client, server, host: "localhost", version: version).run()
        let session = try #require(client.sessions?.session(for: .init(name: .dns("localhost"), port: 7000)))
        client.sessions?.keep(session, for: .init(name: .dns("a.test"), port: 7000))
        let link = try Link(client, server, host: "a.test", version: version).run()
        try #require(link.areBothThrough)
        #expect(try link.client.info.isResumed == false)
        #expect(try link.client.info.peerCertificates == [Protected.identity("a").certificate])
    }

    @Test(arguments: TLSVersion.allCases)
    func `new certificates don't end sessions`(version: TLSVersion) throws {
        let client = try Protected.client()
        let server = try Protected.server()
        try Link(client, server, version: version).run()
        try server.replaceIdentities(Protected.identity("ec"), named: [:])
        #expect(try Link(client, server, version: version).run().client.info.isResumed)
    }

    @Test(arguments: TLSVersion.allCases)
    func `an expired certificate's session isn't kept`(version: TLSVersion) throws {
        let client = try Protected.client { $0.trust = .withoutVerification }
        let server = try Protected.server("expired")
        for _ in 0..<2 {
            let link = try Link(client, server, version: version).run()
            try #require(link.areBothThrough)
            #expect(try link.client.info.isResumed == false)
        }
        #expect(client.sessions?.count == 0)
    }

    @Test(arguments: TLSVersion.allCases)
    func `an expired client's session isn't gone on with by the server`(version: TLSVersion) throws {
        let client = try Protected.client { $0.identity = try Protected.identity("expired") }
        let server = try Protected.server { $0.clientCertificates = .required(.withoutVerification) }
        for _ in 0..<2 {
            let link = try Link(client, server, version: version).run()
            try #require(link.areBothThrough)
            #expect(try link.server.info.isResumed == false)
        }
    }

    /// Replaces what a client keeps by a session that is older. Returns the time that it is from.
    private func age(_ client: TLSClient, by age: Int64) throws -> Int64 {
        let key = SessionCache.Key(name: .dns("localhost"), port: 7000)
        let sessions = try #require(client.sessions)
        let session = try #require(sessions.session(for: key))
        while sessions.session(for: key)?.isForOneUse == true {}
        let copy = try #require(SSL_SESSION_dup(session.pointer))
        let time = TLSSession.now - age
        sessions.keep(TLSSession(owning: copy, handshakeTime: time), for: key)
        return time
    }

    @Test(arguments: TLSVersion.allCases)
    func `a client's session ages from the last whole handshake`(version: TLSVersion) throws {
        let client = try Protected.client()
        let server = try Protected.server()
        try Link(client, server, version: version).run()
        let time = try age(client, by: TLSSession.longestAge - 1000)
        #expect(try Link(client, server, version: version).run().client.info.isResumed)
        // What has come of it, in TLS 1.3 a new session, is no younger.
        let key = SessionCache.Key(name: .dns("localhost"), port: 7000)
        let session = try #require(client.sessions?.session(for: key))
        #expect(session.handshakeTime == time)
        client.sessions?.keep(session, for: key)
        #expect(client.sessions?.session(for: key, at: TLSSession.now + 1000) == nil)
        #expect(client.sessions?.count == 0)
        #expect(try Link(client, server, version: version).run().client.info.isResumed == false)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session isn't fresh when its time is over, its certificate is, or the clock was put back`(version: TLSVersion) throws {
        let client = try Protected.client()
        try Link(client, Protected.server(), version: version).run()
        let session = try #require(client.sessions?.session(for: .init(name: .dns("localhost"), port: 7000)))
        #expect(session.isFresh(at: session.handshakeTime))
        #expect(session.isFresh(at: session.handshakeTime + 86_399))
        #expect(!session.isFresh(at: session.handshakeTime + 86_400))
        #expect(!session.isFresh(at: session.handshakeTime - 1))
        #expect(try session.expiry == Protected.identity().certificate.notAfter)
        let late = TLSSession(owning: try #require(SSL_SESSION_dup(session.pointer)), handshakeTime: session.expiry - 10)
        #expect(late.isFresh(at: session.expiry - 1))
        #expect(!late.isFresh(at: session.expiry))
    }

    /// A handshake whose tickets say that it was `age` seconds ago. Returns the time that this is.
    @discardableResult
    private func handshake(_ client: TLSClient, _ server: TLSServer, _ version: TLSVersion, age: Int64) throws -> Int64 {
        let link = try Link(client, server, version: version)
        link.client.act()
        link.server.receive(link.client.take())
        var time = TLSSession.now - age
        try #require(SSL_SESSION_set1_ticket_appdata(SSL_get_session(link.server.ssl), &time, MemoryLayout.size(ofValue: time)) == 1)
        link.client.receive(link.server.take())
        try #require(link.run().areBothThrough)
        return time
    }

    @Test(arguments: TLSVersion.allCases)
    func `a server's ticket ages from the last whole handshake`(version: TLSVersion) throws {
        let client = try Protected.client()
        let server = try Protected.server()
        let time = try handshake(client, server, version, age: 86_400 - 1000)
        let link = try Link(client, server, version: version).run()
        #expect(try link.server.info.isResumed)
        var stamp: UnsafeMutableRawPointer?
        var count = 0
        try #require(SSL_SESSION_get0_ticket_appdata(SSL_get_session(link.server.ssl), &stamp, &count) == 1)
        try #require(count == MemoryLayout<Int64>.size)
        #expect(try #require(stamp).loadUnaligned(as: Int64.self) == time)
        for age in [86_400, -1000] as [Int64] {
            let client = try Protected.client()
            try handshake(client, server, version, age: age)
            let link = try Link(client, server, version: version).run()
            #expect(link.areBothThrough)
            #expect(try link.server.info.isResumed == false)
            // The whole handshake's own session is of use again.
            #expect(try Link(client, server, version: version).run().server.info.isResumed)
        }
    }

    @Test func `the cache is bounded and forgets what wasn't used for longest`() throws {
        let client = try Protected.client()
        try Link(client, Protected.server(), version: .tls12).run()
        let session = try #require(client.sessions?.session(for: .init(name: .dns("localhost"), port: 7000)))
        #expect(!session.isForOneUse)
        let cache = SessionCache()
        func key(_ port: UInt16) -> SessionCache.Key { SessionCache.Key(name: .dns("a"), port: port) }
        for port in 0..<UInt16(SessionCache.mostKeys) { cache.keep(session, for: key(port)) }
        #expect(cache.session(for: key(0)) != nil)
        cache.keep(session, for: key(9999))
        #expect(cache.count == SessionCache.mostKeys)
        #expect(cache.session(for: key(0)) != nil)
        #expect(cache.session(for: key(1)) == nil)
        #expect(cache.session(for: key(9999)) != nil)
    }

    @Test func `a server's many tickets take bounded room`() throws {
        let client = try Protected.client()
        let links = try (0..<5).map { _ in try Link(client, Protected.server()) }
        for link in links { link.run() }
        #expect(client.sessions?.count == SessionCache.mostSessionsOfKey)
    }
}
