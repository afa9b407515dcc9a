import LifelineCore
import Testing

@Suite("DelimiterCodec")
struct DelimiterCodecTests {
    @Test("a frame ends at a delimiter of one byte")
    func oneByte() {
        let outcome = feedEveryWay(.delimited(by: ";"), utf8("ab;;c;"))
        #expect(outcome.frames == [Bytes("ab"), Bytes(), Bytes("c")])
        #expect(outcome.error == nil)
    }

    @Test("a delimiter of several bytes may overlap itself and what stands before it")
    func overlapping() throws {
        let outcome = feedEveryWay(.delimited(by: "aab"), utf8("xaaab" + "aab" + "aaab" + "abaab"))
        #expect(outcome.frames == [Bytes("xa"), Bytes(), Bytes("a"), Bytes("ab")])
        #expect(outcome.error == nil)
        let longer = feedEveryWay(.delimited(by: "abacabab"), utf8("abacabacabab" + "abacaabacabab"))
        #expect(longer.frames == [Bytes("abac"), Bytes("abaca")])
    }

    @Test("the first of two overlapping delimiters ends the frame")
    func firstOfTwo() {
        let outcome = feedEveryWay(.delimited(by: "--"), utf8("a---b--"))
        #expect(outcome.frames == [Bytes("a"), Bytes("-b")])
    }

    @Test("CR LF: a CR or an LF alone is data")
    func carriageReturnLineFeed() {
        let outcome = feedEveryWay(DelimiterCodec(accepting: .crlf), utf8("a\nb\rc\r\r\n\r\n"))
        #expect(outcome.frames == [Bytes("a\nb\rc\r"), Bytes()])
        #expect(outcome.error == nil)
    }

    @Test("LF: a CR before it is data")
    func lineFeed() {
        let outcome = feedEveryWay(DelimiterCodec(accepting: .lf), utf8("a\r\nb\n"))
        #expect(outcome.frames == [Bytes("a\r"), Bytes("b")])
    }

    @Test("frames share the storage of the read they came from")
    func sharesStorage() throws {
        var input = ByteInput()
        utf8("first;second;").withUnsafeBytes { input.append($0) }
        var decoder = DelimiterCodec.delimited(by: ";").makeDecoder()
        let inPlace = input.withUnsafeBytes { $0.baseAddress }
        let frame = try #require(try decoder.decode(from: &input))
        #expect(frame.withUnsafeBytes { $0.baseAddress } == inPlace)
    }

    @Test("the limit counts neither the delimiter nor what may be its beginning", arguments: [true, false])
    func limitIsExact(ends: Bool) {
        let codec = DelimiterCodec.delimited(by: "<end>", max: 4)
        #expect(feedEveryWay(codec, utf8("1234<end>"), ends: ends).frames == [Bytes("1234")])
        #expect(feedEveryWay(codec, utf8("1234<en"), ends: false).error == nil)
        #expect(feedEveryWay(codec, utf8("1234<ex"), ends: false).error?.code == .frameTooLarge)
        #expect(feedEveryWay(codec, utf8("12345<end>"), ends: ends).error?.code == .frameTooLarge)
        #expect(feedEveryWay(codec, utf8("12345"), ends: false).error?.code == .frameTooLarge)
    }

    @Test("an overlong frame that is being dropped still finds a delimiter cut anywhere")
    func dropsAcrossDelimiters() {
        let codec = DelimiterCodec.delimited(by: "aab", max: 2, overlong: .drop)
        let outcome = feedEveryWay(codec, utf8("xxxxxaaaab" + "okaab" + "aaaaaab"))
        #expect(outcome.frames == [Bytes("ok")])
        #expect(outcome.findings == [Finding(.droppedFrame, byteCount: 7), Finding(.droppedFrame, byteCount: 4)])
        #expect(outcome.error == nil)
    }

    @Test("what is sent may differ from what is accepted")
    func sendsAnother() throws {
        #expect(try encode(.delimited(by: ";"), Bytes("a"), Bytes()) == utf8("a;;"))
        #expect(try encode(.delimited(by: ";", sending: .crlf), Bytes("a;b")) == utf8("a;b\r\n"))
        #expect(try encode(DelimiterCodec(accepting: .crlf), Bytes("a")) == utf8("a\n"))
    }

    @Test("a frame is refused if a reader would cut it elsewhere")
    func refusesDelimiters() throws {
        #expect(refusal(.delimited(by: ";"), Bytes("a;b")) == .unencodable)
        #expect(refusal(.delimited(by: "ab"), Bytes("xaby")) == .unencodable)
        #expect(refusal(.delimited(by: "ab"), Bytes("xay")) == nil)
        // The text and the beginning of its delimiter make one.
        #expect(refusal(.delimited(by: "--"), Bytes("a-")) == .unencodable)
        #expect(refusal(.delimited(by: "abab"), Bytes("xab")) == .unencodable)
        #expect(refusal(.delimited(by: "abab"), Bytes("xaba")) == nil)
        #expect(try feedEveryWay(.delimited(by: "abab"), encode(.delimited(by: "abab"), Bytes("xaba"))).frames == [Bytes("xaba")])
        #expect(refusal(.delimited(by: "ab"), Bytes()) == nil)
    }

    @Test("a large frame goes out by reference")
    func largeFrames() throws {
        let large = Bytes(repeatElement(7, count: 40_000))
        var output = ByteOutput()
        try DelimiterCodec.delimited(by: ";").encode(large, into: &output)
        let regions = output.takeRegions()
        #expect(regions.count == 2)
        #expect(regions[0].withUnsafeBytes { $0.baseAddress } == large.withUnsafeBytes { $0.baseAddress })
    }

    @Test("a delimiter has a byte at least")
    func emptyDelimiter() throws {
        #expect(throws: SocketError(.misuse, "")) { try Delimiter(Bytes()) }
        #expect(try Delimiter([0x0A]) == .lf)
        #expect(Delimiter.nul.bytes == [0])
    }

    @Test("a limit below zero is zero")
    func negativeLimit() {
        let codec = DelimiterCodec.delimited(by: ";", max: -5, maxOutgoing: -5)
        #expect(feedEveryWay(codec, utf8(";")).frames == [Bytes()])
        #expect(feedEveryWay(codec, utf8("a;")).error?.code == .frameTooLarge)
        #expect(refusal(codec, Bytes("a")) == .frameTooLarge)
        #expect(refusal(codec, Bytes()) == nil)
    }

    @Test("random frames of two letters come back for random delimiters of two letters", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        func letters(_ count: Int) -> Bytes { Bytes((0..<count).map { _ in Bool.random(using: &generator) ? 0x61 : 0x62 }) }
        for _ in 0..<40 {
            let delimiter = try Delimiter(letters(.random(in: 1...5, using: &generator)))
            let codec = DelimiterCodec.delimited(by: delimiter)
            var sent: [Bytes] = []
            var output = ByteOutput()
            for _ in 0..<5 {
                let frame = letters(.random(in: 0...6, using: &generator))
                if (try? codec.encode(frame, into: &output)) != nil { sent.append(frame) }
            }
            let stream = Array(output.finish())
            #expect(feedEveryWay(codec, stream).frames == sent, "seed \(seed), delimiter \(delimiter)")
        }
    }
}
