import Lifeline
import LifelineCore
import Testing

/// Requests and responses behind a header of 16 bytes, with servers and clients on Node.js.
@Suite(.enabled(if: PeerKind.requests.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct RequestTests {
    /// What the peer is told, and the codec that is the same.
    static let formats: [(settings: [String], codec: RequestHeaderCodec)] = [
        ([], .requestHeader),
        (["little"], .requestHeader(.little)),
        (["body"], .requestHeader(counts: .body)),
        (["little", "body"], .requestHeader(.little, counts: .body)),
    ]

    private static let (echoing, hold, release, subscribe, news): (Int32, Int32, Int32, Int32, Int32) = (1, 2, 3, 4, 100)

    private static func packet(_ serial: Int32, _ command: Int32, code: Int32 = 0, _ body: String = "") -> Packet<RequestHeader, Bytes> {
        Packet(header: RequestHeader(serial: serial, command: command, code: code), body: Bytes(body))
    }

    @Test("C01: responses have the serials of their requests, in whatever order; results and pushes are told apart", arguments: formats)
    func client(settings: [String], codec: RequestHeaderCodec) async throws {
        try await withServing(.requests, ["answer", "1"] + settings) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: codec)
            let (first, second, long) = ("first é", "second", String(repeating: "0123456789", count: 10_000))
            let requests = [
                Self.packet(1, Self.hold, first), Self.packet(2, Self.hold, second), Self.packet(.max, Self.echoing, long),
                Self.packet(-4, 77), Self.packet(5, Self.subscribe), Self.packet(6, Self.release),
            ]
            for request in requests { try await connection.send(request) }
            try await connection.finishSending()
            let rest = await connection.rest()
            #expect(
                rest.frames == [
                    Self.packet(.max, Self.echoing, long), Self.packet(-4, 77, code: -404, "no command 77"), Self.packet(5, Self.subscribe),
                    Self.packet(0, Self.news, "news 1 é"), Self.packet(0, Self.news, "news 2 é"), Self.packet(0, Self.news, "news 3 é"),
                    Self.packet(2, Self.hold, second), Self.packet(1, Self.hold, first), Self.packet(6, Self.release),
                ])
            #expect(rest.error == nil)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("Requests under way get their own answers, in whatever order; pushes reach the reader", arguments: formats)
    func pairing(settings: [String], codec: RequestHeaderCodec) async throws {
        try await withServing(.requests, ["answer", "1"] + settings) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: codec, pairing: .serial())
            let many = try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask { try await connection.request(Self.packet(0, Self.echoing, "\(number)"), within: outerLimit).body }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(many.count == 100)
            #expect(try await connection.request(Self.packet(0, 77), within: outerLimit).header.code == -404)
            #expect(try await connection.request(Self.packet(0, Self.subscribe), within: outerLimit).header.isSuccess)
            #expect(try await connection.next() == Self.packet(0, Self.news, "news 1 é"))
            try await withThrowingTaskGroup(of: (String, String)?.self) { group in
                for name in ["first é", "second"] {
                    group.addTask {
                        let answer = try await connection.request(Self.packet(0, Self.hold, name), within: outerLimit)
                        return (name, String(answer.body))
                    }
                }
                group.addTask {
                    // What is held is answered before the release is; which goes first is open.
                    while !Task.isCancelled { _ = try? await connection.request(Self.packet(0, Self.release), within: outerLimit) }
                    return nil
                }
                for _ in 0..<2 {
                    let (name, answer) = try #require(try await group.next() ?? nil)
                    #expect(answer == name)
                }
                group.cancelAll()
            }
            #expect(await connection.info.requests?.unknown == 0)
            await connection.close(within: outerLimit)
        }
    }

    @Test("C01: five hundred requests are answered, cut and glued")
    func manyRequests() async throws {
        try await withServing(.requests, ["answer", "3"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .requestHeader)
            try await connection.expectEcho(
                of: (1...500).map { Self.packet($0, Self.echoing, String(repeating: "x", count: Int($0) * 17 % 3000)) })
            #expect(await connection.close(within: outerLimit))
        }
    }

    @Test("C01: a client pairs this server's responses, which come in another order and with pushes between", arguments: formats)
    func server(settings: [String], codec: RequestHeaderCodec) async throws {
        let server = try await bind(codec)
        // Each second request is answered before the one that came before it.
        let handler: @Sendable (Connection<RequestHeaderCodec>) async throws -> Void = { connection in
            try await connection.send(Self.packet(0, Self.news, "hello"))
            while let first = try await connection.frame(), let second = try await connection.frame() {
                try await connection.send(second)
                try await connection.send(first)
            }
        }
        try await serving(server, handler) {
            try await withConnecting(.requests, to: server.endpoint, ["ask", "2", "300"] + settings) { peer in
                #expect(try await peer.facts(2) == ["PUSH 100 hello", "ANSWERED 300 IN ANOTHER ORDER"])
                let facts = try await peer.facts(3)
                #expect(facts.sorted() == ["0 CLOSED", "0 END", "0 FINISHED"])
            }
        }
    }

    @Test(
        "A length that can't be meant is an error at once, after the packets before it",
        arguments: [("0000000f", SocketError.Code.protocolViolation), ("ffffffff", .protocolViolation), ("7fffffff", .frameTooLarge)])
    func badLength(length: String, code: SocketError.Code) async throws {
        let good = "00000012" + "00000001" + "00000001" + "00000000" + hex("ok")
        try await withServing(.node, ["chunks", good + length + "00000002" + "00000001" + "00000000", "stay"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .requestHeader)
            let rest = await connection.rest()
            #expect(rest.frames == [Self.packet(1, 1, "ok")])
            #expect((rest.error as? SocketError)?.code == code)
        }
    }
}
