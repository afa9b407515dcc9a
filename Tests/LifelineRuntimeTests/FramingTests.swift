import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Frames through a connection")
struct FramingTests {
    @Test("C01: frames that arrive cut or glued come out whole, and then the end", arguments: 1...10)
    func cutAndGlued(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let pair = try await world.pair(lengthPrefixed)
            async let script: Void = {
                try await pair.peer.write([0, 0, 0])
                try await world.clock.sleep(for: .milliseconds(50))
                try await pair.peer.write(Bytes([5] + Array("hello".utf8) + Array(frame("ab")) + Array(frame("c"))))
                try await pair.peer.finishSending()
            }()
            var frames: [String] = []
            for try await next in pair.connection.messages { frames.append(String(next)) }
            try await script
            #expect(frames == ["hello", "ab", "c"])
            #expect(pair.connection.closeReason == .closedByPeer)
        }
    }

    @Test("C10: a stream cut inside a frame ends with an error, behind the frames before")
    func truncated() async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed)
            try await pair.peer.write(Bytes(Array(frame("ok")) + [0, 0, 0, 10, 1, 2, 3, 4, 5, 6]))
            async let closed = pair.peer.close()
            #expect(try await pair.connection.next().map(String.init) == "ok")
            let error = await expectError(.truncated) { try await pair.connection.next() }
            #expect(error?.pending == PendingFrame(received: 6, expected: 10))
            await expectError(.truncated) { try await pair.connection.next() }
            #expect(pair.connection.closeReason?.isClean == false)
            _ = await closed
            await expectError(.truncated) {
                for try await _ in pair.connection.messages {}
            }
        }
    }

    @Test("C11: a length above the limit is refused at once, without waiting and without memory", arguments: [0x7F, 0xFF])
    func hugeLength(first: UInt8) async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed)
            try await pair.peer.write([first, 0xFF, 0xFF, 0xFF])
            await expectError(.frameTooLarge) { try await pair.connection.next() }
            #expect(world.now == .zero)
            #expect(pair.connection.core.input.pinnedCount <= 4)
            #expect(pair.connection.closeReason?.mayRetry == false)
            #expect(try await pair.peer.read(atMost: 1) == nil)
        }
    }

    @Test("frames decoded before a violation are delivered before the error")
    func violationBehindFrames() async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed)
            try await pair.peer.write(Bytes(Array(frame("a")) + Array(frame("b")) + [0xFF, 0, 0, 0]))
            try await world.clock.sleep(for: .seconds(10))
            #expect(try await pair.connection.next().map(String.init) == "a")
            #expect(try await pair.connection.next().map(String.init) == "b")
            await expectError(.frameTooLarge) { try await pair.connection.next() }
            await expectError(.closed) { try await pair.connection.send(Bytes("x")) }
        }
    }

    @Test("what was sent before a violation still reaches the peer")
    func lastReply() async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed, options: .small(64))
            try await pair.connection.send(Bytes(repeatElement(7, count: 1000)))
            try await pair.peer.write([0xFF, 0, 0, 0])
            #expect(try await pair.peer.readAll().count == 1004)
        }
    }

    @Test("more frames in one read than the inbox may hold all arrive, with a reader that waits", arguments: [1, 2, 3, 7, 100])
    func manyInOneRead(limit: Int) async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = limit
            let pair = try await world.pair(.lines, options: options)
            async let frames = {
                var frames: [String] = []
                while let line = try await pair.connection.next() { frames.append(line) }
                return frames
            }()
            await world.settle()
            let lines = (0..<200).map { "\($0)" }
            try await pair.peer.write(Bytes(lines.joined(separator: "\n") + "\n"))
            await world.settle()
            try await pair.peer.finishSending()
            #expect(try await frames == lines)
        }
    }

    @Test("C133: limits in and out are apart from each other, and the defaults are finite")
    func limitsByDirection() async throws {
        try await simulate { world in
            let codec = LengthPrefixCodec(layout: LengthLayout(width: .four, order: .big), max: 65_536, maxOutgoing: 1_048_576)
            let pair = try await world.pair(codec)
            let large = pattern(1_048_576)
            async let received = pair.peer.read(exactly: 1_048_580)
            try await pair.connection.send(large)
            #expect(try await received?.count == 1_048_580)
            await expectError(.frameTooLarge) { try await pair.connection.send(pattern(1_048_577)) }
            try await pair.peer.write(Bytes([0, 1, 0, 0] + Array(pattern(65_536))))
            #expect(try await pair.connection.next()?.count == 65_536)
            try await pair.peer.write([0, 1, 0, 1])
            await expectError(.frameTooLarge) { try await pair.connection.next() }
            #expect(LengthPrefixCodec.defaultMax == 1_048_576)
            #expect(LineCodec.lines.lines.max == 65_536)
        }
    }

    @Test("findings are reported and counted, and frames go on")
    func findings() async throws {
        try await simulate { world in
            let log = Log<Finding>()
            var options = ConnectionOptions()
            options.onFinding = { log.add($0) }
            let pair = try await world.pair(.lines(max: 5, overlong: .drop), options: options)
            try await pair.peer.write(Bytes("ab\nmuch too long\ncd\n"))
            #expect(try await pair.connection.next() == "ab")
            #expect(try await pair.connection.next() == "cd")
            #expect(log.entries.map(\.kind) == [.droppedFrame])
            #expect(await pair.connection.info.findings == 1)
        }
    }
}

@Suite("Encoding")
struct EncodingTests {
    @Test("an encode that throws leaves nothing on the wire and a stateful encoder as it was")
    func throwingEncode() async throws {
        try await simulate { world in
            let pair = try await world.pair(Numbering())
            try await pair.connection.send("a")
            let error = await expectError(.unencodable) { try await pair.connection.send("bad") }
            #expect(error?.cause is Numbering.Refusal)
            try await pair.connection.send("b")
            #expect(await pair.connection.close(within: .zero) == false)
            #expect(try await pair.peer.readAll() == Array("1a2b".utf8))
            #expect(await pair.connection.info.framesSent == 2)
        }
    }

    @Test("a sender that waits and can't be encoded holds nobody up")
    func throwingInTurn() async throws {
        try await simulate { world in
            let pair = try await world.pair(Numbering(), options: .small(16) { $0.outbox = Marks(high: 16) }, peer: .slow)
            try await pair.connection.send(String(repeating: "x", count: 100))
            try await withThrowingTaskGroup { group in
                group.addTask { _ = await expectError(.unencodable) { try await pair.connection.send("bad") } }
                group.addTask { try await pair.connection.send("b") }
                await world.settle()
                async let rest = pair.peer.readAll()
                try await group.waitForAll()
                async let closed = pair.connection.close()
                #expect(try await rest == Array(("1" + String(repeating: "x", count: 100) + "2b").utf8))
                await pair.peer.close()
                #expect(await closed)
            }
        }
    }
}

/// Numbers what it sends, writes the number before it looks, and refuses "bad".
struct Numbering: FrameCodec {
    struct Refusal: Error {}
    private var number = 0

    mutating func decode(from input: inout ByteInput) -> String? { input.isEmpty ? nil : input.read(input.count).map { String($0) } }

    mutating func encode(_ text: String, into output: inout ByteOutput) throws {
        number += 1
        output.append(utf8: "\(number)")
        if text == "bad" { throw Refusal() }
        output.append(utf8: text)
    }
}
