import LifelineCore
import Testing

@Suite("LengthPrefixCodec")
struct LengthPrefixCodecTests {
    static let plain = LengthPrefixCodec.lengthPrefixed(UInt32.self, .big)

    @Test("C01: frames that arrive cut in two or glued together")
    func c01CutAndGlued() {
        let reads = [[0, 0, 0], [5] + utf8("hello") + lengthPrefixed("ab") + lengthPrefixed("c")]
        let outcome = feed(Self.plain.makeDecoder(), reads)
        #expect(outcome.frames == [Bytes("hello"), Bytes("ab"), Bytes("c")])
        #expect(outcome.error == nil)
        #expect(feedEveryWay(Self.plain, Array(reads.joined())) == outcome)
    }

    @Test("C10: a stream cut inside a frame is an error that says how much is there")
    func c10CutInsideFrame() {
        let outcome = feedEveryWay(Self.plain, lengthPrefixed("ok") + [0, 0, 0, 0x0A] + utf8("sixsix"))
        #expect(outcome.frames == [Bytes("ok")])
        #expect(outcome.error?.code == .truncated)
        #expect(outcome.error?.pending == PendingFrame(received: 6, expected: 10))
        #expect(outcome.error?.message.contains("6 of 10 bytes") == true)
        #expect(feed(Self.plain.makeDecoder(), [[0, 0, 0, 10]]).error?.pending == PendingFrame(received: 0, expected: 10))
        let trailing = LengthPrefixCodec(layout: LengthLayout(width: .varint, trailing: 2))
        #expect(feed(trailing.makeDecoder(), [[9, 0]], ends: false).pending?.description == "2 bytes of the header")
        let header = feed(Self.plain.makeDecoder(), [[0, 0]])
        #expect(header.error?.code == .truncated)
        #expect(header.pending?.description == "2 of 4 bytes of the header")
        #expect(feedEveryWay(Self.plain, lengthPrefixed("ok")).error == nil)
    }

    @Test("C11: a huge length is refused as soon as it is there", arguments: [0x7F, 0xFF] as [UInt8])
    func c11HugeLength(first: UInt8) {
        let outcome = feedEveryWay(Self.plain, [first, 0xFF, 0xFF, 0xFF], ends: false)
        #expect(outcome.error?.code == .frameTooLarge)
        #expect(outcome.peak == 4)
    }

    @Test("storage follows what has arrived, not what was announced")
    func storageFollowsArrival() {
        let reads = [[0, 0x10, 0, 0]] + Array(repeating: [UInt8](repeating: 1, count: 100), count: 10)
        #expect(feed(Self.plain.makeDecoder(), reads, ends: false).peak <= 2 * 1004)
    }

