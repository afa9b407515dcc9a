import Lifeline
import LifelineCore
import Testing

/// This library's client and a server on Node.js: how it ends.
@Suite(.enabled(if: PeerKind.node.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct NodeServerEndingTests {
    @Test("After this side's end the peer says the rest, and then it is a clean end")
    func halfClose() async throws {
        try await withServing(.node, ["json"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
            try await connection.send("1")
            try await connection.send("2")
            try await connection.finishSending()
            await #expect(throws: SocketError(.closed, "")) { try await connection.send("3") }
            let rest = await connection.rest()
            #expect(
                rest.frames == [#"{"echo":1,"length":1}"#, #"{"echo":2,"length":1}"#, #"{"bye":true,"unfinished":""}"#])
            #expect(rest.error == nil)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("C36: a reset is told from an end, after the frames before it")
    func reset() async throws {
        let lines = ["one", "two", "three", "four", "five"]
        try await withServing(.node, ["chunks", hex(lines.map { $0 + "\n" }.joined()), "reset"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
            // Nothing is read before the reset is there.
            try await eventually { await connection.info.framesReceived == 5 }
            try await connection.send("reset")
            try await eventually { connection.closeReason != nil }
            let rest = await connection.rest()
            #expect(rest.frames == lines)
            let error = try #require(rest.error as? SocketError)
            #expect(error.code == .reset)
            #expect(error.errno != nil)
            #expect(connection.closeReason == .failed(error))
            // It stays so.
            await #expect(throws: error) { try await connection.frame() }
            await #expect(throws: SocketError(.closed, "")) { try await connection.send("too late") }
        }
    }

    @Test("C10: an end inside a frame isn't a clean one, and says what was there")
    func truncated() async throws {
        try await withServing(.node, ["chunks", "00000002" + hex("ok") + "0000000a" + hex("only 6"), "end"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lengthPrefixed(UInt32.self))
            #expect(try await connection.frame() == Bytes("ok"))
            try await connection.send(Bytes("\n"))
            let rest = await connection.rest()
            #expect(rest.frames.isEmpty)
            let error = try #require(rest.error as? SocketError)
            #expect(error.code == .truncated)
            #expect(error.pending?.received == 6)
            #expect(error.pending?.expected == 10)
        }
    }

    @Test("C30: lines that the peer sent before it went are there after it went", arguments: [5, 4000])
    func burst(count: Int) async throws {
        try await withServing(.node, ["burst", String(count)]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
            try await eventually { connection.closeReason != nil }
            let rest = await connection.rest()
            #expect(rest.frames == (0..<count).map { "line \($0)" })
            #expect(rest.error == nil)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("C40: a peer that accepts and goes at once, two hundred times")
    func leaving() async throws {
        try await withServing(.node, ["leaving"]) { peer in
            var ends: [String: Int] = [:]
            for _ in 0..<201 {
                do {
                    let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
                    let rest = await connection.rest()
                    if let error = rest.error { throw error }
                    ends[rest.frames.first ?? "end", default: 0] += 1
                } catch let error as SocketError {
                    ends["\(error.code)", default: 0] += 1
                }
            }
            #expect(ends == ["end": 67, "bye": 67, "reset": 67])
        }
    }

    @Test("C127: sending to a peer that has reset the connection is an error and nothing worse")
    func sendingAfterReset() async throws {
        try await withServing(.node, ["json"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .lines)
            try await connection.send(#"{"reset":true}"#)
            await #expect(throws: SocketError(.closed, "")) {
                while true {
                    try await connection.send("0")
                    try await connection.flush(within: outerLimit)
                }
            }
            let rest = await connection.rest()
            #expect((rest.error as? SocketError)?.code == .reset)
        }
    }
}
