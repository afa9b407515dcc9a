import LifelineCore
import Testing

@Suite("LineCodec")
struct LineCodecTests {
    @Test("C03: a line ending split between two reads is one ending, and a CR alone is data")
    func c03LineEndingSplit() {
        let reads = [utf8("one\r"), utf8("\ntwo\n"), utf8("th\rree\r\n")]
        let outcome = feed(LineCodec.lines.makeDecoder(), reads)
        #expect(outcome.frames == ["one", "two", "th\rree"])
        #expect(outcome.error == nil)
        #expect(feedEveryWay(.lines, Array(reads.joined())) == outcome)
    }

    @Test("only one CR before the LF belongs to the terminator")
    func oneCarriageReturn() {
        #expect(feedEveryWay(.lines, utf8("a\r\r\n\r\n\n")).frames == ["a\r", "", ""])
    }

    @Test("C07: an overlong line is one error as soon as the limit is passed")
    func c07OverlongLineFails() {
        let decoder = LineCodec.lines(max: 11).makeDecoder()
        let reads = [utf8("line "), utf8("too very l"), Array(repeating: 0x61, count: 4096), utf8("ong\nshort\n")]
        #expect(feed(decoder, Array(reads[..<1]), ends: false).error == nil)
        let outcome = feed(decoder, Array(reads[..<2]), ends: false)
        #expect(outcome.error?.code == .frameTooLarge)
        #expect(outcome.frames.isEmpty)
        #expect(feedEveryWay(.lines(max: 11), Array(reads.joined())).error?.code == .frameTooLarge)
        #expect(feedEveryWay(.lines(max: 11), utf8("ok\n") + Array(reads.joined())).frames == ["ok"])
    }

    @Test("C07: by the other rule an overlong line is dropped in the memory of a read and the next is delivered")
    func c07OverlongLineDropped() {
        let reads = [utf8("line "), utf8("too very l"), Array(repeating: 0x61, count: 4096), utf8("ong\nshort\n")]
        let outcome = feed(LineCodec.lines(max: 11, overlong: .drop).makeDecoder(), reads)
        #expect(outcome.frames == ["short"])
        #expect(outcome.error == nil)
        #expect(outcome.findings == [Finding(.droppedFrame, byteCount: 4114)])
        #expect(outcome.peak <= 11 + 4096)
        #expect(feedEveryWay(.lines(max: 11, overlong: .drop), Array(reads.joined())) == outcome)
    }

    @Test("a line of exactly the limit is legal with either ending, one more byte isn't")
    func limitIsExact() {
        let codec = LineCodec.lines(max: 4)
        #expect(feedEveryWay(codec, utf8("1234\r\n1234\n")).frames == ["1234", "1234"])
        #expect(feedEveryWay(codec, utf8("1234\r"), ends: false).error == nil)
        #expect(feedEveryWay(codec, utf8("1234\rx"), ends: false).error?.code == .frameTooLarge)
        #expect(feedEveryWay(codec, utf8("12345"), ends: false).error?.code == .frameTooLarge)
        #expect(feedEveryWay(codec, utf8("12345\n")).error?.code == .frameTooLarge)
        #expect(feedEveryWay(codec, utf8("1234\r\r\n")).error?.code == .frameTooLarge)
    }

    @Test("one finding for each dropped line, with its size and not its terminator's")
    func findingPerLine() {
        let outcome = feedEveryWay(.lines(max: 2, overlong: .drop), utf8("123\r\n12\n1\r\r\r\r\n\r\n1234\n"))
        #expect(outcome.frames == ["12", ""])
        #expect(outcome.findings.map(\.byteCount) == [3, 4, 4])
        #expect(outcome.findings.allSatisfy { $0.kind == .droppedFrame })
        #expect(outcome.error == nil)
    }

    @Test("C09: a last line without a terminator is an error that says what is left; the lines before are delivered")
    func c09UnterminatedFails() {
        let outcome = feedEveryWay(.lines, utf8("a\nb\nc"))
        #expect(outcome.frames == ["a", "b"])
        #expect(outcome.error?.code == .truncated)
        #expect(outcome.error?.pending == PendingFrame(received: 1, note: "without a terminator"))
        #expect(outcome.error?.message.contains("1 byte without a terminator") == true)
        let longer = feed(LineCodec.lines.makeDecoder(), [Array(repeating: 0x61, count: 42)])
        #expect(longer.pending?.description == "42 bytes without a terminator")
    }

