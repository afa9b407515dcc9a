import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Reads of a byte stream")
struct ByteStreamReadTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    @Test("read(atMost:) takes what is there, no more than asked for, and waits for the first byte", arguments: seeds)
    func atMost(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write(Bytes("abcdef"))
            await world.settle()
            #expect(try await far.read(atMost: 4) == Bytes("abcd"))
            #expect(await far.bytesBuffered == 2)
            #expect(try await far.read(atMost: 4) == Bytes("ef"))
            async let next = far.read(atMost: 4)
            try await world.advance(by: .seconds(1))
            try await near.write(Bytes("g"))
            #expect(try await next == Bytes("g"))
            await near.close(within: .zero)
            #expect(try await far.read(atMost: 4) == nil)
            #expect(try await far.read(atMost: 4) == nil)
        }
    }

    @Test("read(exactly:) collects, and read(until:) finds a delimiter wherever it is split", arguments: 0...14)
    func splits(place: Int) async throws {
        try await simulate(seed: UInt64(place)) { world in
            let (near, far) = try await world.ends()
            let wire = Bytes("abc--d-e---end")
            async let reads = (
                far.read(exactly: 2), far.read(until: Bytes("--"), limit: 10), far.read(until: Bytes("---"), limit: 3), far.read(exactly: 3)
            )
            try await near.write(wire.slice(0..<place))
            await world.settle()
            try await near.write(wire.slice(place..<wire.count))
            let (exact, first, second, last) = try await reads
            #expect(exact == Bytes("ab"))
            #expect(first == Bytes("c"))
            #expect(second == Bytes("d-e"))
            #expect(last == Bytes("end"))
            #expect(await far.bytesBuffered == 0)
        }
    }

    @Test("C05: a line, then three bytes, then a line, with nothing decoded ahead", arguments: 0...15)
    func c05LineThenLengthThenLine(place: Int) async throws {
        try await simulate(seed: UInt64(place)) { world in
            let (near, far) = try await world.ends()
            let wire = Bytes("len3\r\nABCdone\r\n")
            try await near.write(wire.slice(0..<place))
            async let first = far.read(with: .lines)
            await world.settle()
            try await near.write(wire.slice(place..<wire.count))
            #expect(try await first == "len3")
            #expect(try await far.read(exactly: 3) == Bytes("ABC"))
            #expect(try await far.read(with: .lines) == "done")
            #expect(await far.bytesBuffered == 0)
        }
    }

    @Test("C12: single frames of any codec: a line, a length-prefixed frame, a line", arguments: seeds)
    func singleFrames(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write("one", with: .lines)
            try await near.write(Bytes("two\n"), with: .lengthPrefixed(UInt64.self))
            try await near.write("three", with: .lines)
            await world.settle()
            #expect(try await far.read(with: .lines) == "one")
            #expect(await far.bytesBuffered == 8 + 4 + 6)
            #expect(try await far.read(with: .lengthPrefixed(UInt64.self)) == Bytes("two\n"))
            #expect(try await far.read(with: .lines) == "three")
            // A refused frame leaves its bytes, and the stream.
            try await near.write(block(8, of: 0xFF))
            #expect(await failure { try await far.read(with: .lengthPrefixed(UInt64.self)) }?.code == .frameTooLarge)
            #expect(try await far.read(exactly: 8) == block(8, of: 0xFF))
            #expect(await failure { try await near.write("a\nb", with: .lines) }?.code == .unencodable)
            try await near.write("good", with: .lines)
            #expect(try await far.read(with: .lines) == "good")
        }
    }

    @Test("C07: a delimiter right at the limit is found, one byte later is too late, and every byte stays", arguments: [1, 3])
    func untilLimit(step: Int) async throws {
        try await simulate { world in
            let (near, far) = try await world.ends()
            func write(_ text: String) async throws {
                var rest = Bytes(text)
                while !rest.isEmpty {
                    try await near.write(rest.slice(0..<min(step, rest.count)))
                    rest = rest.slice(min(step, rest.count)..<rest.count)
                    await world.settle()
                }
            }
            async let exact = far.read(until: Bytes("\r\n"), limit: 5)
            try await write("12345\r\n")
            #expect(try await exact == Bytes("12345"))

            async let over = failure { try await far.read(until: Bytes("\r\n"), limit: 5) }
            try await write("123456\r\n")
            #expect(await over?.code == .frameTooLarge)
            #expect(try await far.read(until: Bytes("\r\n"), limit: 6) == Bytes("123456"))

            // Without the delimiter it fails as soon as that is certain.
            async let early = failure { try await far.read(until: Bytes("\r\n"), limit: 5) }
            try await write("12345\r!")
            #expect(await early?.code == .frameTooLarge)
            #expect(try await far.read(exactly: 7) == Bytes("12345\r!"))
        }
    }

    @Test("odd arguments are a misuse or nothing, never a trap")
    func arguments() async throws {
        try await simulate { world in
            let (near, far) = try await world.ends()
            #expect(await failure { try await far.read(exactly: -1) }?.code == .misuse)
            #expect(await failure { try await far.read(until: Bytes(), limit: 1) }?.code == .misuse)
            #expect(try await far.read(exactly: 0) == Bytes())
            try await near.write(Bytes())
            try await near.write(Bytes("ab"))
            #expect(try await far.read(atMost: -3) == Bytes("a"))
            #expect(await failure { try await far.read(until: Bytes("x"), limit: -1) }?.code == .frameTooLarge)
            #expect(try await far.read(atMost: 3) == Bytes("b"))
        }
    }

    @Test("a second read while one waits is a misuse and takes nothing", arguments: seeds)
    func secondRead(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            async let first = far.read(exactly: 3)
            await world.settle()
            #expect(await failure { try await far.read(atMost: 1) }?.code == .misuse)
            #expect(await failure { try await far.framed(with: .lines) }?.code == .misuse)
            try await near.write(Bytes("abc"))
            #expect(try await first == Bytes("abc"))
        }
    }

    @Test("C45: a cancelled read loses no byte, whenever it is cancelled", arguments: 0...6, [1, 2, 3])
    func cancelled(written: Int, seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            let wire = Bytes("abcdef")
            let result = try await withThrowingTaskGroup { group in
                group.addTask { try await far.read(exactly: 6) }
                await world.settle()
                try await near.write(wire.slice(0..<written))
                if written % 2 == 0 { await world.settle() }
                group.cancelAll()
                do {
                    return try await group.next() ?? nil
                } catch is CancellationError {
                    return nil
                }
            }
            if let result {
                #expect(result == wire)
            } else {
                try await near.write(wire.slice(written..<6))
                #expect(try await far.read(exactly: 6) == wire)
            }
            #expect(await far.bytesBuffered == 0)
        }
    }

    @Test("C45: a cancelled read of a frame whose decoder has taken a part of it loses no byte")
    func cancelledInsideADecoder() async throws {
        try await simulate { world in
            let (near, far) = try await world.ends()
            await withThrowingTaskGroup { group in
                group.addTask { try await far.read(with: Greedy()) }
                try? await near.write(Bytes("abc"))
                await world.settle()
                #expect(await far.readProgress == PendingFrame(received: 3, expected: 5))
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
            #expect(await far.readProgress == nil)
            try await near.write(Bytes("defg"))
            #expect(try await far.read(with: Greedy()) == "abcde")
            #expect(try await far.read(exactly: 2) == Bytes("fg"))
        }
    }

    @Test("what a decoder reports beside frames is counted and told, once")
    func findings() async throws {
        try await simulate { world in
            let findings = Log<Finding>()
            var options = ConnectionOptions()
            options.onFinding = { findings.add($0) }
            let (near, far) = try await world.ends(far: options)
            try await near.write(Bytes("much too long\n"))
            await world.settle()
            #expect(findings.entries.isEmpty)
            await #expect(throws: CancellationError.self) {
                try await withThrowingTaskGroup { group in
                    // A read that comes to nothing has noticed nothing.
                    group.addTask { try await far.read(with: .lines(max: 4, overlong: .drop)) }
                    await world.settle()
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
            async let line = far.read(with: .lines(max: 4, overlong: .drop))
            try await near.write(Bytes("too long\nok\n"))
            #expect(try await line == "ok")
            #expect(findings.entries == [Finding(.droppedFrame, byteCount: 13), Finding(.droppedFrame, byteCount: 8)])
            #expect(await far.info.findings == 2)
        }
    }
}

/// Five bytes, each of which it takes as it comes.
private struct Greedy: FrameCodec {
    var text: [UInt8] = []

    mutating func decode(from input: inout ByteInput) -> String? {
        while text.count < 5, let byte: UInt8 = input.read() { text.append(byte) }
        return text.count == 5 ? String(decoding: text, as: UTF8.self) : nil
    }

    func pending(in input: ByteInput) -> PendingFrame? {
        text.isEmpty ? nil : PendingFrame(received: text.count, expected: 5)
    }

    func encode(_ text: String, into output: inout ByteOutput) { output.append(utf8: text) }
}
