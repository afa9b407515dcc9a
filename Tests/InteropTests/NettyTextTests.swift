import Lifeline
import LifelineCore
import LifelineJSON
import Testing

/// This library's lines and delimiters and Netty's `LineBasedFrameDecoder`, `DelimiterBasedFrameDecoder` and `JsonObjectDecoder`.
@Suite(
    .enabled(if: PeerKind.netty.isTested, "Netty or a Java development kit isn't installed"), .timeLimit(.minutes(4)), .serialized,
    .javaClasses(.netty), .servers(.netty, ["line", "crlf", "nul", "word", "json"]))
struct NettyTextTests {
    /// By the names that the peer has for them. Netty's limit is 128 KiB.
    static let codecs: [(name: String, codec: LineCodec)] = [
        ("line", .lines(max: 1 << 17)),
        ("crlf", .lines(sending: .crlf, max: 1 << 17)),
        ("nul", .lines(accepting: .delimiter(.nul), sending: .nul, max: 1 << 17)),
        ("word", .lines(accepting: .delimiter("--end--"), sending: "--end--", max: 1 << 17)),
        ("json", .lines(max: 1 << 17)),
    ]

    struct Note: Codable, Hashable {
        var index: Int
        var text: String
        var nested: [[String: [Int]]] = [[:], ["a": [1, 2]]]
    }

    @Test("C01: this client's lines come back from a Netty server, cut and glued", arguments: codecs.filter { $0.name != "json" })
    func client(name: String, codec: LineCodec) async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint(name), codec: codec)
        let long = String(repeating: "0123456789", count: 10_000)
        try await connection.expectEcho(of: (0..<200).map { "line \($0) é€😀 --end -" } + ["", long, "last"])
        #expect(await connection.close(within: outerLimit))
    }

    @Test("Netty's JSON splitter finds this client's texts by their braces, and its own come back in lines")
    func json() async throws {
        let codec = NettyTextTests.codecs[4].codec.lines.json(of: Note.self)
        let connection = try await Connection.connect(to: SharedServers.endpoint("json"), codec: codec)
        let texts = ["", "}{", "\"}\\", "é€😀", "two\nlines", String(repeating: "]", count: 50_000)]
        try await connection.expectEcho(of: texts.enumerated().map { Note(index: $0, text: $1) })
        #expect(await connection.close(within: outerLimit))
    }

    @Test("Netty ends the connection for what can't be JSON")
    func notJSON() async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint("json"), codec: .lines)
        try await connection.send(#"{"a":1}"#)
        try await connection.send("never")
        let rest = await connection.rest()
        #expect(rest.frames == [#"{"a":1}"#])
        #expect(rest.error == nil)
        #expect(connection.closeReason == .closedByPeer)
    }

    @Test("C01: a Netty client's lines and JSON texts come back from this server, cut and glued")
    func server() async throws {
        var servers: [(name: String, server: Server<LineCodec>)] = []
        for (name, codec) in Self.codecs { servers.append((name, try await bind(codec))) }
        try await serving(servers.map(\.server), echo) {
            try await withConnecting(.netty, to: servers.map { ($0.name, $0.server.endpoint) }) { peer in
                let facts = try await peer.facts(2 * servers.count)
                for (name, _) in servers { #expect(facts.filter { $0.hasPrefix("\(name) ") } == ["\(name) SAME 203", "\(name) CLOSED"]) }
            }
        }
    }

    @Test("C07: a line of Netty's beyond this side's limit is an error, after the lines before it")
    func refusedHere() async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint("crlf"), codec: .lines(max: 1000, maxOutgoing: 2000))
        for count in [1, 1000, 1001] { try await connection.send(String(repeating: "x", count: count)) }
        let rest = await connection.rest()
        #expect(rest.frames.map(\.utf8.count) == [1, 1000])
        #expect((rest.error as? SocketError)?.code == .frameTooLarge)
    }
}
