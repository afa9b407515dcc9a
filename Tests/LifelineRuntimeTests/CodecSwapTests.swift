import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// Lines, of which "SWAP" is marked as the last of its format.
private struct MarkingLines: FrameCodec {
    static var isStateless: Bool { true }
    private var lines = LineCodec()

    mutating func decode(from input: inout ByteInput) throws -> String? {
        let line = try lines.decode(from: &input)
        if line == "SWAP" { input.stopAfterFrame() }
        return line
    }

    func encode(_ line: String, into output: inout ByteOutput) throws { try lines.encode(line, into: &output) }
}

/// Takes the bytes of an unfinished line out of the input.
private struct TakingLines: FrameCodec {
    var line: [UInt8] = []

    mutating func decode(from input: inout ByteInput) -> String? {
        while let byte: UInt8 = input.read() {
            if byte == 10 {
                defer { line = [] }
                return String(decoding: line, as: UTF8.self)
            }
            line.append(byte)
        }
        return nil
    }

    func pending(in input: ByteInput) -> PendingFrame? {
        line.isEmpty && input.isEmpty ? nil : PendingFrame(received: line.count + input.count)
    }

    func encode(_ text: String, into output: inout ByteOutput) { output.append(utf8: text + "\n") }
}

@Suite("Swapping the codec of a live connection")
struct CodecSwapTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    private var wire: Bytes { Bytes("one\nSWAP\n") + [0, 3] + Bytes("abc") + [0, 1, 10] }

    @Test("the decoder stops behind a marked frame, wherever the bytes are split", arguments: 0...17)
    func markedFrame(place: Int) async throws {
        try await simulate(seed: UInt64(place)) { world in
            let (peer, old) = try await world.connection(MarkingLines())
            try await peer.write(wire.slice(0..<place))
            await world.settle()
            async let first = old.next()
            await world.settle()
            try await peer.write(wire.slice(place..<wire.count))
            try await peer.finishSending()
            #expect(try await first == "one")
            #expect(try await old.next() == "SWAP")
            await world.settle()
            let new = try await old.swap(to: .lengthPrefixed(UInt16.self), announcing: "OK")
            #expect(try await new.next() == Bytes("abc"))
            #expect(try await new.next() == Bytes("\n"))
            #expect(try await new.next() == nil)
            #expect(new.closeReason == .closedByPeer)
            try await new.send(Bytes("new"))
            #expect(try await peer.read(atMost: 100) == Bytes("OK\n") + [0, 3] + Bytes("new"))
        }
    }

    @Test("decoding goes on with the old codec if the reader asks for another frame", arguments: seeds)
    func noSwap(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (peer, connection) = try await world.connection(MarkingLines())
            try await peer.write(Bytes("SWAP\nSWAP\ntwo\nSWAP\nthree\n"))
            try await peer.finishSending()
            await world.settle()
            for expected in ["SWAP", "SWAP", "two", "SWAP", "three", nil] {
                let line = try await connection.next()
                #expect(line == expected)
            }
        }
    }

    @Test("a marked frame and all behind it, with the end, arrived while it was a byte stream", arguments: seeds, [true, false])
    func markedBeforeFramed(seed: UInt64, swaps: Bool) async throws {
        try await simulate(seed: seed) { world in
            let (peer, stream) = try await world.ends()
            try await peer.write(swaps ? wire : Bytes("one\nSWAP\ntwo\nSWAP\nthree\n"))
            try await peer.finishSending()
            await world.settle()
            #expect(stream.closeReason == .closedByPeer)
            let old = try await stream.framed(with: MarkingLines())
            await world.settle()
            #expect(try await old.next() == "one")
            #expect(try await old.next() == "SWAP")
            await world.settle()
            if swaps {
                let new = try await old.swap(to: .lengthPrefixed(UInt16.self), announcing: "OK")
                #expect(try await new.next() == Bytes("abc"))
                #expect(try await new.next() == Bytes("\n"))
                #expect(try await new.next() == nil)
                #expect(new.closeReason == .closedByPeer)
                #expect(try await peer.read(exactly: 3) == Bytes("OK\n"))
            } else {
                for expected in ["two", "SWAP", "three", nil] {
                    let line = try await old.next()
                    #expect(line == expected)
                }
                #expect(old.closeReason == .closedByPeer)
            }
        }
    }

    @Test("frames that were decoded and not read make it a misuse that changes nothing", arguments: seeds, [1, 2])
    func unreadFrames(seed: UInt64, taken: Int) async throws {
        try await simulate(seed: seed) { world in
            let (peer, connection) = try await world.connection(.lines)
            try await peer.write(Bytes("one\ntwo\nthree\nfo"))
            await world.settle()
            for expected in ["one", "two"].prefix(taken) {
                let line = try await connection.next()
                #expect(line == expected)
            }
            #expect(await failure { try await connection.swap(to: .raw, announcing: "never sent") }?.code == .misuse)
            try await connection.send("still lines")
            #expect(try await peer.read(with: .lines) == "still lines")
            try await peer.write(Bytes("ur\n"))
            for expected in ["one", "two", "three", "four"].dropFirst(taken) {
                let line = try await connection.next()
                #expect(line == expected)
            }
            let raw = try await connection.swap(to: .raw)
            try await peer.write(Bytes("raw"))
            #expect(try await raw.next() == Bytes("raw"))
        }
    }

    @Test("a frame half decoded in the old decoder is a misuse that changes nothing; one in the input goes along", arguments: seeds)
    func halfDecoded(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (peer, connection) = try await world.connection(TakingLines())
            try await peer.write(Bytes("hal"))
            await world.settle()
            #expect(await failure { try await connection.swap(to: .raw, announcing: "x") }?.code == .misuse)
            try await peer.write(Bytes("f\n"))
            #expect(try await connection.next() == "half")
            let lines = try await connection.swap(to: .lines, announcing: "y")
            #expect(try await peer.read(with: .lines) == "y")
            try await peer.write(Bytes("al"))
            await world.settle()
            let others = try await lines.swap(to: .lengthPrefixed(UInt8.self))
            try await peer.write(Bytes(repeatElement(65, count: 96)))
            #expect(try await others.next() == Bytes("l") + Bytes(repeatElement(65, count: 96)))
        }
    }

    @Test("a last frame that can't be encoded changes nothing", arguments: seeds)
    func unencodable(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (peer, connection) = try await world.connection(.lines)
            #expect(await failure { try await connection.swap(to: .raw, announcing: "a\nb") }?.code == .unencodable)
            try await peer.write(Bytes("line\n"))
            #expect(try await connection.next() == "line")
            try await connection.send("line")
            #expect(try await peer.read(with: .lines) == "line")
        }
    }

    @Test("the old handle is a misuse, for those that wait, too, and has no say any more", arguments: seeds)
    func oldHandle(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (peer, old) = try await world.connection(.lines)
            async let waiting = failure { try await old.next() }
            await world.settle()
            let new = try await old.swap(to: .raw)
            #expect(await waiting?.code == .misuse)
            #expect(await failure { try await old.next() }?.code == .misuse)
            #expect(await failure { try await old.next(within: .seconds(1)) }?.code == .misuse)
            #expect(await failure { try await old.send("x") }?.code == .misuse)
            #expect(await failure { try await old.send("x", within: .seconds(1)) }?.code == .misuse)
            #expect(await failure { try await old.swap(to: .raw) }?.code == .misuse)
            try await old.finishSending()
            #expect(await !old.close())
            old.closeNow()
            await world.settle()
            #expect(new.closeReason == nil)
            try await peer.write(Bytes("in"))
            #expect(try await new.next() == Bytes("in"))
            try await new.send(Bytes("out"))
            #expect(try await peer.read(exactly: 3) == Bytes("out"))
            #expect(world.now == .zero)
        }
    }

    @Test("the announced frame is the last of the old format on the wire, whoever sends", arguments: 1...20 as ClosedRange<UInt64>)
    func lastOldFrame(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            var options = ConnectionOptions()
            options.outbox = Marks(high: 60, low: 30)
            let (peer, old) = try await world.connection(.lines, near: .small(50) { $0.inbox = Marks(high: 1) }, far: options)
            let swapped = OneShot<Connection<LengthPrefixCodec>>()
            try await withThrowingTaskGroup { group in
                for sender in 0..<5 {
                    group.addTask(executorPreference: world.loops[sender % 3].tasks) {
                        do {
                            for number in 0..<1_000 { try await old.send("old \(sender) \(number)") }
                            Issue.record("the old handle still sends")
                        } catch {
                            #expect((error as? SocketError)?.code == .misuse)
                        }
                    }
                }
                group.addTask {
                    try await world.clock.sleep(for: .milliseconds(10))
                    let new = try await old.swap(to: .lengthPrefixed(UInt16.self), announcing: "LAST")
                    try await new.send(Bytes("new"))
                    swapped.succeed(new)
                }
                var lines = 0
                while let line = try await peer.read(with: .lines), line != "LAST" {
                    #expect(line.hasPrefix("old "))
                    lines += 1
                    try await world.advance(by: .milliseconds(1))
                }
                #expect(lines > 3)
                #expect(try await peer.read(with: .lengthPrefixed(UInt16.self)) == Bytes("new"))
                try await group.waitForAll()
            }
            let new = try await swapped.value()
            #expect(await new.close(within: .zero) == false)
            #expect(try await peer.read(atMost: 1) == nil)
        }
    }

    @Test("behind the peer's end there is nothing to swap", arguments: seeds)
    func afterTheEnd(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (peer, connection) = try await world.connection(.lines)
            try await peer.finishSending()
            #expect(try await connection.next() == nil)
            #expect(await failure { try await connection.swap(to: .raw, announcing: "x") }?.code == .closed)
            try await connection.send("still mine")
            #expect(try await peer.read(with: .lines) == "still mine")
        }
    }

    @Test("dropping the new handle closes; dropping the old one doesn't", arguments: seeds)
    func lifetimes(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (peer, raw) = try await {
                let (peer, connection) = try await world.connection(.lines)
                return (peer, try await connection.swap(to: .raw))
            }()
            await world.settle()
            try await raw.send(Bytes("alive"))
            #expect(try await peer.read(exactly: 5) == Bytes("alive"))
            _ = consume raw
            await world.settle()
            #expect(try await peer.read(atMost: 1) == nil)
        }
    }
}

private func + (left: Bytes, right: Bytes) -> Bytes { Bytes(Array(left) + Array(right)) }