    @Test(
        "C12: eight bytes with the top bits set are an error and not a trap", arguments: [Endianness.big, .little],
        [
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0, 0, 0, 0, 0],
            [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x40, 0, 0, 0, 0, 0, 0, 0], [0x20, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]])
    func c12EightBytes(order: Endianness, length: [UInt8]) {
        let bytes = order == .big ? length : length.reversed()
        for counts in LengthLayout.Counts.allCases {
            for adjustment in [0, 9, -9, .max, .min] {
                for max in [0, 1024, 1 << 40, .max] {
                    let layout = LengthLayout(width: .eight, order: order, counts: counts, adjustment: adjustment)
                    let codec = LengthPrefixCodec(layout: layout, max: max)
                    let outcome = feedEveryWay(codec, bytes, ends: false)
                    // Only a limit beyond all memory lets the smallest of these through to be waited for.
                    if max == .max, length[0] == 0x20 { continue }
                    #expect(outcome.error?.code == .frameTooLarge, "\(layout), max \(max)")
                }
            }
        }
    }

    @Test("C13: a length that includes its own four bytes", arguments: [0, 3, 4, 14, 15] as [UInt8])
    func c13LengthOfItself(length: UInt8) {
        let codec = LengthPrefixCodec.lengthPrefixed(layout: LengthLayout(counts: .fieldAndPayload), max: 10)
        let body = [UInt8](repeating: 0x62, count: Swift.max(0, Int(length) - 4))
        let outcome = feedEveryWay(codec, [0, 0, 0, length] + body)
        switch length {
        case 4, 14:
            #expect(outcome.error == nil)
            #expect(outcome.frames == [Bytes(body)])
        case 15:
            #expect(outcome.error?.code == .frameTooLarge)
        default:
            #expect(outcome.error?.code == .protocolViolation)
        }
        #expect(outcome.frames.count == (length == 4 || length == 14 ? 1 : 0))
        #expect(feedEveryWay(codec, [0, 0, 0, length] + body, ends: false).error == outcome.error)
    }

    @Test("a payload of exactly the limit is legal, one more byte isn't", arguments: LengthLayout.Width.allCases)
    func limitIsExact(width: LengthLayout.Width) throws {
        for counts in LengthLayout.Counts.allCases {
            let layout = LengthLayout(width: width, order: .little, offset: 1, counts: counts)
            let loose = LengthPrefixCodec(layout: layout, max: 200)
            let codec = LengthPrefixCodec(layout: layout, max: 130)
            let most = Bytes(repeatElement(1, count: 130))
            let more = Bytes(repeatElement(1, count: 131))
            #expect(try feedEveryWay(codec, encode(loose, most)).frames == [most])
            let refused = try feedEveryWay(codec, Array(encode(loose, more).prefix(14)), ends: false)
            #expect(refused.error?.code == .frameTooLarge)
            #expect(refusal(codec, most) == nil)
            #expect(refusal(codec, more) == .frameTooLarge)
        }
    }

    @Test("C133: the limits of the directions are separate, and finite unless set")
    func c133LimitsByDirection() throws {
        let codec = LengthPrefixCodec.lengthPrefixed(UInt32.self, max: 65_536, maxOutgoing: 1_000_000)
        #expect(feed(codec.makeDecoder(), [[0, 1, 0, 0]], ends: false).error == nil)
        #expect(feed(codec.makeDecoder(), [[0, 1, 0, 1]], ends: false).error?.code == .frameTooLarge)
        #expect(refusal(codec, Bytes(repeatElement(0, count: 1_000_000))) == nil)
        #expect(refusal(codec, Bytes(repeatElement(0, count: 1_000_001))) == .frameTooLarge)
        #expect(feed(Self.plain.makeDecoder(), [[0, 0x10, 0, 0]], ends: false).error == nil)
        #expect(feed(Self.plain.makeDecoder(), [[0, 0x10, 0, 1]], ends: false).error?.code == .frameTooLarge)
        #expect(refusal(Self.plain, Bytes(repeatElement(0, count: 1 << 20))) == nil)
        #expect(refusal(Self.plain, Bytes(repeatElement(0, count: 1 << 20 + 1))) == .frameTooLarge)
    }

    @Test("a payload that the length field can't hold is refused")
    func fieldTooSmall() throws {
        #expect(refusal(.lengthPrefixed(UInt8.self), Bytes(repeatElement(0, count: 255))) == nil)
        #expect(refusal(.lengthPrefixed(UInt8.self), Bytes(repeatElement(0, count: 256))) == .frameTooLarge)
        #expect(refusal(.lengthPrefixed(UInt16.self), Bytes(repeatElement(0, count: 65_535))) == nil)
        #expect(refusal(.lengthPrefixed(UInt16.self), Bytes(repeatElement(0, count: 65_536))) == .frameTooLarge)
        let itself = LengthPrefixCodec(layout: LengthLayout(width: .one, counts: .fieldAndPayload))
        #expect(refusal(itself, Bytes(repeatElement(0, count: 254))) == nil)
        #expect(refusal(itself, Bytes(repeatElement(0, count: 255))) == .frameTooLarge)
    }

    @Test("a limit below zero is zero")
    func negativeLimit() {
        let codec = LengthPrefixCodec.lengthPrefixed(UInt8.self, max: -1, maxOutgoing: -1)
        #expect(feedEveryWay(codec, [1], ends: false).error?.code == .frameTooLarge)
        #expect(feedEveryWay(codec, [0]).frames == [Bytes()])
        #expect(refusal(codec, [1]) == .frameTooLarge)
        #expect(refusal(codec, []) == nil)
    }

    @Test("the wire, byte for byte")
    func wire() throws {
        let hi = Bytes("hi")
        #expect(try encode(.lengthPrefixed(UInt8.self), hi) == [2] + utf8("hi"))
        #expect(try encode(.lengthPrefixed(UInt16.self, .little), hi) == [2, 0] + utf8("hi"))
        #expect(try encode(.lengthPrefixed(UInt32.self, .big), hi, Bytes()) == [0, 0, 0, 2] + utf8("hi") + [0, 0, 0, 0])
        #expect(try encode(.lengthPrefixed(UInt64.self, .little), hi) == [2, 0, 0, 0, 0, 0, 0, 0] + utf8("hi"))
        let three = Bytes(repeatElement(9, count: 0x010203))
        #expect(try encode(.lengthPrefixed(layout: LengthLayout(width: .three)), three).prefix(4) == [1, 2, 3, 9])
        #expect(try encode(.lengthPrefixed(layout: LengthLayout(width: .three, order: .little)), three).prefix(4) == [3, 2, 1, 9])
        let varint = LengthPrefixCodec.lengthPrefixed(layout: LengthLayout(width: .varint))
        #expect(try encode(varint, Bytes(repeatElement(9, count: 300))).prefix(3) == [0xAC, 0x02, 9])
        #expect(try encode(varint, Bytes()) == [0])
    }

    @Test("what the number counts, in a longer header")
    func counts() throws {
        func bytes(_ counts: LengthLayout.Counts, adjustment: Int = 0, width: LengthLayout.Width = .two) throws -> [UInt8] {
            let layout = LengthLayout(width: width, offset: 3, trailing: 1, counts: counts, adjustment: adjustment)
            let codec = LengthPrefixCodec(layout: layout, max: 5)
            let bytes = try encode(codec, Bytes("hello"))
            #expect(feedEveryWay(codec, bytes + bytes).frames == [Bytes("hello"), Bytes("hello")])
            return bytes
        }
        #expect(try bytes(.payload) == [0, 0, 0, 0, 5, 0] + utf8("hello"))
        #expect(try bytes(.fieldAndPayload) == [0, 0, 0, 0, 8, 0] + utf8("hello"))
        #expect(try bytes(.wholeFrame) == [0, 0, 0, 0, 11, 0] + utf8("hello"))
        #expect(try bytes(.payload, adjustment: 2) == [0, 0, 0, 0, 3, 0] + utf8("hello"))
        #expect(try bytes(.payload, adjustment: -2) == [0, 0, 0, 0, 7, 0] + utf8("hello"))
        #expect(try bytes(.wholeFrame, width: .varint) == [0, 0, 0, 10, 0] + utf8("hello"))
        #expect(try bytes(.fieldAndPayload, width: .varint) == [0, 0, 0, 7, 0] + utf8("hello"))
    }

    @Test("an adjustment that makes a payload negative is malformed on receipt and can't be sent")
    func adjustments() {
        let less = LengthPrefixCodec(layout: LengthLayout(width: .one, adjustment: -3))
        #expect(feedEveryWay(less, [2, 1, 1], ends: false).error?.code == .protocolViolation)
        #expect(feedEveryWay(less, [3]).frames == [Bytes()])
        let more = LengthPrefixCodec(layout: LengthLayout(width: .one, adjustment: 3))
        #expect(refusal(more, Bytes("ab")) == .unencodable)
        #expect(refusal(more, Bytes("abc")) == nil)
        #expect(feedEveryWay(more, [0] + utf8("abc")).frames == [Bytes("abc")])
    }

    @Test("headers are kept and their length put right")
    func keepsHeaders() throws {
        let codec = LengthPrefixCodec(layout: LengthLayout(width: .two, offset: 1, trailing: 1, keepsHeader: true), max: 4)
        let stream: [UInt8] = [7, 0, 2, 8, 1, 2, 7, 0, 0, 9]
        #expect(feedEveryWay(codec, stream).frames == [[7, 0, 2, 8, 1, 2], [7, 0, 0, 9]])
        #expect(try encode(codec, [7, 0xFF, 0xFF, 8, 1, 2, 3]) == [7, 0, 3, 8, 1, 2, 3])
        #expect(refusal(codec, [7, 0, 0]) == .unencodable)
        #expect(refusal(codec, [7, 0, 0, 8, 1, 2, 3, 4, 5]) == .frameTooLarge)
        #expect(refusal(codec, [7, 0, 0, 8, 1, 2, 3, 4]) == nil)

        let whole = LengthPrefixCodec(layout: LengthLayout(width: .two, offset: 1, trailing: 1, counts: .wholeFrame, keepsHeader: true))
        #expect(refusal(whole, [7, 0, 0]) == .unencodable)
        #expect(try encode(whole, [7, 0, 0, 8]) == [7, 0, 4, 8])

        let varint = LengthPrefixCodec(layout: LengthLayout(width: .varint, offset: 1, keepsHeader: true))
        #expect(feedEveryWay(varint, [7, 0x82, 0, 1, 2, 7, 1, 9]).frames == [[7, 0x82, 0, 1, 2], [7, 1, 9]])
        #expect(try encode(varint, [7, 0xFF, 0x01, 1, 2, 3]) == [7, 3, 1, 2, 3])
        #expect(refusal(varint, [7, 0xFF, 0xFF]) == .unencodable)
        #expect(refusal(varint, [7]) == .unencodable)
    }

    @Test("a varint is understood up to 64 bits and refused as soon as it is certain")
    func varints() {
        let codec = LengthPrefixCodec(layout: LengthLayout(width: .varint), max: 300)
        #expect(feedEveryWay(codec, [0x81, 0x80, 0x00, 5]).frames == [[5]])
        let padded: [UInt8] = [0xAC, 0x82, 0x00] + Array(repeating: 5, count: 300)
        #expect(feed(codec.makeDecoder(), padded.map { [$0] }).frames == [Bytes(padded[3...])])
        #expect(feedEveryWay(codec, [0x80], ends: false).error == nil)
        #expect(feedEveryWay(codec, [0x80]).error?.code == .truncated)
        #expect(feed(codec.makeDecoder(), [[0x80]], ends: false).pending?.description == "1 byte of the header")
        #expect(feedEveryWay(codec, [0xFF, 0xFF], ends: false).error?.code == .frameTooLarge)
        #expect(feedEveryWay(codec, [0xAD, 0x02], ends: false).error?.code == .frameTooLarge)
        let endless = [UInt8](repeating: 0x80, count: 10)
        #expect(feedEveryWay(codec, endless, ends: false).error?.code == .protocolViolation)
        #expect(feedEveryWay(codec, Array(endless[..<9]) + [0x00], ends: false).frames == [Bytes()])
        #expect(feedEveryWay(codec, Array(endless[..<9]) + [0x02], ends: false).error?.code == .protocolViolation)
        let all = LengthPrefixCodec(layout: LengthLayout(width: .varint), max: .max)
        #expect(feedEveryWay(all, Array(repeating: 0xFF, count: 9) + [0x01], ends: false).error?.code == .frameTooLarge)
    }

    @Test(
        "a varint that counts itself round-trips where its size changes",
        arguments: Array(0...3) + Array(120...132) + Array(16_376...16_390))
    func varintOfItself(count: Int) throws {
        for counts in LengthLayout.Counts.allCases {
            let codec = LengthPrefixCodec(layout: LengthLayout(width: .varint, offset: 1, counts: counts))
            let frame = Bytes(repeatElement(1, count: count))
            let bytes = try encode(codec, frame)
            #expect(feed(codec.makeDecoder(), [bytes, bytes]).frames == [frame, frame])
        }
        let itself = LengthPrefixCodec(layout: LengthLayout(width: .varint, counts: .fieldAndPayload))
        #expect(feedEveryWay(itself, [0], ends: false).error?.code == .protocolViolation)
        #expect(feedEveryWay(itself, [1]).frames == [Bytes()])
    }

    @Test("a varint before each payload, as protocol buffers delimit messages")
    func varintPrefixed() throws {
        let codec = LengthPrefixCodec.varintPrefixed(max: 300)
        let long = Bytes(repeatElement(1, count: 300))
        #expect(try encode(codec, Bytes("hi"), long).prefix(5) == [2, 0x68, 0x69, 0xAC, 2])
        #expect(feedEveryWay(codec, try encode(codec, Bytes("hi"), long)).frames == [Bytes("hi"), long])
        #expect(feedEveryWay(codec, [0xAD, 2], ends: false).error?.code == .frameTooLarge)
        #expect(refusal(codec, Bytes(repeatElement(1, count: 301))) == .frameTooLarge)
    }

    @Test("every layout brings back what it sent")
    func everyLayout() throws {
        let frames = [Bytes("a"), Bytes(), Bytes(repeatElement(3, count: 200))]
        for width in LengthLayout.Width.allCases {
            for order in [Endianness.big, .little] {
                for counts in LengthLayout.Counts.allCases {
                    for (offset, trailing, adjustment) in [(0, 0, 0), (2, 0, -1), (0, 3, -4), (5, 1, -2)] {
                        let layout = LengthLayout(
                            width: width, order: order, offset: offset, trailing: trailing, counts: counts, adjustment: adjustment)
                        let codec = LengthPrefixCodec(layout: layout)
                        let stream = try encode(codec, frames[0], frames[1], frames[2])
                        #expect(feedEveryWay(codec, stream).frames == frames, "\(layout)")
                    }
                }
            }
        }
    }

    @Test("sizes and adjustments out of range do no harm")
    func extremes() {
        for extreme in [Int.min, -1, Int.max] {
            var layout = LengthLayout(width: .eight, offset: extreme, trailing: extreme, counts: .wholeFrame, adjustment: extreme)
            #expect(layout.offset >= 0 && layout.trailing >= 0)
            layout.offset = extreme
            layout.trailing = extreme
            layout.adjustment = extreme
            #expect(0...1 << 30 ~= layout.offset && 0...1 << 30 ~= layout.trailing && abs(layout.adjustment) <= 1 << 30)
            for max in [extreme, 10] {
                _ = feedEveryWay(LengthPrefixCodec(layout: layout, max: max, maxOutgoing: extreme), [UInt8](repeating: 0xFF, count: 12))
            }
        }
    }

    @Test("C11: a length is refused before the rest of its header has come", arguments: [LengthLayout.Width.two, .four, .varint])
    func c11BeforeTheRestOfTheHeader(width: LengthLayout.Width) {
        let layout = LengthLayout(width: width, offset: 1, trailing: 12)
        let start: [UInt8] = [9] + (width == .varint ? [0xFF, 0x7F] : [UInt8](repeating: 0xFF, count: width.byteCount ?? 0))
        let outcome = feedEveryWay(LengthPrefixCodec(layout: layout, max: 1000), start, ends: false)
        #expect(outcome.error?.code == .frameTooLarge)
        // One that is within the limit waits for it.
        let good: [UInt8] = [9] + (width == .varint ? [1] : [UInt8](repeating: 0, count: (width.byteCount ?? 0) - 1) + [1])
        let whole = good + [UInt8](repeating: 7, count: 12) + [42]
        #expect(feedEveryWay(LengthPrefixCodec(layout: layout, max: 1000), whole).frames == [[42]])
    }
}
