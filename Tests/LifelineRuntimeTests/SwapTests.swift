import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Changing the protocol of a live connection")
struct SwapTests {
    @Test("a codec that marks its last frame, the swap, and bytes that came along", arguments: 1...20)
    func marked(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let pair = try await world.pair(Greeting())
            try await pair.peer.write(Bytes(Array("hi\nSWITCH\n".utf8) + Array(frame("one")) + Array(frame("two"))))
            #expect(try await pair.connection.next() == "hi")
            #expect(try await pair.connection.next() == "SWITCH")
            let swapped = try await pair.connection.swap(to: lengthPrefixed, announcing: "OK")
            try await swapped.send(Bytes("x"))
            #expect(try await pair.peer.read(with: .lines) == "OK")
            #expect(try await pair.peer.read(with: lengthPrefixed).map(String.init) == "x")
            #expect(try await swapped.next().map(String.init) == "one")
            #expect(try await swapped.next().map(String.init) == "two")
            await expectError(.misuse) { try await pair.connection.next() }
            await expectError(.misuse) { try await pair.connection.send("x") }
            await expectError(.misuse) { try await pair.connection.swap(to: .lines) }
            await pair.connection.close()
            pair.connection.closeNow()
            try await pair.connection.finishSending()
            try await pair.peer.write(frame("three"))
            #expect(try await swapped.next().map(String.init) == "three")
            #expect(swapped.closeReason == nil)
        }
    }

    @Test("without a swap, decoding goes on behind a marked frame when the reader asks for more, and at the end")
    func markedWithoutSwap() async throws {
        try await simulate { world in
            let pair = try await world.pair(Greeting())
            try await pair.peer.write(Bytes("SWITCH\na\nSWITCH\nb\n"))
            try await pair.peer.finishSending()
            var lines: [String] = []
            for try await line in pair.connection.messages {
                lines.append(line)
                await world.settle()
            }
            #expect(lines == ["SWITCH", "a", "SWITCH", "b"])

            let (stream, peer) = try await world.streams()
            try await peer.write(Bytes("SWITCH\na\nSWITCH\nb\n"))
            try await peer.finishSending()
            await world.settle()
            let late = try await stream.framed(with: Greeting())
            lines = []
            for try await line in late.messages { lines.append(line) }
            #expect(lines == ["SWITCH", "a", "SWITCH", "b"])
        }
    }

    @Test("frames of the old codec behind the border refuse the swap, and nothing has changed")
    func refused() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)
            try await pair.peer.write(Bytes("a\nb\n"))
            #expect(try await pair.connection.next() == "a")
            await expectError(.misuse) { try await pair.connection.swap(to: lengthPrefixed, announcing: "OK") }
            #expect(try await pair.connection.next() == "b")
            try await pair.connection.send("still lines")
            #expect(try await pair.peer.read(with: .lines) == "still lines")
            let swapped = try await pair.connection.swap(to: lengthPrefixed)
            try await pair.peer.write(frame("x"))
            #expect(try await swapped.next().map(String.init) == "x")
            try await pair.peer.finishSending()
            #expect(try await swapped.next() == nil)
            await expectError(.closed) { try await swapped.swap(to: .lines) }
        }
    }
}

/// Lines; "SWITCH" is the last one of its kind.
struct Greeting: FrameCodec {
    private var lines = LineCodec()

    mutating func decode(from input: inout ByteInput) throws -> String? {
        guard let line = try lines.decode(from: &input) else { return nil }
        if line == "SWITCH" { input.stopAfterFrame() }
        return line
    }

    func pending(in input: ByteInput) -> PendingFrame? { lines.pending(in: input) }

    func encode(_ line: String, into output: inout ByteOutput) throws { try lines.encode(line, into: &output) }

    static var isStateless: Bool { true }
}
