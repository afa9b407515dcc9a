import LifelineCore
import Testing

/// `u8 type | u32 length | u16 id`, packed, little-endian.
struct PackedHeader: FixedHeader, Equatable {
    var type: UInt8
    var id: UInt16
    private var length: UInt32 = 0

    init(type: UInt8, id: UInt16) {
        self.type = type
        self.id = id
    }

    static var byteCount: Int { 7 }
    init(from input: ByteInput) {
        type = input.load(at: 0, .little)
        length = input.load(at: 1, .little)
        id = input.load(at: 5, .little)
    }
    func write(to output: inout ByteOutput) {
        output.append(type)
        output.append(length, .little)
        output.append(id, .little)
    }
    var bodyCount: Int? { Int(exactly: length) }
    mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count) }
    static func == (left: PackedHeader, right: PackedHeader) -> Bool { left.type == right.type && left.id == right.id }
}

/// `int16 length` that counts itself.
private struct OwnLength: FixedHeader, Equatable {
    private var length: Int16 = 0

    init() {}
    static var byteCount: Int { 2 }
    init(from input: ByteInput) { length = input.load(at: 0, .big) }
    func write(to output: inout ByteOutput) { output.append(length, .big) }
    var bodyCount: Int? { length < 2 ? nil : Int(length) - 2 }
    mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count, plus: 2) }
    static func == (_: OwnLength, _: OwnLength) -> Bool { true }
}

/// Eight bytes of length, taken as they come.
private struct WideLength: FixedHeader, Equatable {
    private var length: UInt64 = 0

    init() {}
    static var byteCount: Int { 8 }
    init(from input: ByteInput) { length = input.load(at: 0, .big) }
    func write(to output: inout ByteOutput) { output.append(length, .big) }
    // A careless conversion, whose result may be negative: the codec has to refuse it.
    var bodyCount: Int? { Int(truncatingIfNeeded: length) }
    mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count) }
}

/// Writes more than it says.
private struct WordyHeader: FixedHeader {
    static var byteCount: Int { 1 }
    init() {}
    init(from input: ByteInput) {}
    func write(to output: inout ByteOutput) { output.append(0 as UInt16, .big) }
    var bodyCount: Int? { 0 }
    mutating func setBodyCount(_ count: Int) {}
}

@Suite("HeaderCodec")
struct HeaderCodecTests {
    private typealias Frame = Packet<PackedHeader, Bytes>
    private let codec = HeaderCodec(PackedHeader.self, max: 10)

    private func frame(_ id: UInt16, _ body: String) -> Frame { Packet(header: PackedHeader(type: 1, id: id), body: Bytes(body)) }

    private func wire(_ frames: Frame...) throws -> [UInt8] {
        try frames.flatMap { try encode(HeaderCodec(PackedHeader.self), $0) }
    }

    @Test("C01: packets that arrive cut in two or glued together")
    func c01CutAndGlued() throws {
        let frames = [frame(1, "hello"), frame(2, ""), frame(3, "c")]
        let outcome = feedEveryWay(codec, try wire(frames[0], frames[1], frames[2]))
        #expect(outcome.frames == frames)
        #expect(outcome.error == nil)
    }

    @Test("C10: a stream cut inside a packet is an error that says how much is there")
    func c10CutInside() throws {
        let outcome = feedEveryWay(codec, try wire(frame(1, "ok")) + wire(frame(2, "0123456789")).dropLast(4))
        #expect(outcome.frames == [frame(1, "ok")])
        #expect(outcome.error?.code == .truncated)
        #expect(outcome.error?.pending == PendingFrame(received: 6, expected: 10))
        #expect(feed(codec.makeDecoder(), [[1, 2]]).error?.pending?.description == "2 of 7 bytes of the header")
    }

