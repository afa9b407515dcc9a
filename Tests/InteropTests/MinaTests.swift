import Lifeline
import LifelineCore
import Testing

/// This library and Apache MINA with its codecs for text.
@Suite(
    .enabled(if: PeerKind.mina.isTested, "Apache MINA or a Java development kit isn't installed"), .timeLimit(.minutes(4)), .serialized,
    .javaClasses(.mina))
struct MinaTests {
    /// How MINA ends the lines that it sends, and how this side does.
    static let endings = [("unix", Delimiter.lf), ("windows", Delimiter.crlf)]

    static let codec = LineCodec.lines(max: 1 << 20)

    /// Texts behind so many bytes of length, and the longest that such a length can tell, or what MINA is told to accept, which counts the length.
    static let prefixed: [(name: String, codec: PrefixedStringCodec, longest: Int)] = [
        ("prefixed1", .prefixedString(length: .one), 255),
        ("prefixed2", .prefixedString(length: .two), 65_535),
        ("prefixed4", .prefixedString(max: (1 << 20) - 4), (1 << 20) - 4),
    ]
}

extension MinaTests {
    /// This library's client and a server on MINA.
    struct MinaServerTests {
        @Test("Lines go there and back, with either line ending, and a clean end", arguments: MinaTests.endings)
        func echo(theirs: String, ours: Delimiter) async throws {
            try await withServing(.mina, [theirs]) { peer in
                let connection = try await Connection.connect(to: peer.endpoint, codec: .lines(sending: ours))
                for line in ["hello", "", "é€😀", "tab\tand \"quotes\""] {
                    try await connection.send(line)
                    #expect(try await connection.frame() == line)
                }
                try await connection.send("quit")
                #expect(try await connection.frame() == nil)
                #expect(connection.closeReason == .closedByPeer)
                #expect(await connection.close(within: outerLimit))
            }
        }

        @Test("A line of 500,000 bytes and 2,000 short ones come back")
        func longLine() async throws {
            try await withServing(.mina, ["unix"]) { peer in
                let connection = try await Connection.connect(to: peer.endpoint, codec: MinaTests.codec)
                let lines = [String(repeating: "0123456789", count: 50_000)] + (0..<2000).map { "line \($0)" }
                async let answers = connection.frames(lines.count)
                for line in lines { try await connection.send(line) }
                #expect(try await answers == lines)
                #expect(await connection.close(within: outerLimit))
            }
        }

        @Test("Texts behind one, two and four bytes of length come back")
        func prefixed() async throws {
            try await withServing(.mina, MinaTests.prefixed.map(\.name)) { peer in
                for (endpoint, (_, codec, longest)) in zip(peer.endpoints, MinaTests.prefixed) {
                    let connection = try await Connection.connect(to: endpoint, codec: codec)
                    let texts = (0..<200).map { "text \($0) é€😀" } + ["", "two\nlines", String(repeating: "x", count: longest), "last"]
                    try await connection.expectEcho(of: texts)
                    try await connection.send("quit")
                    #expect(try await connection.frame() == nil)
                    #expect(connection.closeReason == .closedByPeer)
                }
                // Beyond MINA's limit.
                let connection = try await Connection.connect(to: peer.endpoints[2], codec: .raw)
                try await connection.send(Bytes(hex: "00100001"))
                #expect(try await connection.frame() == nil)
            }
        }

        @Test("A broadcast of the server's reaches two clients")
        func broadcast() async throws {
            try await withServing(.mina, ["unix"]) { peer in
                let first = try await Connection.connect(to: peer.endpoint, codec: .lines)
                let second = try await Connection.connect(to: peer.endpoint, codec: .lines)
                for connection in [first, second] {
                    try await connection.send("hello")
                    #expect(try await connection.frame() == "hello")
                }
                try await first.send("all news é")
                try await first.send("all more")
                for connection in [first, second] { #expect(try await connection.frames(2) == ["news é", "more"]) }
                // One ends in good order; the other goes on.
                #expect(await first.close(within: outerLimit))
                try await second.send("still here")
                #expect(try await second.frame() == "still here")
            }
        }
    }

    /// This library's server and a client on MINA.
    struct MinaClientTests {
        @Test("Lines go there and back, one of 500,000 bytes too, and then a clean end", arguments: MinaTests.endings)
        func echo(theirs: String, ours: Delimiter) async throws {
            let server = try await bind(.lines(sending: ours, max: 1 << 20))
            let ends = Mailbox<CloseReason?>()
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                while let line = try await connection.frame() { try await connection.send(line) }
                ends.put(connection.closeReason)
            }
            try await serving(server, handler) {
                try await withConnecting(.mina, ["echo"], to: [(theirs, server.endpoint)]) { peer in
                    let facts = try await peer.facts(2)
                    #expect(facts == ["\(theirs) SAME 203", "\(theirs) CLOSED"])
                    #expect(try await ends.next() == .closedByPeer)
                }
            }
        }

        @Test("Texts behind one, two and four bytes of length come back to clients")
        func prefixed() async throws {
            var servers: [(name: String, server: Server<PrefixedStringCodec>)] = []
            for (name, codec, _) in MinaTests.prefixed { servers.append((name, try await bind(codec))) }
            try await serving(servers.map(\.server), InteropTests.echo) {
                try await withConnecting(.mina, ["echo"], to: servers.map { ($0.name, $0.server.endpoint) }) { peer in
                    let facts = try await peer.facts(2 * servers.count)
                    for (name, _) in servers {
                        #expect(facts.filter { $0.hasPrefix("\(name) ") } == ["\(name) SAME 203", "\(name) CLOSED"])
                    }
                }
            }
        }

        @Test("A broadcast reaches the client, and a shutdown is a clean end for it")
        func broadcast() async throws {
            let server = try await bind(MinaTests.codec)
            let hellos = Mailbox<String>()
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                while let line = try await connection.frame() { hellos.put(line) }
            }
            try await withConnecting(.mina, ["listen"], to: [("windows", server.endpoint)]) { peer in
                try await serving(server, handler) {
                    let hello = try await hellos.next()
                    #expect(hello == "hello")
                    #expect(try await server.broadcast("news é").accepted == 1)
                    #expect(try await server.broadcast("more").accepted == 1)
                    #expect(try await peer.facts(2) == ["windows LINE news é", "windows LINE more"])
                }
                #expect(try await peer.fact() == "windows CLOSED")
            }
        }
    }
}