    @Test("C09: by the other rule a last line without a terminator is delivered once")
    func c09UnterminatedDelivered() {
        let outcome = feedEveryWay(.lines(unterminated: .deliver), utf8("a\nb\nc"))
        #expect(outcome.frames == ["a", "b", "c"])
        #expect(outcome.error == nil)
        #expect(feedEveryWay(.lines(unterminated: .deliver), utf8("a\n")).frames == ["a"])
        #expect(feedEveryWay(.lines(unterminated: .deliver), utf8("a\r")).frames == ["a\r"])
        #expect(feedEveryWay(.lines(accepting: .crlf, unterminated: .deliver), utf8("a\r")).frames == ["a\r"])
    }

    @Test("the rest of a stream keeps to the limit, with a CR at its end counted because it is data now")
    func restKeepsToLimit() throws {
        #expect(feedEveryWay(.lines(max: 4, unterminated: .deliver), utf8("1234\r")).error?.code == .frameTooLarge)
        let dropped = feedEveryWay(.lines(max: 4, overlong: .drop, unterminated: .deliver), utf8("a\n1234\r"))
        #expect(dropped.frames == ["a"])
        #expect(dropped.error == nil)
        #expect(dropped.findings == [Finding(.droppedFrame, byteCount: 5)])
        let long = feedEveryWay(.lines(max: 4, overlong: .drop, unterminated: .deliver), utf8("123456789"))
        #expect(long.findings == [Finding(.droppedFrame, byteCount: 9)])
        var decoder = LineCodec.lines(max: 4, overlong: .drop, unterminated: .deliver).makeDecoder()
        var input = ByteInput(Bytes("123456789"))
        #expect(try decoder.decode(from: &input) == nil)
        #expect(try decoder.finish(&input) == nil)
        #expect(decoder.pending(in: input) == nil)
        let failed = feedEveryWay(.lines(max: 4, overlong: .drop), utf8("123456789"))
        #expect(failed.error?.pending?.received == 9)
    }

    @Test("C18, C19: a line without an end is an error at the limit, in flat memory")
    func c19LineWithoutEnd() {
        let read = [UInt8](repeating: 0x78, count: 16_384)
        let reads = [utf8("{\"a\":\"")] + Array(repeating: read, count: 640)
        let outcome = feed(LineCodec.lines.makeDecoder(), reads, ends: false)
        #expect(outcome.error?.code == .frameTooLarge)
        #expect(outcome.peak <= 2 * (64 * 1024 + read.count))
        let dropped = feed(LineCodec.lines(overlong: .drop).makeDecoder(), reads, ends: false)
        #expect(dropped.error == nil)
        #expect(dropped.peak <= 2 * (64 * 1024 + read.count))
        #expect(dropped.pending?.received == 6 + 640 * 16_384)
    }

    @Test("C20: text that is split inside a character is whole, and invalid text is an error")
    func c20InvalidTextFails() {
        let outcome = feedEveryWay(.lines, [0xE2, 0x82, 0xAC, 0x0A, 0xFF, 0x0A, 0x61, 0x0A])
        #expect(outcome.frames == ["€"])
        #expect(outcome.error?.code == .invalidEncoding)
    }

    @Test("C20: by the other rule invalid text is repaired and the stream goes on")
    func c20InvalidTextReplaced() {
        let outcome = feedEveryWay(.lines(invalidText: .replace), [0xE2, 0x82, 0xAC, 0x0A, 0xFF, 0x0A, 0x61, 0x0A])
        #expect(outcome.frames == ["€", "\u{FFFD}", "a"])
        #expect(outcome.error == nil)
        #expect(feedEveryWay(.lines(unterminated: .deliver, invalidText: .replace), [0xE2, 0x82]).frames == ["\u{FFFD}"])
        #expect(feedEveryWay(.lines(unterminated: .deliver), [0xE2, 0x82]).error?.code == .invalidEncoding)
    }

