/// Type, length, value: frames of bytes with an integer before them that says what they are.
///
/// - Wire layout: `<type> <length> <value>`. The type is an integer of any width, signed or not; the length has any
///   ``LengthLayout/Width``, two bytes by default. Both have one byte order, big-endian by default.
/// - The length counts the value; or itself, too; or all three. See ``LengthLayout/Counts``.
/// - Frames are a ``Packet`` of the type and the value. The value shares the storage of the read that it came from. Values that are made of
///   further triples in turn are decoded from their bytes in a ``ByteInput`` with another codec.
/// - Limits: 1 MiB of value received and 1 MiB sent. A value of exactly that size is legal. A received length is compared as soon as it is
///   there, before anything is waited for; no storage is ever sized by it.
/// - Errors on receipt: ``SocketError/Code/frameTooLarge`` for a value above the limit, ``SocketError/Code/protocolViolation`` for a length
///   that is less than what it has to count or a varint of more than 64 bits, ``SocketError/Code/truncated`` if the stream ends inside a
///   frame.
/// - Errors on sending, with nothing written: ``SocketError/Code/frameTooLarge`` for a value above the limit or beyond what the length can
///   say.
public struct TLVCodec<Tag: FixedWidthInteger & Sendable>: FrameCodec {
    /// The byte order of type and length.
    public var order: Endianness { splitter.layout.order }
    /// The form of the length.
    public var length: LengthLayout.Width { splitter.layout.width }
    /// What the length counts.
    public var counts: LengthLayout.Counts { splitter.layout.counts }
    /// The most bytes that a received value may have.
    public var max: Int { splitter.max }
    /// The most bytes that a sent value may have.
    public var maxOutgoing: Int { splitter.maxOutgoing }

    @usableFromInline let splitter: LengthPrefixCodec

    /// A codec with these settings.
    ///
    /// - Parameters:
    ///   - type: the integer that is the type.
    ///   - length: the form of the length; two bytes by default.
    ///   - order: the byte order of both; big-endian by default.
    ///   - counts: what the length counts; the value alone by default.
    ///   - max: the most bytes of a received value; 1 MiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent value; the same as `max` if nil.
    public init(
        type: Tag.Type = Tag.self, length: LengthLayout.Width = .two, _ order: Endianness = .big, counts: LengthLayout.Counts = .payload,
        max: Int = LengthPrefixCodec.defaultMax, maxOutgoing: Int? = nil
    ) {
        let layout = LengthLayout(width: length, order: order, offset: MemoryLayout<Tag>.size, counts: counts)
        splitter = LengthPrefixCodec(layout: layout, max: max, maxOutgoing: maxOutgoing)
    }

    /// Takes the next frame; nil if more bytes are needed.
    @inlinable
    public func decode(from input: inout ByteInput) throws(SocketError) -> Packet<Tag, Bytes>? {
        guard let header = try splitter.header(in: input), header.payload <= input.count &- header.count else { return nil }
        let type: Tag = input.load(at: 0, splitter.order)
        let value = Bytes(storage: input.storage, offset: input.lower &+ header.count, count: header.payload)
        input.lower &+= header.count &+ header.payload
        return Packet(header: type, body: value)
    }

    /// What has arrived of the value and what it will have: "6 of 10 bytes". Type and length aren't counted, unless they are what is
    /// unfinished: "2 of 3 bytes of the header".
    public func pending(in input: ByteInput) -> PendingFrame? { splitter.pending(in: input) }

    /// Appends type, length and value.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge``, with nothing written.
    @inlinable
    public func encode(_ frame: Packet<Tag, Bytes>, into output: inout ByteOutput) throws(SocketError) {
        let number = try splitter.number(for: frame.body.count)
        output.append(frame.header, splitter.order)
        splitter.append(number, to: &output)
        output.append(frame.body)
    }

    /// True: a frame's bytes depend on the frame alone.
    @inlinable public static var isStateless: Bool { true }
}

extension TLVCodec: HeaderedCodec {
    /// A frame can begin with any type and a length within the limit.
    @inlinable public func frameStart(in input: ByteInput) -> FrameStart { splitter.frameStart(in: input) }
}

extension Codec {
    /// Frames with their type and length before them; see ``TLVCodec``.
    ///
    /// - Parameters:
    ///   - type: the integer that is the type.
    ///   - length: the form of the length; two bytes by default.
    ///   - order: the byte order of both; big-endian by default.
    ///   - counts: what the length counts; the value alone by default.
    ///   - max: the most bytes of a received value; 1 MiB by default.
    ///   - maxOutgoing: the same for a sent value; the same as `max` if nil.
    public static func tlv<Tag: FixedWidthInteger & Sendable>(
        type: Tag.Type, length: LengthLayout.Width = .two, _ order: Endianness = .big, counts: LengthLayout.Counts = .payload,
        max: Int = LengthPrefixCodec.defaultMax, maxOutgoing: Int? = nil
    ) -> TLVCodec<Tag> where Self == TLVCodec<Tag> {
        TLVCodec(type: type, length: length, order, counts: counts, max: max, maxOutgoing: maxOutgoing)
    }
}
