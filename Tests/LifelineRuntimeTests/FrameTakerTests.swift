import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Control handlers")
struct FrameTakerTests {
    /// Takes the lines that begin with a mark, and notes everything.
    final class Taker: FrameTaker {
        let mark: Character
        let seen: Notes<String>

        init(_ mark: Character, _ seen: Notes<String>) {
            self.mark = mark
            self.seen = seen
        }

        func take(_ frame: String) -> Bool {
            seen.add(frame)
            return frame.first == mark
        }

        func noMoreFrames(_ reason: CloseReason) { seen.add("end: \(reason)") }
    }

    /// Lines, and the decoder stops behind each that says so.
    struct StoppingLines: FrameCodec {
        var lines = LineCodec()
        mutating func decode(from input: inout ByteInput) throws -> String? {
            let line = try lines.decode(from: &input)
            if line?.hasSuffix("stop") == true { input.stopAfterFrame() }
            return line
        }
        mutating func encode(_ frame: String, into output: inout ByteOutput) throws { try lines.encode(frame, into: &output) }
    }

    private func watched<C: Codec>(
        _ world: World, _ codec: C, options: ConnectionOptions = ConnectionOptions(), marks: [Character]
    ) async throws -> (Pair<C>, Notes<String>) where C.Decoder.Frame == String {
        let pair = try await world.pair(codec, options: options)
        let seen = Notes<String>()
        for mark in marks { await pair.connection.add(Taker(mark, seen)) }
        return (pair, seen)
    }

    @Test("frames that are taken are seen while nobody reads, and don't reach the reader; the others keep their order")
    func taken() async throws {
        try await simulate { world in
            let (pair, seen) = try await watched(world, .lines, marks: ["!"])
            try await pair.peer.write(Bytes("a\n!1\nb\n!2\nc\n"))
            await world.settle()
            #expect(seen.all == ["a", "!1", "b", "!2", "c"])
            try await pair.peer.finishSending()
            let read = try await pair.connection.messages.reduce(into: []) { $0.append($1) }
            #expect(read == ["a", "b", "c"])
            #expect(seen.all.last == "end: closed by peer")
            #expect(await pair.connection.info.framesReceived == 5)
        }
    }

    @Test("a reader that waits is not woken by a frame that is taken")
    func waiting() async throws {
        try await simulate { world in
            let (pair, _) = try await watched(world, .lines, marks: ["!"])
            async let next = pair.connection.next()
            await world.settle()
            try await pair.peer.write(Bytes("!1\n"))
            await world.settle()
            try await pair.peer.write(Bytes("a\n"))
            #expect(try await next == "a")
        }
    }

    @Test("of several handlers the first that takes a frame is the last that sees it")
    func several() async throws {
        try await simulate { world in
            let (pair, seen) = try await watched(world, .lines, marks: ["!", "?"])
            try await pair.peer.write(Bytes("!\n?\na\n"))
            #expect(try await pair.connection.next() == "a")
            #expect(seen.all == ["!", "?", "?", "a", "a"])
        }
    }

    @Test("frames that are taken don't fill the inbox: more of them than it holds are decoded in one go")
    func manyTaken() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = 4
            let (pair, seen) = try await watched(world, .lines, options: options, marks: ["!"])
            try await pair.peer.write(Bytes(String(repeating: "!\n", count: 50) + "a\n"))
            await world.settle()
            #expect(seen.count == 51)
            #expect(try await pair.connection.next() == "a")
        }
    }

    @Test("a full inbox stops handlers, too, and they go on with the reader")
    func full() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = 2
            let (pair, seen) = try await watched(world, .lines, options: options, marks: ["!"])
            try await pair.peer.write(Bytes("1\n2\n!\n3\n"))
            await world.settle()
            #expect(seen.all == ["1", "2"])
            for line in ["1", "2", "3"] { #expect(try await pair.connection.next() == line) }
            #expect(seen.all == ["1", "2", "!", "3"])
        }
    }

    @Test("a frame to stop behind that is taken stops nothing", arguments: [4096, 1])
    func marked(inboxFrames: Int) async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = inboxFrames
            let (pair, seen) = try await watched(world, StoppingLines(), options: options, marks: ["!"])
            try await pair.peer.write(Bytes("a\n!stop\n!stop\nb\nstop\nc\n"))
            await world.settle()
            if inboxFrames > 1 { #expect(seen.all == ["a", "!stop", "!stop", "b", "stop"]) }
            for line in ["a", "b", "stop", "c"] { #expect(try await pair.connection.next() == line) }
        }
    }

    @Test("a swap dismisses the handlers of the old codec")
    func swapped() async throws {
        try await simulate { world in
            let (pair, seen) = try await watched(world, .lines, marks: ["!"])
            let next = try await pair.connection.swap(to: LineCodec(), announcing: nil)
            try await pair.peer.write(Bytes("!\n"))
            #expect(try await next.next() == "!")
            #expect(seen.count == 1)
            #expect(seen.all.first?.contains("misuse") == true)
        }
    }
}

extension Connection {
    fileprivate func add(_ taker: sending some FrameTaker<C.Decoder.Frame>) { inbound.add(taker) }
}