    @Test("C11: a huge length is refused as soon as the header is there", arguments: [11, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
    func c11HugeLength(length: UInt32) {
        let bytes = [1] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * UInt32($0))) } + [0, 0]
        let outcome = feedEveryWay(codec, bytes, ends: false)
        #expect(outcome.error?.code == .frameTooLarge)
        #expect(outcome.peak == 7)
    }

    @Test("C12: a length with the top bit set is an error, also if the header's type lets it through")
    func c12TopBit() {
        for bytes in [
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0, 0, 0, 0, 0],
            [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x40, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]] {
            let code: SocketError.Code = bytes[0] >= 0x80 ? .protocolViolation : .frameTooLarge
            for max in [0, 100, .max] {
                #expect(feedEveryWay(HeaderCodec(WideLength.self, max: max), bytes, ends: false).error?.code == code)
            }
        }
    }

    @Test("C13: a length that includes its own two bytes", arguments: [-1, 0, 1, 2, 12, 13, .max, .min] as [Int16])
    func c13LengthOfItself(length: Int16) {
        let body = [UInt8](repeating: 7, count: length > 2 ? Swift.min(20, Int(length)) - 2 : 0)
        let header = [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        let outcome = feedEveryWay(HeaderCodec(OwnLength.self, max: 10), header + body)
        switch length {
        case 2, 12: #expect(outcome.frames.map(\.body) == [Bytes(body)] && outcome.error == nil)
        case ..<2: #expect(outcome.error?.code == .protocolViolation)
        default: #expect(outcome.error?.code == .frameTooLarge)
        }
    }

    @Test("C21, C22: fields are packed and read at every alignment, whatever the machine")
    func c21c22Packed() throws {
        let frames = (1...3).map { Packet(header: PackedHeader(type: 1, id: 3), body: Bytes(repeatElement(9, count: $0))) }
        #expect(try wire(frames[1]) == [1, 2, 0, 0, 0, 3, 0, 9, 9])
        #expect(feedEveryWay(codec, try wire(frames[0], frames[1], frames[2])).frames == frames)
    }

    @Test("a body of exactly the limit is legal, one more byte isn't, and the directions have their own")
    func limits() throws {
        let most = frame(1, "0123456789")
        let more = frame(1, "0123456789a")
        #expect(feedEveryWay(codec, try wire(most)).frames == [most])
        #expect(feedEveryWay(codec, try wire(more), ends: false).error?.code == .frameTooLarge)
        #expect(refusal(codec, most) == nil)
        #expect(refusal(codec, more) == .frameTooLarge)
        let apart = HeaderCodec<PackedHeader>.headed(by: PackedHeader.self, max: 10, maxOutgoing: 11)
        #expect(refusal(apart, more) == nil)
        #expect(feedEveryWay(apart, try wire(more), ends: false).error?.code == .frameTooLarge)
        #expect(HeaderCodec(PackedHeader.self, max: -1).max == 0)
    }

    @Test("what the length field can't hold, and what no reader would take, isn't sent")
    func unencodable() throws {
        let codec = HeaderCodec(OwnLength.self)
        #expect(refusal(codec, Packet(header: OwnLength(), body: Bytes(repeatElement(0, count: 32765)))) == nil)
        #expect(refusal(codec, Packet(header: OwnLength(), body: Bytes(repeatElement(0, count: 32766)))) == .unencodable)
        let sent = HeaderCodec(TypeHeader.self)
        #expect(refusal(sent, Packet(header: TypeHeader(mainType: 1000), body: Bytes())) == .unencodable)
        #expect(throws: SocketError(.unencodable, "")) {
            try encode(HeaderCodec(WordyHeader.self), Packet(header: WordyHeader(), body: Bytes()))
        }
    }

    @Test("a header that isn't plausible is an error with its bytes")
    func implausible() {
        let bytes: [UInt8] = [2, 0, 0, 0] + [UInt8](repeating: 0, count: 12)
        let outcome = feedEveryWay(HeaderCodec(TypeHeader.self), bytes, ends: false)
        #expect(outcome.error?.code == .protocolViolation)
        #expect(outcome.error?.message.contains("02000000000000000000000000000000") == true)
        #expect(feedEveryWay(HeaderCodec(OwnLength.self), [0, 1]).error?.message.contains("0001") == true)
    }

    @Test("a check value stands behind the body, in each width and order", arguments: FrameCheck.Width.allCases)
    func checks(width: FrameCheck.Width) throws {
        for order in [Endianness.big, .little] {
            for offset in [0, 3, 9, 100] {
                let check = FrameCheck(width, order, from: offset, startingWith: 0x0102_0304) { value, bytes in
                    bytes.reduce(value) { ($0 &* 31) &+ UInt32($1) }
                }
                let codec = HeaderCodec(PackedHeader.self, max: 10, check: check)
                let bytes = try encode(codec, frame(1, "hello"), frame(2, ""))
                #expect(feedEveryWay(codec, bytes).frames == [frame(1, "hello"), frame(2, "")])
                #expect(try Array(bytes.prefix(12)) == wire(frame(1, "hello")))
                for place in Swift.min(offset, 12)..<12 + width.rawValue where place < 1 || place > 4 {
                    var changed = Array(bytes.prefix(12 + width.rawValue))
                    changed[place] ^= 1
                    #expect(feedEveryWay(codec, changed).error?.code == .protocolViolation, "byte \(place) from \(offset)")
                }
                #expect(feed(codec.makeDecoder(), [Array(bytes.dropLast())]).error?.code == .truncated)
            }
        }
        let value = FrameCheck(.two, .little) { _, _ in 0xA_0102 }
        #expect(try encode(HeaderCodec(PackedHeader.self, check: value), frame(1, "")).suffix(2) == [2, 1])
    }
}
