import LifelineCore
import Testing

@Suite("TLVCodec")
struct TLVCodecTests {
    private func expectRoundTrips<Tag: FixedWidthInteger & Sendable>(_ type: Tag.Type) throws {
        for width in LengthLayout.Width.allCases {
            for order in [Endianness.big, .little] {
                for counts in LengthLayout.Counts.allCases {
                    let codec = TLVCodec<Tag>.tlv(type: type, length: width, order, counts: counts, max: 130)
                    let frames = [(Tag.max, 2), (.min, 0), (1, 130)].map { Packet(header: $0, body: Bytes(repeatElement(7, count: $1))) }
                    let outcome = feedEveryWay(codec, try encode(codec, frames[0], frames[1], frames[2]))
                    #expect(outcome.frames == frames, "\(width), \(order), \(counts)")
                    #expect(outcome.error == nil)
                    #expect(refusal(codec, Packet(header: 1, body: Bytes(repeatElement(7, count: 131)))) == .frameTooLarge)
                    let loose = TLVCodec(type: type, length: width, order, counts: counts)
                    let more = try encode(loose, Packet(header: 1, body: Bytes(repeatElement(7, count: 131))))
                    #expect(feed(codec.makeDecoder(), [Array(more.prefix(20))], ends: false).error?.code == .frameTooLarge)
                }
            }
        }
    }

    @Test("C01, C21: frames cut and glued, with every width, order and meaning of length")
    func c01RoundTrips() throws {
        try expectRoundTrips(UInt8.self)
        try expectRoundTrips(UInt16.self)
        try expectRoundTrips(Int32.self)
        try expectRoundTrips(UInt64.self)
    }

    @Test("C22: the bytes")
    func c22Bytes() throws {
        let frame = Packet(header: 0x0102 as UInt16, body: Bytes("hi"))
        #expect(try encode(.tlv(type: UInt16.self), frame) == [1, 2, 0, 2, 0x68, 0x69])
        #expect(try encode(.tlv(type: UInt16.self, length: .one), frame) == [1, 2, 2, 0x68, 0x69])
        #expect(
            try encode(.tlv(type: UInt16.self, length: .four, .little, counts: .wholeFrame), frame)
                == [2, 1, 8, 0, 0, 0, 0x68, 0x69])
        #expect(try encode(.tlv(type: UInt16.self, counts: .fieldAndPayload), frame) == [1, 2, 0, 4, 0x68, 0x69])
    }

    @Test("C10: a stream cut inside a frame is an error that says how much is there")
    func c10CutInside() {
        let codec = TLVCodec(type: UInt8.self)
        #expect(feedEveryWay(codec, [1, 0, 10, 1, 2, 3, 4, 5, 6]).error?.pending?.description == "6 of 10 bytes")
        #expect(feedEveryWay(codec, [1, 0]).error?.pending?.description == "2 of 3 bytes of the header")
    }

    @Test("C11, C12: a huge length is refused as soon as it is there", arguments: [0x7F, 0x80, 0xFF] as [UInt8])
    func c11HugeLength(first: UInt8) {
        for counts in LengthLayout.Counts.allCases {
            for (width, count) in [(LengthLayout.Width.four, 4), (.eight, 8)] {
                let codec = TLVCodec(type: UInt8.self, length: width, counts: counts)
                let outcome = feedEveryWay(codec, [1, first] + [UInt8](repeating: 0xFF, count: count - 1), ends: false)
                #expect(outcome.error?.code == .frameTooLarge)
            }
        }
    }

    @Test("C13: a length that counts type and length, and is smaller", arguments: [0, 2, 3, 13, 14] as [UInt8])
    func c13LengthOfItself(length: UInt8) {
        let codec = TLVCodec(type: UInt8.self, counts: .wholeFrame, max: 10)
        let outcome = feedEveryWay(codec, [9, 0, length] + [UInt8](repeating: 7, count: Swift.max(3, Int(length)) - 3))
        switch length {
        case 3, 13: #expect(outcome.frames.map(\.body.count) == [Int(length) - 3] && outcome.error == nil)
        case 14: #expect(outcome.error?.code == .frameTooLarge)
        default: #expect(outcome.error?.code == .protocolViolation)
        }
    }

    @Test("what the length can't say isn't sent")
    func fieldLimit() {
        let codec = TLVCodec(type: UInt8.self, length: .one)
        #expect(refusal(codec, Packet(header: 1, body: Bytes(repeatElement(0, count: 255)))) == nil)
        #expect(refusal(codec, Packet(header: 1, body: Bytes(repeatElement(0, count: 256)))) == .frameTooLarge)
    }
}
