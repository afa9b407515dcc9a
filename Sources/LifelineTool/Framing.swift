import Lifeline

/// What `--codec` and its options ask for: the codec on the wire, and how its frames stand on lines.
struct Framing: Sendable {
    let codec: any ShellCodec
    let lines: LineNotation

    /// - Throws: ``UsageError`` for a codec that isn't known, or an option that means nothing with it.
    init(codec name: String, options: FramingOptions) throws(UsageError) { self = try CodecTable.framing(name, options) }

    /// Frames of bytes.
    ///
    /// - Parameters:
    ///   - splitting: what ends a line of standard input; nil where it is passed on as it comes.
    ///   - max: the most bytes of a body.
    ///   - check: what bodies have to be.
    ///   - receivedCheck: what received ones have to be, if that is more.
    init<C: Codec>(
        _ codec: C, splitting: LineTerminator? = .lf, max: Int, check: BodyCheck? = nil, receivedCheck: BodyCheck? = nil,
        _ options: FramingOptions
    ) where C.Message == Bytes, C.Outgoing == Bytes {
        self.codec = codec.forShell(receivedCheck ?? check)
        lines = LineNotation(
            splitter: splitting.map { options.splitter($0, max: max) }, header: nil, isHexadecimal: options.isHexadecimal, check: check)
    }

    /// Frames with headers, of which the one that the options name goes before lines without one.
    init<C: Codec, Header: Sendable>(_ codec: C, _ notation: HeaderNotation<Header>, max: Int, _ options: FramingOptions) throws(UsageError)
    where C.Message == Packet<Header, Bytes>, C.Outgoing == Packet<Header, Bytes> {
        let header = options.header ?? notation.initial
        if notation.parse(header) == nil { throw UsageError("--header takes \(notation.form), not \(header)") }
        self.codec = codec.forShell(notation)
        lines = LineNotation(
            splitter: options.splitter(.lf, max: max, more: 16 * 1024), header: header, isHexadecimal: options.isHexadecimal, check: nil,
            canonical: { notation.canonical($0) }, numbering: notation.numbering)
    }
}
