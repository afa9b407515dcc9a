import Lifeline
import Testing

@Suite("JSONHeaderCodec")
struct JSONHeaderCodecTests {
    private typealias Frame = Packet<JSONHeader, Bytes>

    private static func frame(_ body: String, _ header: JSONHeader = [:]) -> Frame { Frame(header: header, body: Bytes(body)) }

    private let good = utf8("{\"size\":\"4\"}\r\ngood")

    @Test("the wire layout, byte by byte")
    func layout() throws {
        let body = String(repeating: "x", count: 62)
        #expect(try encode(.jsonHeader, Self.frame(body)) == utf8("{\"size\":\"62\"}\r\n" + body))
        #expect(try encode(.jsonHeader, Self.frame(""), Self.frame("a")) == utf8("{\"size\":\"0\"}\r\n{\"size\":\"1\"}\r\na"))
        let header: JSONHeader = ["type": "chat", "id": 7, "a\r\nb": [nil, true, 0.5, ["é": "\"\\\u{1}"]]]
        let text = #"{"size":"1","a\r\nb":[null,true,0.5,{"é":"\"\\\u0001"}],"id":7,"type":"chat"}"#
        #expect(try encode(.jsonHeader, Self.frame("z", header)) == utf8(text + "\r\nz"))
        #expect(feedEveryWay(.jsonHeader, utf8(text + "\r\nz")).frames == [Self.frame("z", header)])
    }

    @Test(
        "each way of writing a size is read, however it is cut",
        arguments: [
            #"{"size":"5"}"#, #"{"size":5}"#, "{ \n  \"size\" : \"5\" \n}", "{\n\t\"size\": 5\n}\n", " {\"size\":\"005\"} ",
            #"{"size":5.0}"#,
            #"{"size":0.5e1}"#, #"{"s\u0069ze":"\u0035"}"#, "{\r\"size\":\r5}",
        ])
    func sizes(header: String) {
        let outcome = feedEveryWay(.jsonHeader, utf8(header + "\r\nhello{\"size\":\"2\"}\r\nyo"))
        #expect(outcome.frames == [Self.frame("hello"), Self.frame("yo")])
        #expect(outcome.error == nil)
    }

    @Test("a body of no bytes is a frame, also at the end of a read and of the stream")
    func emptyBody() {
        for header in [#"{"size":"0"}"#, #"{"size":0}"#, #"{"size":"0","type":"ping"}"#] {
            let outcome = feedEveryWay(.jsonHeader, utf8(header + "\r\n" + header + "\r\n"))
            #expect(outcome.frames.count == 2)
            #expect(outcome.frames.allSatisfy { $0.body.isEmpty })
            #expect(outcome.error == nil)
        }
    }

    @Test("other keys reach the reader, and what it got can be sent on")
    func otherKeys() throws {
        let text = #"{"type":"login","size":"2","checksum":3735928559,"tags":["a",{"b":null}]}"# + "\r\nhi"
        let outcome = feedEveryWay(.jsonHeader, utf8(text))
        let packet = try #require(outcome.frames.first)
        #expect(packet.header == ["type": "login", "checksum": 3_735_928_559, "tags": ["a", ["b": nil]]])
        #expect(packet.header["type"] == "login")
        #expect(packet.header["tags"]?[1]?["b"]?.isNull == true)
        #expect(packet.header["size"] == nil)
        #expect(feedEveryWay(.jsonHeader, try encode(.jsonHeader, packet)).frames == [packet])
    }

