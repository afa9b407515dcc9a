import Lifeline
import LifelineTesting
import Testing

/// The codecs with JSON keep every rule that all codecs have to keep.
@Suite("JSON codecs, verified")
struct VerifiedTests {
    private typealias Frame = Packet<JSONHeader, Bytes>

    @Test("bodies behind a JSON header")
    func jsonHeader() throws {
        let messages: [Frame] = [
            Frame(header: [:], body: []), Frame(header: [:], body: [0]), Frame(header: [:], body: Bytes("{\"size\":\"1\"}\r\n{\r\n")),
            Frame(header: ["type": "chat", "tags": [1, nil, ["é": true]]], body: Bytes("测试🙂")), Frame(header: ["a\r\n": "\0"], body: []),
        ]
        var verifier = CodecVerifier(.jsonHeader(maxHeader: 64, max: 70), messages: messages)
        verifier.limit = .init(70, larger: .jsonHeader(max: 1000), headroom: 66) {
            Frame(header: [:], body: Bytes(repeatElement(0x78, count: $0)))
        }
        verifier.unsendable = [Frame(header: ["size": 1], body: []), Frame(header: ["a": .number(.nan)], body: [])]
        try verifier.run()
    }

    @Test("the same from a peer that spreads its headers over lines")
    func prettyHeader() throws {
        let messages = ["", "a", "测试🙂", "{\"size\":\"1\"}\r\n"].map { Frame(header: ["type": "chat"], body: Bytes($0)) }
        var verifier = CodecVerifier(.jsonHeader(maxHeader: 64, max: 70), messages: messages)
        verifier.wire = { packet in Bytes("{\n  \"type\" : \"chat\",\n  \"size\" : \(packet.body.count)\n}\r\n" + String(packet.body)) }
        verifier.limit = .init(70, larger: nil, headroom: 66) {
            Frame(header: ["type": "chat"], body: Bytes(repeatElement(0x78, count: $0)))
        }
        try verifier.run()
    }

    @Test("lines of JSON")
    func jsonLines() throws {
        let messages: [JSONValue] = [nil, 1, "", "a\r\n测试🙂", ["a": [true, 0.5]], []]
        var verifier = CodecVerifier(LineCodec(max: 70).json(of: JSONValue.self), messages: messages)
        verifier.limit = .init(70, larger: LineCodec(max: 1000).json(of: JSONValue.self)) {
            .string(String(repeating: "x", count: $0 - 2))
        }
        verifier.unsendable = [.number(.nan)]
        verifier.rounds = 20
        try verifier.run()
    }
}
