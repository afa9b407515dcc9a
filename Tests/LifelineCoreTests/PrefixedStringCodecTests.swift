import LifelineCore
import Testing

@Suite("PrefixedStringCodec")
struct PrefixedStringCodecTests {
    @Test("C01: texts cut and glued, with lengths of each form", arguments: LengthLayout.Width.allCases)
    func c01CutAndGlued(width: LengthLayout.Width) throws {
        for order in [Endianness.big, .little] {
            let codec = PrefixedStringCodec.prefixedString(length: width, order)
            let outcome = feedEveryWay(codec, try encode(codec, "hello", "", "测试🙂"))
            #expect(outcome.frames == ["hello", "", "测试🙂"])
            #expect(outcome.error == nil)
        }
    }

    @Test("the bytes: lengths count bytes and not characters")
    func bytes() throws {
        #expect(try encode(.prefixedString, "€") == [0, 0, 0, 3, 0xE2, 0x82, 0xAC])
        #expect(try encode(.prefixedString(length: .two), "€") == [0, 3, 0xE2, 0x82, 0xAC])
        #expect(try encode(.prefixedString(length: .two, .little), "€") == [3, 0, 0xE2, 0x82, 0xAC])
        #expect(try encode(.prefixedString(length: .one), "€") == [3, 0xE2, 0x82, 0xAC])
    }

    @Test("C20: text that is split inside a character is whole, and invalid text is an error or repaired, by rule")
    func c20InvalidText() throws {
        let stream: [UInt8] = [3, 0xE2, 0x82, 0xAC, 1, 0xFF, 2, 0x6F, 0x6B]
        let failing = feedEveryWay(.prefixedString(length: .one), stream, ends: false)
        #expect(failing.frames == ["€"])
        #expect(failing.error?.code == .invalidEncoding)
        let repairing = feedEveryWay(.prefixedString(length: .one, invalidText: .replace), stream)
        #expect(repairing.frames == ["€", "\u{FFFD}", "ok"])
        #expect(repairing.error == nil)
        #expect(feedEveryWay(.prefixedString(length: .one), [2, 0xE2, 0x82]).error?.code == .invalidEncoding)
    }

    @Test("C10, C11: a text that is cut is an error, one above the limit is refused with its length")
    func c10c11() throws {
        let codec = PrefixedStringCodec(max: 10)
        #expect(feedEveryWay(codec, [0, 0, 0, 10] + utf8("sixsix")).error?.pending == PendingFrame(received: 6, expected: 10))
        for length in [[0, 0, 0, 11], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
            #expect(feedEveryWay(codec, length, ends: false).error?.code == .frameTooLarge)
        }
        #expect(feedEveryWay(codec, try encode(codec, "0123456789")).frames == ["0123456789"])
        #expect(refusal(codec, "0123456789a") == .frameTooLarge)
        #expect(refusal(.prefixedString(length: .one), String(repeating: "a", count: 256)) == .frameTooLarge)
        #expect(refusal(.prefixedString(max: 1, maxOutgoing: 2), "ab") == nil)
    }
}
