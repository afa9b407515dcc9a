import LifelineCore
import Testing

@Suite("NetstringCodec")
struct NetstringCodecTests {
    private let codec = NetstringCodec.netstring(max: 10)

    @Test("C01: frames that arrive cut in two or glued together, as they are written")
    func c01CutAndGlued() throws {
        let frames = [Bytes("hello"), Bytes(), Bytes("12:34,5678")]
        let stream = try encode(codec, frames[0], frames[1], frames[2])
        #expect(stream == utf8("5:hello,0:,10:12:34,5678,"))
        let outcome = feedEveryWay(codec, stream)
        #expect(outcome.frames == frames)
        #expect(outcome.error == nil)
    }

    @Test("C10: a stream cut inside a frame is an error that says how much is there")
    func c10CutInside() {
        let outcome = feedEveryWay(codec, utf8("2:ok,10:sixsix"))
        #expect(outcome.frames == [Bytes("ok")])
        #expect(outcome.error?.pending?.description == "6 of 11 bytes")
        #expect(feedEveryWay(codec, utf8("2:ok")).error?.pending?.description == "2 of 3 bytes")
        #expect(feedEveryWay(codec, utf8("2:ok,10")).error?.pending?.description == "2 bytes of the length")
    }

    @Test(
        "C11, C12: a length above the limit is refused with the digit that takes it there",
        arguments: [("11", 2), ("99999999999999:", 2), ("100:", 3), ("9223372036854775808:", 2), ("18446744073709551616:", 2)])
    func c11HugeLength(text: String, digits: Int) {
        #expect(feedEveryWay(codec, utf8(text), ends: false).error?.code == .frameTooLarge)
        #expect(feed(codec.makeDecoder(), [Array(utf8(text).prefix(digits))], ends: false).error?.code == .frameTooLarge)
        #expect(feed(codec.makeDecoder(), [Array(utf8(text).prefix(digits - 1))], ends: false).error == nil)
        let largest = NetstringCodec(max: .max)
        #expect(feedEveryWay(largest, utf8("99999999999999999999:"), ends: false).error?.code == .frameTooLarge)
    }

    @Test(
        "what isn't a netstring is refused with its first wrong byte",
        arguments: ["-", ":", " 1", "1 ", "x", "1x", "00", "01", "3:abc;", "3:abcd", "0:a", "0::", "+", "\n"])
    func malformed(text: String) {
        for rest in ["", ",1:a,"] {
            let outcome = feedEveryWay(codec, utf8(text + rest), ends: false)
            #expect(outcome.error?.code == .protocolViolation)
            #expect(outcome.frames.isEmpty)
        }
    }

    @Test("a frame of exactly the limit is legal, one more byte isn't, and the directions have their own", arguments: [0, 9, 10, 99, 100])
    func limits(max: Int) throws {
        let codec = NetstringCodec(max: max)
        let most = Bytes(repeatElement(0x2C, count: max))
        #expect(feedEveryWay(codec, try encode(codec, most)).frames == [most])
        let more = Bytes(repeatElement(0x2C, count: max + 1))
        #expect(refusal(codec, more) == .frameTooLarge)
        let apart = NetstringCodec(max: max, maxOutgoing: max + 1)
        #expect(feedEveryWay(apart, try encode(apart, more), ends: false).error?.code == .frameTooLarge)
        #expect(NetstringCodec(max: -1).max == 0)
    }
}
