import Lifeline
import LifelineCore

/// The codecs that are measured, each with frames of the sizes that it is used for.
enum CodecCatalogue {
    static func cases() throws -> [CodecCase] {
        let small = Bytes(repeatElement(0x61, count: 64))
        let medium = Bytes(repeatElement(0x61, count: 1024))
        let large = Bytes(repeatElement(0x61, count: 65_536))
        return try [
            CodecCase("length:4be, 64 B", LengthPrefixCodec(), [small]),
            CodecCase("length:4be, 1 KiB", LengthPrefixCodec(), [medium]),
            CodecCase("length:4be, 64 KiB", LengthPrefixCodec(), [large]),
            CodecCase("length:varint, 64 B", LengthPrefixCodec(layout: LengthLayout(width: .varint)), [small]),
            CodecCase("lines of text, 64 B", LineCodec(), [String(small)]),
            CodecCase("lines of text, 1 KiB", LineCodec(), [String(medium)]),
            CodecCase("lines of bytes, 64 B", DelimiterCodec(accepting: .either), [small]),
            CodecCase("CR LF CR LF, 64 B", DelimiterCodec(accepting: .delimiter("\r\n\r\n"), sending: "\r\n\r\n"), [small]),
            CodecCase("netstrings, 64 B", NetstringCodec(), [small]),
            CodecCase("type, length, value, 64 B", .tlv(type: UInt8.self), [Packet(header: UInt8(1), body: small)]),
            CodecCase("fixed size, 64 B", FixedSizeCodec(64), [small]),
            CodecCase("prefixed text, 64 B", PrefixedStringCodec(), [String(small)]),
            CodecCase("two types (16 B), 64 B", .typeHeader(), [Packet(header: TypeHeader(mainType: 7, subType: 1), body: small)]),
            CodecCase("request (16 B), 64 B", RequestHeaderCodec(), [Packet(header: RequestHeader(serial: 1, command: 2), body: small)]),
            CodecCase("checked by xor, 64 B", HeaderCodec<Marked>(check: .xor(from: 2)), [Packet(header: Marked(), body: small)]),
            CodecCase("JSON size header, 64 B", JSONHeaderCodec(), [Packet(header: [:], body: small)]),
            CodecCase("the same with type and id", JSONHeaderCodec(), [Packet(header: ["type": "chat", "id": 7], body: small)]),
            CodecCase("lines of JSON, 80 B", DelimiterCodec(accepting: .either).json(of: Join.self), [Join.sample]),
        ]
    }

    /// `A5 5A | type | length`
    struct Marked: FixedHeader {
        var mark: UInt16 = 0xA55A
        var type: UInt8 = 1
        private var length: UInt8 = 0

        static var byteCount: Int { 4 }
        init() {}
        init(from input: ByteInput) {
            mark = input.load(at: 0, .big)
            type = input.load(at: 2, .big)
            length = input.load(at: 3, .big)
        }
        func write(to output: inout ByteOutput) {
            output.append(mark, .big)
            output.append(type)
            output.append(length)
        }
        var bodyCount: Int? { Int(length) }
        mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count) }
        var isPlausible: Bool { mark == 0xA55A }
    }

    /// The join line of a chat.
    struct Join: Codable, Sendable {
        var requestCode: String
        var token: String
        var cId: String

        static let sample = Join(requestCode: "10001", token: "0123456789abcdef", cId: "client-42")
    }
}
