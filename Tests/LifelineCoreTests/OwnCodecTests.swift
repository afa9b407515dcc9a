import LifelineCore
import Testing

/// A line, then exactly three bytes, then lines.
private struct LineThenThree: FrameCodec {
    var step = 0

    mutating func decode(from input: inout ByteInput) throws -> String? {
        if step == 1 {
            guard let bytes = input.read(3) else { return nil }
            step = 2
            return String(bytes)
        }
        guard let end = input.firstIndex(of: Bytes("\r\n")), let line = input.read(end) else { return nil }
        input.skip(2)
        step = step == 0 ? 1 : 2
        return String(line)
    }

    func encode(_ frame: String, into output: inout ByteOutput) throws { output.append(utf8: frame) }
}

/// `length:<digits>` CR LF, then so many bytes.
private struct HeaderThenBody: FrameCodec {
    func decode(from input: inout ByteInput) throws -> String? {
        guard let end = input.firstIndex(of: Bytes("\r\n")), let header = input.peek(0..<end) else { return nil }
        guard let length = Int(String(header).dropFirst("length:".count)), length >= 0 else { throw BadHeader() }
        guard let body = input.peek(end + 2..<end + 2 + length) else { return nil }
        input.skip(end + 2 + length)
        return String(validating: body)
    }

    func encode(_ text: String, into output: inout ByteOutput) throws {
        output.append(utf8: "length:\(text.utf8.count)\r\n")
        output.append(utf8: text)
    }

    struct BadHeader: Error {}
}

/// `u8 type | u32 length | u16 id | payload`, packed.
private struct Packed: FrameCodec {
    struct Frame: Equatable {
        var type: UInt8
        var id: UInt16
        var payload: Bytes
    }

    var order: Endianness

    func decode(from input: inout ByteInput) throws -> Frame? {
        guard let type: UInt8 = input.peek(at: 0), let length: UInt32 = input.peek(at: 1, order), let id: UInt16 = input.peek(at: 5, order)
        else { return nil }
        guard let payload = input.peek(7..<7 + Int(length)) else { return nil }
        input.skip(7 + payload.count)
        return Frame(type: type, id: id, payload: payload)
    }

    func encode(_ frame: Frame, into output: inout ByteOutput) throws {
        output.append(frame.type)
        output.append(UInt32(frame.payload.count), order)
        output.append(frame.id, order)
        output.append(frame.payload)
    }
}

@Suite("Codecs of one's own")
struct OwnCodecTests {
    @Test("C05: no terminator is left at the head of the next read when the way of reading changes")
    func c05WayOfReadingChanges() {
        let outcome = feedEveryWay(LineThenThree(), utf8("len3\r\nABCdone\r\n"))
        #expect(outcome.frames == ["len3", "ABC", "done"])
        #expect(outcome.error == nil)
    }

    @Test("C16: a body's length is counted in bytes")
    func c16BytesNotCharacters() throws {
        let codec = HeaderThenBody()
        let one = try encode(codec, "测试🙂")
        #expect(one == utf8("length:10\r\n测试🙂"))
        let outcome = feedEveryWay(codec, try one + encode(codec, "next"))
        #expect(outcome.frames == ["测试🙂", "next"])
        #expect(outcome.error == nil)
    }

    @Test(
        "C18: an error of one's own is the cause of a protocol violation, and prompt",
        arguments: ["-1", "five", "", "1e99", "99999999999999999999"])
    func c18BadHeader(length: String) throws {
        let outcome = feedEveryWay(HeaderThenBody(), try utf8("length:\(length)\r\n") + encode(HeaderThenBody(), "good"), ends: false)
        #expect(outcome.error?.code == .protocolViolation)
        #expect(outcome.error?.cause is HeaderThenBody.BadHeader)
        #expect(outcome.frames.isEmpty)
    }

    @Test("C21: fields are read at every alignment", arguments: [Endianness.big, .little])
    func c21OddOffsets(order: Endianness) throws {
        let codec = Packed(order: order)
        let frames = (1...3).map { Packed.Frame(type: UInt8($0), id: 0x0102, payload: Bytes(repeatElement(9, count: $0))) }
        let stream = try encode(codec, frames[0], frames[1], frames[2])
        #expect(feedEveryWay(codec, stream).frames == frames)
    }

    @Test("C22: a header is packed, in the order that was chosen")
    func c22PackedHeader() throws {
        let frame = Packed.Frame(type: 1, id: 3, payload: [0xAA, 0xBB])
        #expect(try encode(Packed(order: .big), frame) == [1, 0, 0, 0, 2, 0, 3, 0xAA, 0xBB])
        #expect(try encode(Packed(order: .little), frame) == [1, 2, 0, 0, 0, 3, 0, 0xAA, 0xBB])
        #expect(feedEveryWay(Packed(order: .big), [1, 0, 0, 0, 2, 0, 3, 0xAA, 0xBB]).frames == [frame])
    }

    @Test("the default of pending is what is left, and of finish an error about it")
    func defaults() {
        let outcome = feedEveryWay(HeaderThenBody(), utf8("length:4\r\nab"))
        #expect(outcome.error?.code == .truncated)
        #expect(outcome.pending == PendingFrame(received: 12))
    }

    @Test("decoding stops behind a marked frame, and at the queue's limit")
    func stops() throws {
        struct Stopping: FrameDecoder {
            mutating func decode(from input: inout ByteInput) throws -> UInt8? {
                guard let byte: UInt8 = input.read() else { return nil }
                if byte == 0 { input.stopAfterFrame() }
                return byte
            }
        }
        var decoder = Stopping()
        var input = ByteInput([1, 0, 2, 3])
        var queue = FrameQueue<UInt8>()
        try decoder._drain(&input, into: &queue, upTo: 9)
        #expect(queue.takeAll() == [1, 0])
        #expect(input.isStopped)
        input.resume()
        try decoder._drain(&input, into: &queue, upTo: 1)
        #expect(queue.takeAll() == [2])
        #expect(input.count == 1)
    }
}
