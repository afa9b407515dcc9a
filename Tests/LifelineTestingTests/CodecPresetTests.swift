import LifelineCore
import LifelineTesting
import Testing

/// Every codec of the house keeps every rule.
@Suite("Codecs of the house")
struct CodecPresetTests {
    static let texts = ["", "a", "b\rc", "grüße, 测试🙂", "{\"requestCode\":\"10001\"}"]
    static let bodies: [Bytes] = [[], [0], [0x61], Bytes("ab\u{0}\u{1}cd"), Bytes(0...40)]

    static func text(_ count: Int) -> String { String(repeating: "x", count: count) }
    static func body(_ count: Int) -> Bytes { Bytes(repeatElement(0x78, count: count)) }

    @Test(arguments: [LineTerminator.lf, .crlf, .either, .delimiter("--"), .delimiter("aab"), .delimiter("\r\n\r"), .delimiter("\0")])
    func lines(terminator: LineTerminator) throws {
        for overlong in [DelimiterCodec.OverlongRule.fail, .drop] {
            for unterminated in [DelimiterCodec.UnterminatedRule.fail, .deliver] {
                for invalidText in [InvalidTextRule.fail, .replace] {
                    let sending = Self.sending(terminator)
                    func codec(_ max: Int) -> LineCodec {
                        .lines(
                            accepting: terminator, sending: sending, max: max, overlong: overlong, unterminated: unterminated,
                            invalidText: invalidText)
                    }
                    var verifier = CodecVerifier(codec(70), messages: Self.texts)
                    verifier.rest = unterminated == .fail ? .isTruncated : .isFrame
                    verifier.limit = .init(
                        70, larger: codec(1000), overlong: overlong == .fail ? .fails : .isDropped, headroom: 3, message: Self.text)
                    verifier.unsendable = ["1" + String(sending.bytes) + "2"]
                    verifier.rounds = 10
                    try verifier.run()
                }
            }
        }
    }

    @Test(arguments: [LineTerminator.lf, .crlf, .either, .delimiter("\u{1}\u{2}"), .delimiter("--end--of--the--frame--end--")])
    func delimiters(terminator: LineTerminator) throws {
        for overlong in [DelimiterCodec.OverlongRule.fail, .drop] {
            for unterminated in [DelimiterCodec.UnterminatedRule.fail, .deliver] {
                func codec(_ max: Int) -> DelimiterCodec {
                    DelimiterCodec(
                        accepting: terminator, sending: Self.sending(terminator), max: max, overlong: overlong, unterminated: unterminated)
                }
                var verifier = CodecVerifier(codec(70), messages: [[], [0], [0x61, 0x62], [0xFF, 0x0D, 1]] + [Self.body(50)])
                if terminator == .either { verifier = CodecVerifier(codec(70), messages: [[], [0x61, 0x62], [0xFF, 0x0D, 1]]) }
                verifier.rest = unterminated == .fail ? .isTruncated : .isFrame
                verifier.limit = .init(
                    70, larger: codec(1000), overlong: overlong == .fail ? .fails : .isDropped, headroom: 32, message: Self.body)
                verifier.rounds = 10
                try verifier.run()
            }
        }
    }

    @Test("a terminator to send that isn't the one to accept")
    func asymmetricLines() throws {
        var verifier = CodecVerifier(.lines(accepting: .crlf, sending: .lf, max: 70), messages: Self.texts)
        verifier.wire = { Bytes($0 + "\r\n") }
        verifier.limit = .init(70, larger: nil, headroom: 2, message: Self.text)
        verifier.unsendable = ["a\nb"]
        try verifier.run()
    }

    @Test(arguments: LengthLayout.Width.allCases)
    func lengthPrefixes(width: LengthLayout.Width) throws {
        let headers = [(Endianness.big, 0, 0, 0), (.little, 0, 0, 0), (.little, 2, 1, -3), (.big, 1, 3, 5)]
        for counts in LengthLayout.Counts.allCases {
            for (order, offset, trailing, adjustment) in headers {
                let layout = LengthLayout(
                    width: width, order: order, offset: offset, trailing: trailing, counts: counts, adjustment: adjustment)
                var verifier = CodecVerifier(
                    .lengthPrefixed(layout: layout, max: 60), messages: Self.bodies.filter { $0.count >= adjustment })
                verifier.limit = .init(60, larger: .lengthPrefixed(layout: layout, max: 1000), headroom: 20, message: Self.body)
                verifier.rounds = 10
                try verifier.run()
            }
        }
    }

    @Test("length prefixes that stay with the frame")
    func keptHeaders() throws {
        let layout = LengthLayout(width: .two, offset: 1, counts: .wholeFrame, keepsHeader: true)
        try CodecVerifier(.lengthPrefixed(layout: layout, max: 60), messages: [[9, 0, 3], [7, 0, 5, 1, 2]]).run()
        // A padded number goes out in its shortest form.
        let padded = LengthLayout(width: .varint, keepsHeader: true)
        var verifier = CodecVerifier(.lengthPrefixed(layout: padded, max: 60), messages: [[0], [2, 1, 2]])
        verifier.isRepeatable = false
        try verifier.run()
    }

    @Test("netstrings")
    func netstrings() throws {
        var verifier = CodecVerifier(.netstring(max: 60), messages: Self.bodies + [Bytes("5:hello,")])
        verifier.limit = .init(60, larger: .netstring(max: 4000), message: Self.body)
        try verifier.run()
    }

    @Test("texts behind their length", arguments: LengthLayout.Width.allCases)
    func prefixedStrings(width: LengthLayout.Width) throws {
        for invalidText in [InvalidTextRule.fail, .replace] {
            @Sendable func codec(_ max: Int) -> PrefixedStringCodec {
                .prefixedString(length: width, .little, max: max, invalidText: invalidText)
            }
            var verifier = CodecVerifier(codec(60), messages: Self.texts + ["a\nb"])
            verifier.limit = .init(60, larger: codec(1000), message: Self.text)
            verifier.rounds = 30
            try verifier.run()
        }
    }

    @Test("frames of one size")
    func fixedSizes() throws {
        var verifier = CodecVerifier(.fixedSize(5), messages: [[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]])
        verifier.unsendable = [[], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]
        try verifier.run()
        try CodecVerifier(.fixedSize(1), messages: [[1], [0]]).run()
    }

    @Test("no framing")
    func raw() throws {
        var verifier = CodecVerifier(.raw, messages: Self.bodies)
        verifier.rest = .isStream
        try verifier.run()
    }

    @Test("messages of another type")
    func mapped() throws {
        let codec = LineCodec(max: 100).mapped(
            decode: { line in
                guard let number = Int(line) else { throw SocketError(.invalidBody, "not a number") }
                return number
            }, encode: { (number: Int) in "\(number)" })
        try CodecVerifier(codec, messages: [0, -1, Int.max]).run()
    }

    private static func sending(_ terminator: LineTerminator) -> Delimiter {
        switch terminator {
        case .lf, .either: .lf
        case .crlf: .crlf
        case .delimiter(let delimiter): delimiter
        }
    }
}
