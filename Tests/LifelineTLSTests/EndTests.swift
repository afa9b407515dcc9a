import LifelineCore
import LifelineRuntime
import LifelineTLS
import LifelineTesting
import Testing

/// How protected connections end.
struct EndTests {
    private static let prefixed = LengthPrefixCodec(layout: LengthLayout(width: .two, order: .big))

    @Test("C88: cut off at a frame's border: the frame arrives, and the end is marked as one that nobody has announced")
    func cutAtBorder() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(Self.prefixed)
            try await peer.write([0, 1, 120])
            try await peer.flush()
            peer.cut()
            #expect(try await connection.next() == "x")
            #expect(try await connection.next() == nil)
            #expect(connection.closeReason == .closedByPeer)
            #expect(await connection.info.tls?.peerEnd == .unannounced)
        }
    }

    @Test("C88: cut off in the middle of a frame, it is truncated")
    func cutInFrame() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(Self.prefixed)
            try await peer.write([0, 1, 120, 0, 9, 1, 2])
            try await peer.flush()
            peer.cut()
            #expect(try await connection.next() == "x")
            let error = await expectError(.truncated) { try await connection.next() }
            #expect(error?.pending?.received == 2)
            #expect(connection.closeReason == .failed(SocketError(.truncated, "")))
        }
    }

    @Test("C88: what a decoder has noted is told at an end that nobody has announced, too")
    func cutBehindGarbage() async throws {
        let findings = Log<Finding>()
        var options = ConnectionOptions()
        options.onFinding = { findings.add($0) }
        try await simulate { [options] world in
            let (connection, peer) = try await world.link(.typeHeader, options: options)
            try await peer.write(Bytes([UInt8](repeating: 0xFF, count: 28)))
            try await peer.flush()
            peer.cut()
            await expectError(.truncated) { try await connection.next() }
        }
        #expect(findings.entries.map(\.byteCount) == [13])
    }

    @Test("C88: where the end of the input is a frame's end, an end that nobody has announced is an error")
    func cutWithoutFraming() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.raw)
            try await peer.write("x")
            try await peer.flush()
            peer.cut()
            #expect(try await connection.next() == "x")
            await expectError(.truncated) { try await connection.next() }
        }
    }

    @Test("C88: what only the end of the input makes a line of is none")
    func cutInLastLine() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines(unterminated: .deliver))
            try await peer.write("one\ntw")
            try await peer.flush()
            peer.cut()
            #expect(try await connection.next() == "one")
            await expectError(.truncated) { try await connection.next() }
        }
    }

    @Test("C88: of plain bytes nothing proves that they are all, but they are all given first")
    func cutStream() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            try await world.protect(near, far)
            try await far.write("all of it?")
            try await far.flush()
            far.cut()
            await world.settle()
            #expect(try await near.read(atMost: 100) == "all of it?")
            await expectError(.truncated) { try await near.read(atMost: 100) }
        }
    }

    @Test("a reset is a reset")
    func reset() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines)
            peer.cut(reset: true)
            await expectError(.reset) { try await connection.next() }
        }
    }

    @Test("C89: a close notice that the peer never answers: the close returns at its limit, and the transport is gone")
    func unansweredClose() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines, peer: .deaf)
            try await connection.send("one")
            await world.settle()
            let took = await world.duration { #expect(await connection.close(within: .milliseconds(300)) == false) }
            #expect(took == .milliseconds(300))
            #expect(connection.closeReason == .closedHere)
            #expect(try await peer.readAll() == "one\n")
            #expect(peer.closeReason == .closedByPeer)
        }
    }

    @Test("C90: fifty frames, the close notice and the end in one burst, to a slow reader: fifty frames, then a clean end")
    func burst() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = 4
            let (connection, peer) = try await world.link(.lines, options: options)
            for number in 0..<50 { try await peer.write(Bytes("line \(number)\n")) }
            let isComplete = await peer.close(within: .zero)
            #expect(isComplete == false)
            for number in 0..<50 {
                try await world.advance(by: .milliseconds(10))
                #expect(try await connection.next() == "line \(number)")
            }
            #expect(try await connection.next() == nil)
            #expect(await connection.info.tls?.peerEnd == .closeNotify)
        }
    }

    @Test("a close in good order is one on both sides")
    func goodOrder() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines)
            try await connection.send("bye")
            async let rest = peer.readAndClose()
            #expect(await connection.close() == true)
            #expect(try await rest == "bye\n")
            #expect(peer.closeReason == .closedByPeer)
            #expect(await peer.info.tls?.peerEnd == .closeNotify)
        }
    }

    @Test("half-closing announces the end and leaves the other direction alone")
    func halfClose() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines)
            try await connection.send("last")
            try await connection.finishSending()
            #expect(try await peer.readAll() == "last\n")
            #expect(await peer.info.tls?.peerEnd == .closeNotify)
            try await world.advance(by: .seconds(5))
            try await peer.write("still here\n")
            #expect(try await connection.next() == "still here")
            await expectError(.closed) { try await connection.send("too late") }
            await peer.close()
            #expect(try await connection.next() == nil)
        }
    }

    @Test("TLS 1.2 has no half of an end: finishSending says so, and nothing has happened")
    func halfCloseOfTLS12() async throws {
        try await simulate { world in
            let client = try Protected.client { $0.maximumVersion = .tls12 }
            let (connection, peer) = try await world.link(.lines, client: client)
            #expect(await connection.info.tls?.version == .tls12)
            await expectError(.unsupported) { try await connection.finishSending() }
            try await connection.send("goes on")
            #expect(try await peer.read(until: "\n", limit: 100) == "goes on")
            async let rest = peer.readAndClose()
            #expect(await connection.close() == true)
            #expect(try await rest == "")
        }
    }

    @Test("C63: a heartbeat that fails ends it at once, though the peer reads nothing and TLS would like to say goodbye")
    func heartbeatEnd() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams(peer: .deaf)
            try await world.protect(near, far)
            let connection = try await near.framed(
                with: .lines, heartbeat: .pingPong(every: .seconds(1), answerWithin: .milliseconds(200), ping: "ping") { $0 == "pong" })
            try await connection.send("one")
            let took = await world.duration { await expectError(.heartbeatMissed) { try await connection.next() } }
            #expect(took == .milliseconds(1200))
        }
    }
}

extension ConnectionOptions {
    /// Of a peer that reads nothing unless it is asked to.
    static var deaf: ConnectionOptions {
        var options = ConnectionOptions()
        options.inbox = Marks(high: 1, low: 0)
        return options
    }
}
