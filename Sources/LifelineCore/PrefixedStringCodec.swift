/// Texts behind an integer that counts their bytes: frames are `String`, in UTF-8 on the wire.
///
/// - Wire layout: `<length> <UTF-8 of the text>`; by default the length has 4 bytes, big-endian. An empty text is a length of 0.
/// - This is what Apache MINA's `PrefixedStringCodecFactory` speaks with a charset of UTF-8 and a prefix of 1, 2 or 4 bytes. MINA's own
///   limit is 2 KiB in either direction unless it is set otherwise.
/// - Limits: 64 KiB received and 64 KiB sent, counted in bytes. A text of exactly that size is legal. A received length is compared as soon
///   as it is there, before anything is waited for; no storage is ever sized by it.
/// - Errors on receipt: ``SocketError/Code/frameTooLarge`` above the limit, ``SocketError/Code/invalidEncoding`` for what isn't UTF-8
///   unless the rule is to repair it, ``SocketError/Code/protocolViolation`` for a varint of more than 64 bits,
///   ``SocketError/Code/truncated`` if the stream ends inside a text.
/// - Errors on sending: ``SocketError/Code/frameTooLarge`` above the limit or beyond what the length can say, with nothing written.
///
/// Characters may be split between reads: bytes become text when all of them are there.
public struct PrefixedStringCodec: FrameCodec {
    /// The form of the length.
    public var length: LengthLayout.Width { splitter.layout.width }
    /// The byte order of the length.
    public var order: Endianness { splitter.layout.order }
    /// The most bytes that a received text may have.
    public var max: Int { splitter.max }
    /// The most bytes that a sent text may have.
    public var maxOutgoing: Int { splitter.maxOutgoing }
    /// What happens with a text that isn't valid UTF-8.
    public let invalidText: InvalidTextRule

    /// The limit of either direction unless one is given: 64 KiB.
    @inlinable public static var defaultMax: Int { 64 * 1024 }

    @usableFromInline let splitter: LengthPrefixCodec

    /// A codec with these settings.
    ///
    /// - Parameters:
    ///   - length: the form of the length; four bytes by default.
    ///   - order: its byte order; big-endian by default.
    ///   - max: the most bytes of a received text; 64 KiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent text; the same as `max` if nil.
    ///   - invalidText: what happens with a text that isn't valid UTF-8; fails by default.
    public init(
        length: LengthLayout.Width = .four, _ order: Endianness = .big, max: Int = defaultMax, maxOutgoing: Int? = nil,
        invalidText: InvalidTextRule = .fail
    ) {
        splitter = LengthPrefixCodec(layout: LengthLayout(width: length, order: order), max: max, maxOutgoing: maxOutgoing)
        self.invalidText = invalidText
    }

    /// Takes the next text; nil if more bytes are needed.
    @inlinable
    public func decode(from input: inout ByteInput) throws(SocketError) -> String? {
        guard let header = try splitter.header(in: input), header.payload <= input.count &- header.count else { return nil }
        let bytes = Bytes(storage: input.storage, offset: input.lower &+ header.count, count: header.payload)
        guard let text = String(validating: bytes) ?? repaired(bytes) else { throw Self.invalid(bytes.count) }
        input.lower &+= header.count &+ header.payload
        return text
    }

    @usableFromInline
    func repaired(_ bytes: Bytes) -> String? { invalidText == .replace ? String(bytes) : nil }

    @usableFromInline
    static func invalid(_ count: Int) -> SocketError {
        SocketError(.invalidEncoding, "a text of \(count) bytes isn't valid UTF-8")
    }

    /// What has arrived of the text and what it will have: "6 of 10 bytes". The length isn't counted, unless it is what is unfinished:
    /// "2 of 4 bytes of the header".
    public func pending(in input: ByteInput) -> PendingFrame? { splitter.pending(in: input) }

    /// Appends the length and the UTF-8 of `text`.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge``, with nothing written.
    @inlinable
    public func encode(_ text: String, into output: inout ByteOutput) throws(SocketError) {
        var text = text
        let isSent = text.withUTF8 { bytes in
            guard bytes.count <= splitter.mostOutgoing else { return false }
            splitter.append(UInt64(truncatingIfNeeded: bytes.count), to: &output)
            output.append(UnsafeRawBufferPointer(bytes))
            return true
        }
        if !isSent { throw SocketError(frameOf: text.utf8.count, exceeds: splitter.mostOutgoing) }
    }

    /// True: a text's bytes depend on the text alone.
    @inlinable public static var isStateless: Bool { true }
}

extension Codec where Self == PrefixedStringCodec {
    /// Texts behind four bytes, big-endian, that count them: 64 KiB at most.
    public static var prefixedString: PrefixedStringCodec { PrefixedStringCodec() }

    /// Texts behind an integer that counts their bytes; see ``PrefixedStringCodec``.
    ///
    /// - Parameters:
    ///   - length: the form of the length; four bytes by default.
    ///   - order: its byte order; big-endian by default.
    ///   - max: the most bytes of a received text; 64 KiB by default.
    ///   - maxOutgoing: the same for a sent text; the same as `max` if nil.
    ///   - invalidText: what happens with a text that isn't valid UTF-8; fails by default.
    public static func prefixedString(
        length: LengthLayout.Width = .four, _ order: Endianness = .big, max: Int = PrefixedStringCodec.defaultMax, maxOutgoing: Int? = nil,
        invalidText: InvalidTextRule = .fail
    ) -> PrefixedStringCodec {
        PrefixedStringCodec(length: length, order, max: max, maxOutgoing: maxOutgoing, invalidText: invalidText)
    }
}
