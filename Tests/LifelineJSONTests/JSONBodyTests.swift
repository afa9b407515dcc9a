import Foundation
import Lifeline
import LifelineTesting
import Testing

private struct Note: Codable, Hashable {
    var text: String
    var tags: [String]?
    var at: Date?
}

/// The message or the error that a codec makes of a frame.
private func message<C: Codec>(_ codec: C, _ frame: C.Decoder.Frame) -> Result<C.Message, SocketError> {
    Result { try codec.message(from: frame) }.mapError { SocketError(decoding: $0) }
}

@Suite("Typed frames")
struct JSONBodyTests {
    @Test("a value goes over any codec of bytes and comes back")
    func bytes() throws {
        let codec = LengthPrefixCodec().json(of: Note.self)
        let note = Note(text: "a/b", tags: ["x"])
        let frame = try codec.frame(for: note)
        #expect(String(frame) == #"{"tags":["x"],"text":"a/b"}"#)
        #expect(try codec.message(from: frame) == note)
        #expect(try encode(codec, Note(text: "hello")) == [0, 0, 0, 16] + utf8(#"{"text":"hello"}"#))
    }

    @Test("and over lines, which keep their terminators and limits")
    func lines() throws {
        let codec = LineCodec(accepting: .crlf, sending: "\0", max: 20, maxOutgoing: 16).json(of: Note.self)
        #expect(try encode(codec, Note(text: "hello")) == utf8("{\"text\":\"hello\"}\0"))
        #expect(refusal(codec, Note(text: "hello!")) == .frameTooLarge)
        let outcome = feedEveryWay(codec, utf8("{\"text\":\n\"hello\"}\r\n"))
        #expect(try outcome.frames.map(codec.message(from:)) == [Note(text: "hello")])
        #expect(feed(codec, [utf8(#"{"text":"too long for it"}"#)], ends: false).error?.code == .frameTooLarge)
    }

    @Test("and over a codec of text")
    func text() throws {
        let text = PrefixedStringCodec()
        let codec = text.json(of: Note.self)
        #expect(try encode(codec, Note(text: "é")) == [0, 0, 0, 13] + utf8("{\"text\":\"é\"}"))
        #expect(try codec.message(from: #"{"text":"é"}"#) == Note(text: "é"))
        #expect(try text.json(resultOf: Note.self).message(from: "x").error?.code == .invalidBody)
    }

    @Test("and in packets, with the header beside it")
    func packets() throws {
        let codec = JSONHeaderCodec().json(of: Note.self)
        let packet = Packet<JSONHeader, Note>(header: ["type": "note"], body: Note(text: "hi"))
        let stream = try encode(codec, packet)
        #expect(stream == utf8("{\"size\":\"13\",\"type\":\"note\"}\r\n{\"text\":\"hi\"}"))
        #expect(try feedEveryWay(codec, stream).frames.map(codec.message(from:)) == [packet])

        let results = JSONHeaderCodec().json(resultOf: Note.self)
        let bad = try results.message(from: Packet(header: ["type": "note"], body: Bytes("{}")))
        #expect(bad.header["type"] == "note")
        #expect(bad.body.error?.code == .invalidBody)
        #expect(try encode(results, packet) == stream)
    }

    @Test("P3: LF and CR LF end a line, LF is sent; both are settings")
    func jsonLines() throws {
        func preset<C: Codec>(_ codec: C, _: C.Message.Type = C.Message.self) -> C { codec }
        let codec = preset(.jsonLines(of: Note.self))
        let stream = utf8("{\"text\":\"a\"}\n{\"text\":\"b\"}\r\n")
        #expect(try feedEveryWay(codec, stream).frames.map(codec.message(from:)) == [Note(text: "a"), Note(text: "b")])
        #expect(try encode(codec, Note(text: "a\nb")) == utf8("{\"text\":\"a\\nb\"}\n"))
        let other = preset(.jsonLines(resultOf: Note.self, accepting: .crlf, sending: .crlf, max: 12))
        #expect(try encode(other, Note(text: "a")) == utf8("{\"text\":\"a\"}\r\n"))
        let frames = feedEveryWay(other, utf8("{\"text\":\"a\"}\r\n\n\r\n")).frames
        #expect(try frames.map { try other.message(from: $0).value } == [Note(text: "a"), nil])
        #expect(refusal(other, Note(text: "ab")) == .frameTooLarge)
    }

