/// Lines of text: frames are `String`, in UTF-8 on the wire. ``DelimiterCodec`` is the same for bytes.
///
/// - Wire layout: `<UTF-8 of the text> <terminator>`. The terminator isn't part of the text. An empty line is an empty text.
/// - By default LF ends a line, with a CR before it or not, and LF is sent. Both are settings, apart from each other.
/// - Limits: 64 KiB for a received line and 64 KiB for a sent one, counted in bytes without the terminator. A line of exactly that size
///   is legal.
/// - Errors: ``SocketError/Code/frameTooLarge``, ``SocketError/Code/truncated`` and ``SocketError/Code/invalidEncoding`` on receipt, as
///   the rules say; ``SocketError/Code/frameTooLarge`` and ``SocketError/Code/unencodable`` on sending, with nothing written.
///
/// Characters may be split between reads: a line becomes text when all of it is there.
public struct LineCodec: FrameCodec {
    /// How the bytes of lines are told apart: terminators and limits.
    public var lines: DelimiterCodec { splitter }
    /// What happens with a line that isn't valid UTF-8.
    public let invalidText: InvalidTextRule

    @usableFromInline var splitter: DelimiterCodec

    /// A codec with these settings.
    ///
    /// - Parameters:
    ///   - accepting: what ends a received line; LF with a CR before it or not by default.
    ///   - sending: what is sent behind a line; LF by default, whatever is accepted.
    ///   - max: the most bytes of a received line, without the terminator; 64 KiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent line; the same as `max` if nil.
    ///   - overlong: what happens with a received line above `max`; fails by default.
    ///   - unterminated: what happens with a rest at the end of the stream; fails by default.
    ///   - invalidText: what happens with a line that isn't valid UTF-8; fails by default.
    public init(
        accepting: LineTerminator = .either, sending: Delimiter = .lf, max: Int = DelimiterCodec.defaultMax, maxOutgoing: Int? = nil,
        overlong: DelimiterCodec.OverlongRule = .fail, unterminated: DelimiterCodec.UnterminatedRule = .fail,
        invalidText: InvalidTextRule = .fail
    ) {
        self.invalidText = invalidText
        splitter = DelimiterCodec(
            accepting: accepting, sending: sending, max: max, maxOutgoing: maxOutgoing, overlong: overlong, unterminated: unterminated)
    }

    /// Takes the next line, without its terminator; nil if more bytes are needed.
    @inlinable
    public mutating func decode(from input: inout ByteInput) throws(SocketError) -> String? {
        guard let line = try splitter.nextLine(in: &input) else { return nil }
        let text = try text(of: line.length, in: input)
        input.skip(line.length &+ line.terminator)
        return text
    }

    /// Fails or delivers the rest, as the rule for what is unterminated says.
    public mutating func finish(_ input: inout ByteInput) throws(SocketError) -> String? {
        guard let length = try splitter.restAtEnd(in: &input) else { return nil }
        let text = try text(of: length, in: input)
        input.skip(length)
        return text
    }

    /// The bytes of the unfinished line: "42 bytes without a terminator".
    public func pending(in input: ByteInput) -> PendingFrame? { splitter.pending(in: input) }

    /// Appends `line` and the terminator to send.
    ///
    /// - Throws: as ``DelimiterCodec/encode(_:into:)`` does, with nothing written: by default a text that contains LF, ends with CR or has
    ///   more than 64 KiB is refused.
    @inlinable
    public func encode(_ line: String, into output: inout ByteOutput) throws(SocketError) {
        var line = line
        let refusal = line.withUTF8 { text in
            let refusal = splitter.refusal(of: UnsafeRawBufferPointer(text))
            if refusal == .none { output.append(UnsafeRawBufferPointer(text)) }
            return refusal
        }
        if refusal != .none { throw splitter.error(refusal, length: line.utf8.count) }
        splitter.appendTerminator(to: &output)
    }

    /// True: a line's bytes depend on the line alone.
    @inlinable public static var isStateless: Bool { true }

    @inlinable
    func text(of length: Int, in input: ByteInput) throws(SocketError) -> String {
        let text = input.withUnsafeBytes { String(validating: UnsafeRawBufferPointer(rebasing: $0[..<length])) }
        if let text { return text }
        return try repaired(length, in: input)
    }

    @usableFromInline
    func repaired(_ length: Int, in input: ByteInput) throws(SocketError) -> String {
        if invalidText == .fail { throw SocketError(.invalidEncoding, "a line of \(length) bytes isn't valid UTF-8") }
        return input.peek(0..<length).map { String($0) } ?? ""
    }
}

extension Codec where Self == LineCodec {
    /// Lines of text: LF or CR LF ends one, LF is sent, 64 KiB at most.
    public static var lines: LineCodec { LineCodec() }

    /// Lines of text with settings of your own; see ``LineCodec/init(accepting:sending:max:maxOutgoing:overlong:unterminated:invalidText:)``.
    public static func lines(
        accepting: LineTerminator = .either, sending: Delimiter = .lf, max: Int = DelimiterCodec.defaultMax, maxOutgoing: Int? = nil,
        overlong: DelimiterCodec.OverlongRule = .fail, unterminated: DelimiterCodec.UnterminatedRule = .fail,
        invalidText: InvalidTextRule = .fail
    ) -> LineCodec {
        LineCodec(
            accepting: accepting, sending: sending, max: max, maxOutgoing: maxOutgoing,
            overlong: overlong, unterminated: unterminated, invalidText: invalidText)
    }
}
