import Lifeline
import LifelineCore
import LifelineJSON
import Testing

/// Bodies behind a JSON header, with servers and clients on Node.js.
@Suite(.enabled(if: PeerKind.sizeHeaders.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct SizeHeaderTests {
    /// How the peer writes its headers: compact, over several lines, with tabs and a line's end at the end, with the size as a number.
    static let styles = ["compact", "pretty", "tabs", "number"]

    @Test(
        "C01: bodies, and the header's other values, come back from a server that cuts them; heartbeats aren't answered", arguments: styles)
    func client(style: String) async throws {
        try await withServing(.sizeHeaders, ["echo", style, "1"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .jsonHeader)
            let heartbeat = Packet(header: JSONHeader(), body: Bytes(#"{"data":"com.example.alive"}"#))
            try await connection.send(heartbeat)
            let headers: [JSONHeader] = [[:], ["type": "chat é", "id": 7], ["tags": [1.5, true, nil, ["a": "\"}"]], "sum": "00ff"]]
            let texts = ["", "测试🙂", "\r\n", #"{"size":"3"}"# + "\r\n", String(repeating: "0123456789", count: 7000), "last"]
            try await connection.expectEcho(
                of: texts.flatMap { text in headers.map { Packet(header: $0, body: Bytes(text)) } })
            try await connection.send(heartbeat)
            try await connection.finishSending()
            #expect(try await connection.frame() == nil)
            #expect(connection.closeReason == .closedByPeer)
            #expect(try await peer.facts(2) == ["ALIVE", "ALIVE"])
        }
    }

    @Test("C01: a client's bodies, and its headers' other values, come back to it, cut and glued", arguments: styles)
    func server(style: String) async throws {
        let server = try await bind(.jsonHeader)
        try await serving(server, echo) {
            try await withConnecting(.sizeHeaders, to: server.endpoint, ["echo", style, "2", "200"]) { peer in
                let facts = try await peer.facts(4)
                #expect(facts[0] == "SAME 200")
                #expect(facts[1...].sorted() == ["0 CLOSED", "0 END", "0 FINISHED"])
            }
        }
    }

    @Test("C16: a size counts bytes, not characters, and the peer may cut inside one")
    func bytesNotCharacters() async throws {
        let header = #"{"size":"10"}"# + "\r\n"
        let body = Array("测试🙂".utf8)
        let chunks = [hex(header) + hex(body[..<4]), hex(body[4...]) + hex(#"{"size":2}"# + "\r\nok")]
        try await withServing(.node, ["chunks"] + chunks + ["end"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .jsonHeader)
            try await eventually { await connection.info.bytesReceived == UInt64(header.utf8.count + 4) }
            // Each has one line's end, which is what the peer waits for.
            let next = Packet(header: JSONHeader(), body: Bytes("next"))
            for _ in chunks { try await connection.send(next) }
            let rest = await connection.rest()
            #expect(rest.frames.map(\.body) == [Bytes("测试🙂"), Bytes("ok")])
            #expect(rest.error == nil)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test(
        "C18: a bad header is an error at once, after the bodies before it",
        arguments: [#"{"size":"-1"}"#, #"{"size":1e99}"#, #"{"type":"chat"}"#])
    func badHeader(header: String) async throws {
        let stream = #"{"size":"2"}"# + "\r\nok" + header + "\r\n" + #"{"size":"5"}"# + "\r\nnever"
        try await withServing(.node, ["chunks", hex(stream), "stay"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .jsonHeader)
            let rest = await connection.rest()
            #expect(rest.frames.map(\.body) == [Bytes("ok")])
            let code = (rest.error as? SocketError)?.code
            #expect(code == (header.contains("99") ? .frameTooLarge : .protocolViolation))
        }
    }
}