    @Test("C20: text that is split inside a character is whole; what isn't text is an invalid body")
    func c20SplitCharacter() throws {
        let codec = LineCodec().json(resultOf: Note.self)
        let outcome = feed(
            codec, [utf8("{\"text\":\"") + [0xE2, 0x82], [0xAC] + utf8("\"}\n") + [0xFF, 0x0A] + utf8("{\"text\":\"x\"}\n")])
        let results = try outcome.frames.map(codec.message(from:))
        #expect(results.map(\.value) == [Note(text: "€"), nil, Note(text: "x")])
        #expect(results[1].error?.code == .invalidBody)
        #expect(feedEveryWay(codec, utf8("{\"text\":\"€\"}\r\n")).frames.count == 1)
    }

    @Test("an encoded text that holds what ends a line is refused and nothing is written")
    func sealed() {
        #expect(refusal(LineCodec().json(of: Note.self), Note(text: "a\r\nb\u{2028}")) == nil)
        #expect(refusal(LineCodec(sending: "--").json(of: Note.self), Note(text: "a--b")) == .unencodable)
        #expect(refusal(LineCodec(accepting: .delimiter("}"), sending: "}").json(of: Note.self), Note(text: "")) == .unencodable)
        let pretty = JSONCoding { $1.outputFormatting = .prettyPrinted }
        #expect(refusal(LineCodec().json(of: Note.self, coding: pretty), Note(text: "")) == .unencodable)
        #expect(refusal(LengthPrefixCodec().json(of: Note.self, coding: pretty), Note(text: "")) == nil)
    }

    @Test("what can't be encoded is refused, with the place")
    func unencodable() throws {
        let codec = LengthPrefixCodec().json(of: [String: [Double]].self)
        let error = try #require(throws: SocketError.self) { try codec.frame(for: ["a": [1, .nan]]) }
        #expect(error.code == .unencodable)
        #expect(error.cause is EncodingError)
        #expect(error.message.contains("at a[1]:"))
    }

    @Test("an invalid body says where and why, and never quotes at length")
    func words() throws {
        struct Group: Codable { var notes: [Note] }
        let codec = LengthPrefixCodec().json(of: Group.self)
        let error = try #require(message(codec, Bytes(#"{"notes":[{"text":"a"},{"text":5}]}"#)).error)
        #expect(error.code == .invalidBody)
        #expect(error.cause is DecodingError)
        #expect(error.message.contains("35 bytes"))
        #expect(error.message.contains("Group, at notes[1].text: "))
        #expect(message(codec, Bytes(#"{"notes":[{}]}"#)).error?.message.contains("at notes[0]: no value called text") == true)

        let long = String(repeating: "x\u{301}", count: 5_000)
        let texts = LengthPrefixCodec().json(of: [String: [String: Int8]].self)
        for body in ["{\"\(long)\":{\"\(long)\":\"\(long)\"}}", "{\"a\":{\"b\":\(String(repeating: "9", count: 10_000))}}", long] {
            let error = try #require(message(texts, Bytes(body)).error)
            #expect(error.message.utf8.count < 1000)
            #expect(error.description.utf8.count < 3000)
        }
    }

    @Test("settings of the coders are used, and no message makes new ones")
    func coding() throws {
        let coding = JSONCoding { decoder, encoder in
            decoder.dateDecodingStrategy = .iso8601
            encoder.dateEncodingStrategy = .iso8601
            decoder.allowsJSON5 = true
        }
        let codec = LineCodec().json(of: Note.self, coding: coding)
        let note = Note(text: "a", at: Date(timeIntervalSince1970: 0))
        #expect(try encode(codec, note) == utf8(#"{"at":"1970-01-01T00:00:00Z","text":"a"}"# + "\n"))
        #expect(try codec.message(from: codec.frame(for: note)) == note)
        #expect(message(codec, Bytes("{text:'a'}")).error?.code == .invalidBody)
    }
}

