import HeaderExample
import Lifeline
import LifelineTesting
import Testing

/// The example's headers in a codec: packets, dispatch, and finding the next border.
struct ExampleTests {
    private func encode<C: FrameCodec>(_ codec: C, _ frames: C.Frame...) throws -> [UInt8] {
        var output = ByteOutput()
        var codec = codec
        for frame in frames { try codec.encode(frame, into: &output) }
        return Array(output.finish())
    }

    private func decode<C: FrameCodec>(_ codec: C, _ bytes: [UInt8]) throws -> [C.Frame] {
        var input = ByteInput(Bytes(bytes))
        var codec = codec
        var frames: [C.Frame] = []
        while let frame = try codec.decode(from: &input) { frames.append(frame) }
        return frames
    }

    @Test func packetsAreDispatchedByTheirTypes() throws {
        func event(_ mainType: Int32, _ subType: Int32, _ body: String = "") -> ChatEvent {
            ChatEvent(Packet(header: ChatHeader(mainType: mainType, subType: subType), body: Bytes(body)))
        }
        #expect(event(1, 1, "hello") == .said("hello"))
        #expect(event(1, 2, "psst") == .whispered("psst"))
        #expect(event(2, 1, "ann") == .presence(name: "ann", isHere: true))
        #expect(event(2, 0, "ann") == .presence(name: "ann", isHere: false))
        #expect(event(0, -1) == .heartbeat)
        #expect(event(2, 2) == .unknown(mainType: 2, subType: 2))
    }

    @Test func codecsOfGeneratedHeadersKeepAllRules() throws {
        @Sendable func call(_ body: String) -> Packet<CallHeader, Bytes> {
            Packet(header: CallHeader(serial: 1, command: -2, code: 3), body: Bytes(body))
        }
        var calls = CodecVerifier(HeaderCodec(CallHeader.self, max: 64), messages: [call(""), call("a"), call("hello")])
        calls.limit = .init(64, larger: HeaderCodec(CallHeader.self, max: 1024)) { call(String(repeating: "x", count: $0)) }
        try calls.run()

        let texts = try ["", "anna"].map { text in
            Packet(
                header: try PaddedHeader(kind: 1, token: .max, sender: Bytes(text), levels: [-1], tail: 2, sign: -1), body: Bytes(text))
        }
        try CodecVerifier(HeaderCodec(PaddedHeader.self), messages: texts).run()

        var chat = CodecVerifier(chatCodec(), messages: [.saying(""), .saying("hello")])
        chat.unsendable = [Packet(header: ChatHeader(version: 2, mainType: 1, subType: 1), body: Bytes())]
        try chat.run()
    }

    @Test func garbageBetweenChatPacketsIsSkipped() throws {
        let packet = try encode(chatCodec(), .saying("hello"))
        let frames = try decode(chatCodec(), Array(repeating: 1, count: 1000) + packet + [1, 0, 0] + packet)
        #expect(frames.map(ChatEvent.init) == [.said("hello"), .said("hello")])
    }

    @Test func answersCarryTheSerialNumberOfTheirRequest() throws {
        let codec = HeaderCodec(CallHeader.self)
        func ask(_ command: Int32) throws -> Packet<CallHeader, Bytes> {
            let request = Packet(header: CallHeader(serial: 9, command: command, code: 0), body: Bytes("abc"))
            let arrived = try #require(try decode(codec, encode(codec, request)).first)
            #expect(arrived == request)
            return try #require(try decode(codec, encode(codec, answer(to: arrived))).first)
        }
        #expect(try ask(1) == Packet(header: CallHeader(serial: 9, command: 1, code: 0), body: Bytes("abc")))
        #expect(try ask(2).body == Bytes("cba"))
        #expect(try ask(3) == Packet(header: CallHeader(serial: 9, command: 3, code: 404), body: Bytes()))
    }
}
