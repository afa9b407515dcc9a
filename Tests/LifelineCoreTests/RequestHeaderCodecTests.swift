import LifelineCore
import Testing

@Suite("RequestHeaderCodec")
struct RequestHeaderCodecTests {
    private static let all = [Endianness.big, .little].flatMap { order in
        RequestHeaderCodec.Counts.allCases.map { RequestHeaderCodec(order, counts: $0, max: 10) }
    }
    private let frame = Packet(header: RequestHeader(serial: 1, command: 2, code: -3), body: Bytes("hi"))

    private func field(_ number: Int32, _ order: Endianness) -> [UInt8] {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * Int32($0))) }
        return order == .little ? bytes : bytes.reversed()
    }

    @Test("C22: the bytes, in both orders and with both meanings of length")
    func c22Bytes() throws {
        let big: [UInt8] = [0, 0, 0, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0xFF, 0xFD, 0x68, 0x69]
        #expect(try encode(.requestHeader, frame) == big)
        let little: [UInt8] = [2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0xFD, 0xFF, 0xFF, 0xFF, 0x68, 0x69]
        #expect(try encode(.requestHeader(.little, counts: .body), frame) == little)
    }

    @Test("C01, C21: packets that arrive cut or glued, at every alignment", arguments: all)
    func c01CutAndGlued(codec: RequestHeaderCodec) throws {
        let frames = (0...3).map {
            Packet(header: RequestHeader(serial: .max, command: .min, code: Int32($0)), body: Bytes(repeatElement(9, count: $0)))
        }
        let outcome = feedEveryWay(codec, try frames.flatMap { try encode(codec, $0) })
        #expect(outcome.frames == frames)
        #expect(outcome.error == nil)
    }

    @Test("C10: a stream cut inside a packet is an error that says how much is there", arguments: all)
    func c10CutInside(codec: RequestHeaderCodec) throws {
        let bytes = try encode(codec, frame)
        for cut in 1..<bytes.count {
            let outcome = feedEveryWay(codec, bytes + bytes.prefix(cut))
            #expect(outcome.frames == [frame])
            #expect(outcome.error?.code == .truncated)
            #expect(outcome.pending?.description == (cut < 16 ? "\(cut) of 16 bytes of the header" : "\(cut - 16) of 2 bytes"))
        }
    }

    @Test("C11, C13: lengths that are negative, too small or too large are refused with their four bytes", arguments: all)
    func c11c13Lengths(codec: RequestHeaderCodec) {
        let header: Int32 = codec.counts == .wholePacket ? 16 : 0
        for body in [.min, -17, -16, -15, -1, 11, 1 << 30] as [Int32] {
            let length = body == .min ? Int32.min : body + header
            let outcome = feedEveryWay(codec, field(length, codec.order), ends: false)
            #expect(outcome.error?.code == (body < 0 ? .protocolViolation : .frameTooLarge), "\(length)")
        }
        #expect(feedEveryWay(codec, field(.max, codec.order), ends: false).error?.code == .frameTooLarge)
        for body in [0, 10] as [Int32] {
            let rest = [UInt8](repeating: 0, count: 12 + Int(body))
            let outcome = feedEveryWay(codec, field(body + header, codec.order) + rest)
            #expect(outcome.frames.map(\.body.count) == [Int(body)] && outcome.error == nil)
        }
    }

    @Test("limits of what is sent: exact, apart from the other's, and what the length can say")
    func outgoing() {
        let codec = RequestHeaderCodec(max: 10, maxOutgoing: 2)
        #expect(refusal(codec, frame) == nil)
        #expect(refusal(codec, Packet(header: frame.header, body: Bytes("hey"))) == .frameTooLarge)
        #expect(RequestHeaderCodec(max: .max).maxOutgoing > 0 && RequestHeaderCodec(max: -1).max == 0)
    }

    @Test("a push has serial 0, success is code 0")
    func meaning() {
        #expect(RequestHeader(command: 1).isPush && RequestHeader(command: 1).isSuccess)
        #expect(!frame.header.isPush && !frame.header.isSuccess)
    }

    @Test("a lost border is found again")
    func resynchronizing() throws {
        let codec = RequestHeaderCodec(max: 10).resynchronizing()
        let outcome = feedEveryWay(codec, [9, 9, 9] + (try encode(codec, frame)))
        #expect(outcome.frames == [frame])
        #expect(outcome.findings == [Finding(.skippedBytes, byteCount: 3)])
    }
}
