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
            CodecCase("lines of JSON, 80 B", DelimiterCodec(accepting: .either).json(of: Join.self), [Join.sample]),
        ]
    }

    /// The join line of a chat.
    struct Join: Codable, Sendable {
        var requestCode: String
        var token: String
        var cId: String

        static let sample = Join(requestCode: "10001", token: "0123456789abcdef", cId: "client-42")
    }
}
