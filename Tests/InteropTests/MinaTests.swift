import Lifeline
import LifelineCore
import Testing

/// This library and Apache MINA with its codecs for text.
@Suite(
    .enabled(if: PeerKind.mina.isTested, "Apache MINA or a Java development kit isn't installed"), .timeLimit(.minutes(4)), .serialized,
    .minaClasses)
struct MinaTests {
    /// How MINA ends the lines that it sends, and how this side does.
    static let endings = [("unix", Delimiter.lf), ("windows", Delimiter.crlf)]

    static let codec = LineCodec.lines(max: 1 << 20)
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

        @Test("Frames behind four bytes of length go there and back")
        func prefixed() async throws {
            try await withServing(.mina, ["prefixed"]) { peer in
                let connection = try await Connection.connect(to: peer.endpoint, codec: .lengthPrefixed(UInt32.self))
                let frames = ["hello", "", "two\nlines é€😀", String(repeating: "x", count: 100_000), "last"].map { Bytes($0) }
                for frame in frames { try await connection.send(frame) }
                #expect(try await connection.frames(frames.count) == frames)
                try await connection.send(Bytes("quit"))
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
                try await withConnecting(.mina, to: server.endpoint, [theirs, "echo"]) { peer in
                    let facts = try await peer.facts(2)
                    #expect(facts == ["SAME 203", "CLOSED"])
                    #expect(try await ends.next() == .closedByPeer)
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
            try await withConnecting(.mina, to: server.endpoint, ["windows", "listen"]) { peer in
                try await serving(server, handler) {
                    let hello = try await hellos.next()
                    #expect(hello == "hello")
                    #expect(try await server.broadcast("news é").accepted == 1)
                    #expect(try await server.broadcast("more").accepted == 1)
                    #expect(try await peer.facts(2) == ["LINE news é", "LINE more"])
                }
                #expect(try await peer.fact() == "CLOSED")
            }
        }
    }
}
