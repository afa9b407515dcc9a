import Lifeline

/// A frame as a shell sees it: bytes, and a header in text if the codec has one.
struct ShellFrame: Sendable {
    /// As a ``HeaderNotation`` writes it; nil where frames have none.
    var header: String?
    var body: Bytes
    /// What is wrong with a frame that arrived whole.
    var fault: SocketError?
}

/// A codec whose messages are such frames.
protocol ShellCodec: Codec where Message == ShellFrame, Outgoing == ShellFrame {}

extension ShellCodec {
    /// Throws what encoding `frame` would.
    func check(_ frame: ShellFrame) throws {
        var encoder = makeEncoder()
        var output = ByteOutput()
        try encoder.encode(self.frame(for: frame), into: &output)
    }
}

extension MappedCodec: ShellCodec where Message == ShellFrame, Outgoing == ShellFrame {}

/// Says what is wrong with a body; nil if nothing is.
typealias BodyCheck = @Sendable (Bytes) -> SocketError?

extension Codec where Message == Bytes, Outgoing == Bytes {
    /// This codec for a shell. A received frame that fails `check` is delivered with the fault beside it.
    func forShell(_ check: BodyCheck?) -> some ShellCodec {
        mapped(decode: { ShellFrame(body: $0, fault: check?($0)) }, encode: { $0.body })
    }
}

extension Codec {
    /// This codec for a shell, its headers in text.
    func forShell<Header: Sendable>(_ notation: HeaderNotation<Header>) -> some ShellCodec
    where Message == Packet<Header, Bytes>, Outgoing == Packet<Header, Bytes> {
        mapped(
            decode: { ShellFrame(header: notation.text($0.header), body: $0.body) },
            encode: { frame in
                let text = frame.header ?? notation.initial
                guard let header = notation.parse(text) else {
                    throw SocketError(.unencodable, "“\(text)” isn't a header: write \(notation.form)")
                }
                return Packet(header: header, body: frame.body)
            })
    }
}

/// What bodies can be checked for.
enum BodyChecks {
    static let text: BodyCheck = { body in
        String(validating: body) == nil ? SocketError(.invalidEncoding, "a body of \(count(body.count, "byte")) isn't UTF-8") : nil
    }

    static let json: BodyCheck = { body in
        JSONText.value(of: body) == nil ? SocketError(.invalidBody, "a body of \(count(body.count, "byte")) isn't JSON") : nil
    }
}

/// JSON texts by way of the library's codecs.
enum JSONText {
    private static let codec = RawCodec().json(of: JSONValue.self)

    /// The value that `text` stands for; nil if it isn't JSON.
    static func value(of text: Bytes) -> JSONValue? { try? codec.message(from: text) }
}