    @Test(
        "an unfinished frame stays in the input whole, for whoever takes over from the decoder",
        arguments: [#"{"size":"5"}"#, #"{"type":"login","size":5}"#])
    func staysWhole(header: String) throws {
        let wire = utf8(header + "\r\nhello")
        for end in 1..<wire.count {
            var codec = JSONHeaderCodec()
            var input = ByteInput(Bytes(wire[..<end]))
            #expect(try codec.decode(from: &input) == nil)
            #expect(input.count == end)
        }
    }

    @Test(
        "C18: a bad header is an error at once, whatever comes behind it",
        arguments: [
            #"{"length":-1}"#, #"{"length":"five"}"#, #"{"length":1e99}"#, "{}", "", "5", "[]", "\"size\"", "null", #"["size","5"]"#,
            #"{"size":-1}"#, #"{"size":"-1"}"#, #"{"size":"five"}"#, #"{"size":"+5"}"#, #"{"size":" 5"}"#, #"{"size":"5 "}"#,
            #"{"size":""}"#, #"{"size":5.5}"#, #"{"size":"5.0"}"#, #"{"size":"1e1"}"#, #"{"size":"٥"}"#, #"{"size":null}"#,
            #"{"size":true}"#, #"{"size":["5"]}"#, #"{"size":{"size":5}}"#, #"{"size":-0.5}"#, #"{"size":-1e99}"#, #"{"size":1e999}"#,
            #"{"size":"0x10"}"#, #"{"size":05}"#, #"{"size":00}"#, #"{"size":+5}"#, #"{"size":.5}"#, #"{"size":5.}"#, #"{"size":}"#,
            #"{"size":"5""#, #"{"size":"5}"#, #"{"size":"5",}"#, #"{"size" "5"}"#, #"{size:5}"#, "{'size':5}", "{\"size\":\"5\"", "{",
            #"{"size":"5"}x"#, #"{"size":"5"}{"size":"5"}"#, #"{"size":"5"}}"#, #"{"Size":"5"}"#, "garbage", "\u{FEFF}{\"size\":\"5\"}",
        ])
    func c18BadHeader(header: String) {
        let outcome = feedEveryWay(.jsonHeader, good + utf8(header + "\r\n") + good, ends: false)
        #expect(outcome.frames == [Self.frame("good")])
        #expect(outcome.error?.code == .protocolViolation)
    }

    @Test("C18: what can't become a header isn't waited for")
    func c18NoHeader() {
        #expect(feed(.jsonHeader, [[0]], ends: false).error?.code == .protocolViolation)
        #expect(feed(.jsonHeader, [good, utf8("x")], ends: false).error?.code == .protocolViolation)
    }

    @Test("a name that stands twice is refused: two readers may take different ones")
    func twoSizes() {
        for header in [#"{"size":"5","size":"4"}"#, #"{"size":5,"s\u0069ze":5}"#, #"{"size":"4","a":{"b":1,"b":2}}"#] {
            let outcome = feedEveryWay(.jsonHeader, utf8(header + "\r\n") + good, ends: false)
            #expect(outcome.frames.isEmpty)
            #expect(outcome.error?.code == .protocolViolation)
        }
    }

    @Test(
        "C11: a size above the limit is refused before its body is there",
        arguments: [
            #"{"size":"11"}"#, #"{"size":11}"#, #"{"size":"00000000000000000000011"}"#, #"{"size":"9223372036854775807"}"#,
            #"{"size":9223372036854775807}"#, #"{"size":9223372036854775808}"#, #"{"size":"9223372036854775808"}"#,
            #"{"size":"18446744073709551616"}"#, #"{"size":1e99}"#, #"{"size":"4294967296"}"#,
            "{\"size\":\"" + String(repeating: "9", count: 4000) + "\"}",
        ])
    func c11SizeAboveLimit(header: String) {
        let outcome = feed(.jsonHeader(max: 10), [good + utf8(header + "\r\n")], ends: false)
        #expect(outcome.frames == [Self.frame("good")])
        #expect(outcome.error?.code == .frameTooLarge)
        #expect((outcome.error?.message.utf8.count ?? 0) < 200)
        #expect(feed(.jsonHeader(max: 10), utf8(header + "\r\n").map { [$0] }, ends: false).error?.code == .frameTooLarge)
    }

    @Test("a body of exactly the limit is legal in both directions, one more byte isn't")
    func bodyLimits() throws {
        let codec = JSONHeaderCodec.jsonHeader(max: 4, maxOutgoing: 5)
        #expect(feedEveryWay(codec, good).frames == [Self.frame("good")])
        #expect(feedEveryWay(codec, utf8("{\"size\":\"5\"}\r\nwrong")).error?.code == .frameTooLarge)
        #expect(try encode(codec, Self.frame("right")) == utf8("{\"size\":\"5\"}\r\nright"))
        #expect(refusal(codec, Self.frame("wrong!")) == .frameTooLarge)
        #expect(refusal(.jsonHeader(max: 4), Self.frame("wrong")) == .frameTooLarge)
        let silly = JSONHeaderCodec.jsonHeader(maxHeader: -1, max: -1)
        #expect((silly.maxHeader, silly.max, silly.maxOutgoing) == (64, 0, 0))
        #expect((JSONHeaderCodec.jsonHeader.maxHeader, JSONHeaderCodec.jsonHeader.max) == (4096, 1_048_576))
    }

    @Test("a header of exactly the limit is legal in both directions, one more byte isn't")
    func headerLimits() throws {
        for padding in [" ", "\n"] {
            let header = "{\"size\":\"4\"" + String(repeating: padding, count: 88) + "}"
            let codec = JSONHeaderCodec.jsonHeader(maxHeader: header.utf8.count)
            #expect(feedEveryWay(codec, utf8(header + "\r\ngood")).frames == [Self.frame("good")])
            #expect(feedEveryWay(codec, utf8(header + padding + "\r\ngood")).error?.code == .frameTooLarge)
            #expect(feedEveryWay(codec, utf8(header + padding), ends: false).error?.code == .frameTooLarge)
            #expect(feedEveryWay(codec, utf8(header + "\r"), ends: false).error == nil)
        }
        let header: JSONHeader = ["a": .string(String(repeating: "x", count: 82))]
        let text = try encode(.jsonHeader(maxHeader: 101), Self.frame("", header))
        #expect(text.count == 103)
        #expect(refusal(.jsonHeader(maxHeader: 100), Self.frame("", header)) == .frameTooLarge)
        #expect(feedEveryWay(.jsonHeader(maxHeader: 101), text).frames == [Self.frame("", header)])
    }

    @Test("C19: a header without an end is an error at its limit, in flat memory")
    func c19HeaderWithoutEnd() {
        let read = [UInt8](repeating: 0x78, count: 16_384)
        let reads = [utf8("{\"a\":\"")] + Array(repeating: read, count: 640)
        let outcome = feed(.jsonHeader, reads, ends: false)
        #expect(outcome.error?.code == .frameTooLarge)
        #expect(outcome.peak <= 2 * (4096 + read.count))
        let bytewise = feed(.jsonHeader, [utf8("{\"a\":\"")] + Array(repeating: [0x78], count: 4090), ends: false)
        #expect(bytewise.error == nil)
        #expect(bytewise.pending?.description == "4096 bytes of the header")
        for filler: UInt8 in [0x0A, 0x0D, 0x20] {
            let endless = [0x7B] + [UInt8](repeating: filler, count: 10_000_000)
            #expect(feed(.jsonHeader, [endless], ends: false).error?.code == .frameTooLarge)
        }
    }

    @Test("C16: a size is bytes, whatever the characters and however they are cut")
    func c16SizeIsBytes() throws {
        let body = "测试🙂"
        let stream = try encode(.jsonHeader, Self.frame(body), Self.frame("next"))
        #expect(stream == utf8("{\"size\":\"10\"}\r\n测试🙂{\"size\":\"4\"}\r\nnext"))
        let outcome = feed(.jsonHeader, [Array(stream[..<19]), Array(stream[19...])])
        #expect(outcome.frames == [Self.frame(body), Self.frame("next")])
        #expect(feedEveryWay(.jsonHeader, stream) == outcome)
    }

    @Test("C10: a stream that ends inside a frame says how much of it had come")
    func c10Truncated() {
        let stream = good + utf8("{\"size\":\"10\"}\r\nabcd")
        let outcome = feedEveryWay(.jsonHeader, stream)
        #expect(outcome.frames == [Self.frame("good")])
        #expect(outcome.error?.code == .truncated)
        #expect(outcome.error?.pending == PendingFrame(received: 4, expected: 10))
        #expect(outcome.error?.message.contains("4 of 10 bytes") == true)
        #expect(feed(.jsonHeader, [utf8("{\"size\":\"10\"}\r\n")]).error?.pending == PendingFrame(received: 0, expected: 10))
        #expect(feed(.jsonHeader, [utf8("{\"size\":\"10\"}")]).error?.pending?.description == "13 bytes of the header")
    }

    @Test("a header that is there isn't read again while its body comes")
    func headerIsReadOnce() throws {
        var decoder = JSONHeaderCodec.jsonHeader.makeDecoder()
        var input = ByteInput(Bytes("{\"type\":1,\"size\":9}\r\nabc"))
        #expect(try decoder.decode(from: &input) == nil)
        #expect(decoder.pending(in: input)?.description == "3 of 9 bytes")
        // Another input under the same decoder: what stands in the header's place isn't looked at.
        input = ByteInput(Bytes(String(repeating: "?", count: 21) + "abcdefghi"))
        #expect(try decoder.decode(from: &input) == Self.frame("abcdefghi", ["type": 1]))
    }

    @Test("what was searched for the end of a header isn't searched again")
    func searchesOnce() throws {
        var decoder = JSONHeaderCodec.jsonHeader.makeDecoder()
        var input = ByteInput(Bytes("{\"size\":\"5\"  "))
        #expect(try decoder.decode(from: &input) == nil)
        // Another input under the same decoder: the CR LF before the place where it goes on isn't seen.
        input = ByteInput(Bytes("{\"size\":\"5\"\r\n }"))
        #expect(try decoder.decode(from: &input) == nil)
        input = ByteInput()
        #expect(try decoder.decode(from: &input) == nil)
    }

    @Test("what can't be written is refused and nothing is written")
    func refuses() {
        #expect(refusal(.jsonHeader, Self.frame("", ["size": "0"])) == .unencodable)
        #expect(refusal(.jsonHeader, Self.frame("", ["a": [.number(.nan)]])) == .unencodable)
        #expect(refusal(.jsonHeader, Self.frame("", ["a": .number(.infinity)])) == .unencodable)
        var deep: JSONValue = 1
        for _ in 0..<63 { deep = [deep] }
        #expect(refusal(.jsonHeader, Self.frame("", ["a": deep])) == nil)
        #expect(refusal(.jsonHeader, Self.frame("", ["a": [deep]])) == .unencodable)
    }
}
