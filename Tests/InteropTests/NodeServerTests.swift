import Lifeline
import LifelineCore
import Testing

/// This library's client and a server on Node.js: what is said.
@Suite(.enabled(if: PeerKind.node.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct NodeServerTests {
    @Test("JSON in lines goes there and back, with either line ending", arguments: ["lf", "crlf"])
    func json(ending: String) async throws {
        try await withServing(.node, ["json", ending]) { peer in
            let codec = LineCodec.lines(sending: ending == "crlf" ? .crlf : .lf)
            let connection = try await Connection.connect(to: peer.endpoint, codec: codec)
            for text in [#"{"a":1}"#, #"["é","€","😀"]"#, #""""#, "null"] {
                try await connection.send(text)
                #expect(try await connection.frame() == #"{"echo":\#(text),"length":\#(text.utf16.count)}"#)
            }
            // A fault in one line is that line's own.
            try await connection.send("not JSON")
            #expect(try await connection.frame() == #"{"error":"not JSON"}"#)
            try await connection.send("true")
            #expect(try await connection.frame() == #"{"echo":true,"length":4}"#)
            #expect(connection.closeReason == nil)
        }
    }

    @Test("C01: frames that the peer cuts in two or glues together")
    func cutAndGlued() async throws {
        let chunks = ["000000", "0568656c6c6f" + "000000026162" + "0000000163"]
        try await withServing(.node, ["chunks"] + chunks + ["end"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lengthPrefixed(UInt32.self))
            try await eventually { await connection.info.bytesReceived == 3 }
            try await connection.send(Bytes("\n"))
            try await connection.send(Bytes("\n"))
            let rest = await connection.rest()
            #expect(rest.frames == ["hello", "ab", "c"].map { Bytes($0) })
            #expect(rest.error == nil)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("C01: frames that the peer cuts anywhere come back whole and in order", arguments: [1, 2, 3] as [UInt64])
    func framesCutAnywhere(seed: UInt64) async throws {
        var generator = SplitMix(seed: seed)
        let frames = (0..<500).map { _ in
            Bytes(
                [UInt8](
                    repeating: UInt8.random(in: 0...255, using: &generator),
                    count: Int.random(in: 0...(Bool.random(using: &generator) ? 40 : 9000), using: &generator)))
        }
        try await withServing(.node, ["frames", String(seed)]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lengthPrefixed(UInt32.self))
            async let rest = connection.rest()
            for frame in frames { try await connection.send(frame) }
            try await connection.finishSending()
            let answer = await rest
            #expect(answer.frames == frames, "seed \(seed)")
            #expect(answer.error == nil, "seed \(seed)")
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("C03: a line ending that the peer splits is one ending, and a CR alone is data")
    func splitLineEnding() async throws {
        try await withServing(.node, ["chunks", hex("one\r"), hex("\ntwo\n"), hex("th\rree\r\n"), "end"]) { peer in
            let rest = try await stepThrough([4, 9, 17], of: peer)
            #expect(rest.frames == ["one", "two", "th\rree"])
            #expect(rest.error == nil)
        }
    }

    @Test("C20: characters that the peer sends byte by byte are whole")
    func splitCharacters() async throws {
        let bytes = Array("é€😀\n".utf8)
        try await withServing(.node, ["chunks"] + bytes.map { hex([$0]) } + ["end"]) { peer in
            let rest = try await stepThrough(Array(1...UInt64(bytes.count)), of: peer)
            #expect(rest.frames == ["é€😀"])
            #expect(rest.error == nil)
        }
    }

    /// Has the peer send its next chunk when what it sent so far has been read: after so many bytes in all.
    private func stepThrough(_ counts: [UInt64], of peer: Peer) async throws -> (frames: [String], error: (any Error)?) {
        let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
        for count in counts {
            try await eventually { await connection.info.bytesReceived == count }
            try await connection.send("next")
        }
        let rest = await connection.rest()
        #expect(connection.closeReason == .closedByPeer)
        return rest
    }

    @Test("C20: text that isn't UTF-8 is an error of its own, after the lines before it")
    func invalidText() async throws {
        try await withServing(.node, ["chunks", hex("fine\n") + "ff0a" + hex("never\n"), "stay"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
            let rest = await connection.rest()
            #expect(rest.frames == ["fine"])
            #expect((rest.error as? SocketError)?.code == .invalidEncoding)
        }
    }

    @Test("10,000 lines come back in order")
    func manyLines() async throws {
        try await withServing(.node, ["lines"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
            let lines = (0..<10_000).map { "line \($0) é" }
            async let rest = connection.rest()
            for line in lines { try await connection.send(line) }
            try await connection.finishSending()
            #expect(await rest.frames == lines)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("C32, C44: what was sent before a close reaches a peer that reads slowly, and then the close returns")
    func closeBehindMuch() async throws {
        // 251 is what the peer counts to.
        let block = Bytes(Array(repeating: [UInt8](0..<251), count: 1000).flatMap { $0 })
        let count = 20 * block.count
        try await withServing(.node, ["slow"]) { peer in
            var options = ConnectionOptions()
            options.socket.sendBuffer = 64 * 1024
            let connection = try await Connection.connect(to: peer.endpoint, codec: .raw, options: options)
            for _ in 0..<20 { try await connection.send(block) }
            #expect(await connection.close(within: outerLimit))
            #expect(try await peer.fact() == "RIGHT \(count)")
            #expect(connection.closeReason == .closedHere)
        }
    }
}