    @Test("C133: 64 KB in and 1 MB out are both honoured, and the defaults are finite")
    func c133LimitsByDirection() throws {
        let codec = LineCodec.lines(max: 65_536, maxOutgoing: 1_048_576)
        let most = String(repeating: "a", count: 65_536)
        #expect(feed(codec.makeDecoder(), [utf8(most + "\n")]).frames == [most])
        #expect(feed(codec.makeDecoder(), [utf8(most + "a\n")]).error?.code == .frameTooLarge)
        #expect(refusal(codec, String(repeating: "a", count: 1_048_576)) == nil)
        #expect(refusal(codec, String(repeating: "a", count: 1_048_577)) == .frameTooLarge)

        #expect(LineCodec.lines.lines.max == 65_536)
        #expect(feed(LineCodec.lines.makeDecoder(), [utf8(most + "\n")]).frames == [most])
        #expect(feed(LineCodec.lines.makeDecoder(), [utf8(most + "a\n")]).error?.code == .frameTooLarge)
        #expect(refusal(.lines, most) == nil)
        #expect(refusal(.lines, most + "a") == .frameTooLarge)
        #expect(refusal(.lines(max: 4), "12345") == .frameTooLarge)
    }

    @Test("what is sent and what is accepted are separate settings")
    func sends() throws {
        #expect(try encode(.lines, "a", "", "€") == utf8("a\n\n€\n"))
        #expect(try encode(.lines(accepting: .crlf), "a") == utf8("a\n"))
        #expect(try encode(.lines(accepting: .lf, sending: .crlf), "a") == utf8("a\r\n"))
        #expect(try encode(.lines(sending: "\0"), "a\nb") == utf8("a\nb\0"))
    }

    @Test("a text that readers would cut elsewhere is refused and nothing is written")
    func refuses() throws {
        #expect(refusal(.lines, "a\nb") == .unencodable)
        #expect(refusal(.lines, "a\r") == .unencodable)
        #expect(refusal(.lines, "a\rb") == nil)
        #expect(refusal(.lines(accepting: .lf), "a\r") == nil)
        #expect(refusal(.lines(sending: .crlf), "a\nb") == .unencodable)
        #expect(refusal(.lines(accepting: .crlf, sending: .crlf), "a\nb\rc") == nil)
        #expect(refusal(.lines(accepting: .crlf, sending: .crlf), "a\r\nb") == .unencodable)
        // One CR is taken off before LF: this one stays.
        #expect(try feedEveryWay(.lines, encode(.lines(sending: .crlf), "a\r")).frames == ["a\r"])
    }

    @Test("an input that lost bytes to another reader is searched from its front")
    func otherReader() throws {
        for terminator in [LineTerminator.lf, .either, .crlf, .delimiter("aaab")] {
            var decoder = LineCodec(accepting: terminator).makeDecoder()
            var input = ByteInput(Bytes("xaaa"))
            #expect(try decoder.decode(from: &input) == nil)
            input = ByteInput()
            #expect(try decoder.decode(from: &input) == nil)
            input = ByteInput(Bytes("b"))
            #expect(try decoder.decode(from: &input) == nil)
            input = ByteInput(Bytes("b" + "\r\n" + "aaab"))
            #expect(try decoder.decode(from: &input)?.first == "b")
        }
    }

    @Test("what was searched isn't searched again")
    func searchesOnce() throws {
        // Another input under the same decoder shows where it goes on: terminators before that place aren't seen.
        for (codec, first, second, frame) in [
            (LineCodec.lines, "abcd", "a\nbcd\nx", "a\nbcd"), (.lines(accepting: .crlf), "abcd", "\r\ncd\r\nx", "\r\ncd"),
            (.lines(accepting: .delimiter("aaab")), "xaaa", "aaab" + "b", "a"),
        ] {
            var decoder = codec.makeDecoder()
            var input = ByteInput(Bytes(first))
            #expect(try decoder.decode(from: &input) == nil)
            input = ByteInput(Bytes(second))
            #expect(try decoder.decode(from: &input) == frame)
        }
    }
}
