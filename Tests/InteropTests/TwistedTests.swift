import Lifeline
import LifelineCore
import Testing

/// This library and Twisted's receivers, with the limits that those have by themselves.
@Suite(
    .enabled(if: PeerKind.twisted.isTested, "no Python with Twisted"), .timeLimit(.minutes(4)), .serialized)
struct TwistedTests {
    static let int32 = LengthPrefixCodec(max: 99_999)
    static let int16 = LengthPrefixCodec(layout: LengthLayout(width: .two))
    static let netstring = NetstringCodec(max: 99_999)
    static let line = LineCodec(accepting: .crlf, sending: .crlf, max: 16_384)

    /// This library's client and servers on Twisted.
    @Suite(.servers(.twisted, ["int32", "int16", "line", "netstring"]))
    struct TwistedServerTests {}

    /// This library's servers and clients on Twisted.
    struct TwistedClientTests {}
}

extension TwistedTests.TwistedServerTests {
    @Test(
        "C01: frames come back whole from a server that cuts them, up to its limit",
        arguments: [("int32", TwistedTests.int32, 99_999), ("int16", TwistedTests.int16, 65_535)])
    func strings(name: String, codec: LengthPrefixCodec, longest: Int) async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint(name), codec: codec)
        let bytes = (0..<longest).map { UInt8(truncatingIfNeeded: $0) }
        try await connection.expectEcho(of: (0..<200).map { Bytes(bytes[..<$0]) } + [Bytes(bytes), Bytes(), Bytes("last")])
        #expect(await connection.close(within: outerLimit))
    }

    @Test("C01: netstrings come back whole from a server that cuts them, up to its limit")
    func netstrings() async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint("netstring"), codec: TwistedTests.netstring)
        let bytes = (0..<99_999).map { UInt8(truncatingIfNeeded: $0) }
        try await connection.expectEcho(of: (0..<200).map { Bytes(bytes[..<$0]) } + [Bytes(bytes), Bytes(), Bytes("5:hello,")])
        #expect(await connection.close(within: outerLimit))
    }

    @Test("C01, C03: lines come back whole from a server that cuts them, inside CR LF too, up to its limit")
    func lines() async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint("line"), codec: TwistedTests.line)
        let lines = (0..<200).map { "line \($0) é€😀" } + ["", "a\rb\nc", String(repeating: "x", count: 16_384), "last"]
        try await connection.expectEcho(of: lines)
        #expect(await connection.close(within: outerLimit))
    }

    @Test(
        "What is beyond the server's limit, or no netstring, is an end",
        arguments: [
            ("int32", Bytes(hex: "000186a0")),
            // One byte more than a line that may still end.
            ("line", Bytes(Array(repeating: 0x78, count: 16_386))),
            ("netstring", Bytes("100000:")), ("netstring", Bytes("x:")), ("netstring", Bytes("05:")), ("netstring", Bytes("2:ok;")),
        ])
    func refusedByPeer(name: String, bytes: Bytes) async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint(name), codec: .raw)
        try await connection.send(bytes)
        let rest = await connection.rest()
        #expect(rest.frames.isEmpty && rest.error == nil)
        #expect(connection.closeReason == .closedByPeer)
    }

    private func refuse<C: Codec>(_ codec: C, of name: String) async throws where C.Message == Bytes, C.Outgoing == Bytes {
        let connection = try await Connection.connect(to: SharedServers.endpoint(name), codec: codec)
        for count in [1, 1000, 1001] { try await connection.send(Bytes(Array(repeating: 7, count: count))) }
        let rest = await connection.rest()
        #expect(rest.frames.map(\.count) == [1, 1000])
        #expect((rest.error as? SocketError)?.code == .frameTooLarge)
    }

    @Test("A frame beyond this side's limit is an error, after the frames before it")
    func refusedHere() async throws {
        try await refuse(LengthPrefixCodec(max: 1000, maxOutgoing: 2000), of: "int32")
        try await refuse(NetstringCodec(max: 1000, maxOutgoing: 2000), of: "netstring")
    }
}

extension TwistedTests.TwistedClientTests {
    @Test("C01, C03: what clients cut anywhere is whole, and comes back to them")
    func echoes() async throws {
        let strings = [("int32", try await bind(TwistedTests.int32)), ("int16", try await bind(TwistedTests.int16))]
        let netstrings = try await bind(TwistedTests.netstring)
        let lines = try await bind(TwistedTests.line)
        let servers = strings.map { ($0.0, $0.1.endpoint) } + [("netstring", netstrings.endpoint), ("line", lines.endpoint)]
        try await serving(strings.map(\.1), echo) {
            try await serving(netstrings, echo) {
                try await serving(lines, echo) {
                    try await withConnecting(.twisted, to: servers) { peer in
                        let facts = try await peer.facts(2 * servers.count)
                        for (name, _) in servers {
                            #expect(facts.filter { $0.hasPrefix("\(name) ") } == ["\(name) SAME 203", "\(name) CLOSED ConnectionDone"])
                        }
                    }
                }
            }
        }
    }

    @Test("A client's frame beyond this side's limit ends its connection with an error here")
    func refusedHere() async throws {
        let server = try await bind(LengthPrefixCodec(max: 1000))
        let sights = Mailbox<SocketError?>()
        let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
            sights.put(await connection.rest().error as? SocketError)
        }
        try await serving(server, handler) {
            try await withConnecting(.twisted, to: [("int32", server.endpoint)]) { peer in
                let error = try await sights.next()
                #expect(error?.code == .frameTooLarge)
                // Cleanly or not: it still had something to say.
                let fact = try await peer.fact()
                #expect(fact.hasPrefix("int32 CLOSED"))
            }
        }
    }
}