/// Bodies made to hurt.
@Suite("Hostile JSON bodies")
struct HostileBodyTests {
    private func decode<Body: Codable & Sendable>(_ text: [UInt8], as _: Body.Type = Body.self) -> Result<Body, SocketError> {
        message(LengthPrefixCodec().json(of: Body.self), Bytes(text))
    }

    // JSONDecoder ends the process over the 513th.
    @Test("no depth of nesting gets to the end of a stack or of a text", arguments: ["[", "{\"a\":", "[{\"a\":", "[\"[\\\"[\","])
    func deep(unit: String) {
        for count in [65, 511, 512, 513, 514, 1 << 18] {
            let text = utf8(String(repeating: unit, count: count))
            #expect(decode(text, as: JSONValue.self).error?.code == .invalidBody)
            #expect(decode(Array(text.prefix(count)), as: Note.self).error?.code == .invalidBody)
        }
        let brackets = [UInt8](repeating: 0x5B, count: 513)
        let codec = LengthPrefixCodec().json(of: Note.self, coding: JSONCoding(maxDepth: .max))
        #expect(message(codec, Bytes(brackets)).error?.code == .invalidBody)
    }

    @Test("values may stand in each other as deep as is set, whatever stands in texts")
    func depthLimit() {
        func text(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: 0x5B, count: depth) + utf8("\"[[\\\"[[{{\"") + [UInt8](repeating: 0x5D, count: depth)
        }
        #expect(decode(text(64), as: JSONValue.self).value != nil)
        #expect(decode(text(65), as: JSONValue.self).error?.code == .invalidBody)
        let codec = LengthPrefixCodec().json(of: JSONValue.self, coding: JSONCoding(maxDepth: 2))
        #expect(message(codec, Bytes(text(2))).value == [["[[\"[[{{"]])
        #expect(message(codec, Bytes(text(3))).error?.code == .invalidBody)
        #expect(message(codec, Bytes("[[],[],[],[[]]]")).error?.code == .invalidBody)
        #expect(message(codec, Bytes("[[],[],[],[]]")).value == [[], [], [], []])
        #expect(JSONCoding(maxDepth: -5).maxDepth == 1)
        #expect(JSONCoding(maxDepth: 9999).maxDepth == 512)
    }

    @Test("only UTF-8 is text, also where nobody looks")
    func notText() {
        let text = #"{"text":"a"}"#
        #expect(decode(Array(text.utf16).flatMap { [UInt8($0), 0] }, as: Note.self).error?.code == .invalidBody)
        #expect(decode(Array(text.utf16).flatMap { [0, UInt8($0)] }, as: Note.self).error?.code == .invalidBody)
        #expect(decode(utf8(text) + [0], as: Note.self).error?.code == .invalidBody)
        #expect(decode(utf8("{\"text\":\"a\",\"other\":\"") + [0xFF] + utf8("\"}"), as: Note.self).error?.code == .invalidBody)
        for empty in ["", " ", "\n"] { #expect(decode(utf8(empty), as: Note.self).error?.code == .invalidBody) }
    }

    @Test("random changes: a value or an error", arguments: 0..<8 as Range<UInt64>)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let seeds = [#"{"text":"a\u00e9","tags":["b","c"],"at":1.5e3}"#, #"[1,-2.5,{"a":[true,null,[[]]]},"\ud83d\ude42"]"#].map(utf8)
        for _ in 0..<500 {
            var text = seeds[Int.random(in: 0..<2, using: &generator)]
            for _ in 0..<Int.random(in: 1...4, using: &generator) where !text.isEmpty {
                let place = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: text[place] = utf8("{}[]\",:\\-.eE0").randomElement(using: &generator) ?? 0
                case 2: text.removeSubrange(place...)
                default: text.insert(contentsOf: text[place...].prefix(4), at: place)
                }
            }
            if let error = decode(text, as: Note.self).error { #expect(error.code == .invalidBody) }
            if let error = decode(text, as: JSONValue.self).error { #expect(error.code == .invalidBody) }
        }
    }
}

extension Result {
    /// The value of a success.
    var value: Success? { try? get() }
    /// The error of a failure.
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
