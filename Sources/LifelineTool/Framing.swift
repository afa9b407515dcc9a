import Lifeline

/// A codec whose frames are bytes in both directions, so that what it carries need not be text.
protocol ByteCodec: Codec where Message == Bytes, Outgoing == Bytes {}

extension DelimiterCodec: ByteCodec {}
extension LengthPrefixCodec: ByteCodec {}
extension RawCodec: ByteCodec {}

/// What `--codec` and `--max` ask for: the codec on the wire, and how frames are told apart on standard input and output.
struct Framing: Sendable {
    let codec: any ByteCodec
    /// Takes standard input apart; nil where it is passed on as it comes.
    let splitter: DelimiterCodec?
    /// What stands behind each frame on standard output.
    let suffix: String

    /// - Throws: ``UsageError`` for a codec that isn't known, or a limit where there can't be one.
    init(codec name: String, maximum: Int?) throws(UsageError) {
        let accepting: LineTerminator
        let lineMaximum: Int
        switch name {
        case "raw":
            if maximum != nil { throw UsageError("--max means nothing with --codec raw: raw bytes have no frames") }
            codec = RawCodec()
            splitter = nil
            suffix = ""
            return
        case "line", "crlf":
            lineMaximum = maximum ?? DelimiterCodec.defaultMax
            accepting = .either
            codec = DelimiterCodec(
                accepting: name == "line" ? .either : .crlf, sending: name == "line" ? .lf : .crlf, max: lineMaximum)
        default:
            guard let layout = try? LengthLayout(parsing: name) else {
                throw UsageError(
                    "unknown codec \(name): use line, crlf, raw, or length: with 1, 2be, 2le, 3be, 3le, 4be, 4le, 8be, 8le or varint")
            }
            lineMaximum = maximum ?? LengthPrefixCodec.defaultMax
            accepting = .lf
            codec = LengthPrefixCodec(layout: layout, max: lineMaximum)
        }
        splitter = DelimiterCodec(accepting: accepting, max: lineMaximum, unterminated: .deliver)
        suffix = "\n"
    }
}

/// Standard input as frames: its lines, or whatever comes where the codec has no frames.
struct InputFrames {
    private let reader: DescriptorReader
    private var splitter: DelimiterCodec?
    private var input = ByteInput()
    private var hasEnded = false

    init(_ reader: DescriptorReader, splitter: DelimiterCodec?) {
        self.reader = reader
        self.splitter = splitter
    }

    /// The next frame; nil at the end. A last line without a terminator is one, too.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` for a line above the limit; what the reader throws.
    mutating func next() async throws -> Bytes? {
        while true {
            if splitter == nil { return try await reader.read() }
            if let line = try splitter?.decode(from: &input) { return line }
            if hasEnded { return try splitter?.finish(&input) }
            if let chunk = try await reader.read() {
                chunk.withUnsafeBytes { input.append($0) }
            } else {
                hasEnded = true
            }
        }
    }
}
