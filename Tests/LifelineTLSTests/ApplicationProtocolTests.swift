import LifelineCore
import Testing

@testable import LifelineTLS

/// Agreeing on an application protocol (ALPN, RFC 7301).
@Suite struct ApplicationProtocolTests {
    private func link(_ client: [String], _ server: [String], _ version: TLSVersion = .tls13) throws -> Link {
        let client = try Protected.client { $0.applicationProtocols = client }
        return try Link(client, Protected.server { $0.applicationProtocols = server }, version: version).run()
    }

    @Test(arguments: TLSVersion.allCases)
    func `the server's order decides`(version: TLSVersion) throws {
        let link = try link(["one", "two", "three"], ["none", "three", "two"], version)
        #expect(try link.client.info.applicationProtocol == "three")
        #expect(try link.server.info.applicationProtocol == "three")
    }

    @Test func `no name is taken for the beginning of another`() throws {
        #expect(try link(["ab", "a"], ["a"]).client.info.applicationProtocol == "a")
        #expect(try link(["ab"], ["a"]).client.isThrough == false)
    }

    @Test func `an end without protocols agrees on none`() throws {
        for (client, server) in [(["a"], []), ([], ["a"]), ([], [])] as [([String], [String])] {
            let link = try link(client, server)
            #expect(link.areBothThrough)
            #expect(try link.client.info.applicationProtocol == nil)
            #expect(try link.server.info.applicationProtocol == nil)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `ends without a common protocol tell so`(version: TLSVersion) throws {
        let link = try link(["one"], ["two"], version)
        #expect(link.server.failure?.code == .handshakeFailed)
        #expect(link.server.failure?.tls?.kind == .noCommonProtocol)
        #expect(link.client.failure?.code == .handshakeFailed)
        #expect(link.client.failure?.tls?.kind == .noCommonProtocol)
        #expect(link.client.failure?.tls?.alert == 120)
    }

    @Test func `a name has 1 to 255 bytes`() throws {
        let longest = String(repeating: "x", count: 255)
        #expect(try link([longest], [longest]).client.info.applicationProtocol == longest)
        for names in [[""], [longest + "x"], Array(repeating: longest, count: 256)] {
            #expect { try Protected.client { $0.applicationProtocols = names } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
            #expect { try Protected.server { $0.applicationProtocols = names } } throws: { ($0 as? SocketError)?.code == .invalidSetting }
        }
    }

    @Test func `what a client offers is read with care`() throws {
        let own = try ApplicationProtocols(["b"])
        func choice(_ offered: [UInt8]) -> Range<Int>? { offered.withUnsafeBufferPointer { own.choice(from: $0) } }
        #expect(choice([1, 0x61, 1, 0x62]) == 3..<4)
        #expect(choice([1, 0x61, 2, 0x62]) == nil)
        #expect(choice([255]) == nil)
        #expect(choice([0, 0, 0]) == nil)
        #expect(choice([]) == nil)
    }
}
