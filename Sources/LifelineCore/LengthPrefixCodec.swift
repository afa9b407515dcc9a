/// Frames of ``Bytes`` behind a header that tells their length.
///
/// - Wire layout: ``LengthLayout`` has it all; by default 4 bytes, big-endian, that count the payload which follows.
/// - Frames are payloads, or whole frames if the layout keeps headers. They share the storage of the read they came from.
/// - Limits: 1 MiB of payload received and 1 MiB sent, not counting the header. A payload of exactly that size is legal. A received length
///   is compared as soon as it is there, before anything is waited for; no storage is ever sized by it.
/// - Errors on receipt: ``SocketError/Code/frameTooLarge`` for a payload above the limit, ``SocketError/Code/protocolViolation`` for a
///   length that is less than what it has to count or a varint of more than 64 bits, ``SocketError/Code/truncated`` at the end of the
///   stream.
/// - Errors on sending, with nothing written: ``SocketError/Code/frameTooLarge`` for a payload above the limit or beyond what the length
///   field can hold, ``SocketError/Code/unencodable`` for a frame without the header that it should have or a payload whose length, as
///   adjusted, would be negative.
public struct LengthPrefixCodec: FrameCodec {
    /// The header's layout.
    public let layout: LengthLayout
    /// The most bytes of payload that a received frame may have.
    public let max: Int
    /// The most bytes of payload that a sent frame may have.
    public let maxOutgoing: Int

    /// The limit of either direction unless one is given: 1 MiB.
    @inlinable public static var defaultMax: Int { 1024 * 1024 }

    @usableFromInline let width: LengthLayout.Width
    @usableFromInline let order: Endianness
    @usableFromInline let offset: Int
    /// The bytes of the header, a varint's own not counted.
    @usableFromInline let headerCount: Int
    /// The bytes of the header up to the end of a length field of fixed width.
    @usableFromInline let fieldEnd: Int
    /// What is added to the number to get the payload, a varint's own bytes not counted.
    @usableFromInline let bias: Int
    /// For a varint that counts itself: 1.
    @usableFromInline let varintWeight: Int
    /// Whether the header is nothing but the length field and doesn't go to the reader.
    @usableFromInline let isPlain: Bool
    /// The most payload that may be sent: within the limit and within what the field can hold.
    @usableFromInline let mostOutgoing: Int

    /// A codec for a layout.
    ///
    /// - Parameters:
    ///   - layout: the header's layout; 4 bytes, big-endian, that count the payload by default.
    ///   - max: the most bytes of a received payload; 1 MiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent payload; the same as `max` if nil.
    public init(layout: LengthLayout = LengthLayout(), max: Int = defaultMax, maxOutgoing: Int? = nil) {
        let field = layout.width.byteCount ?? 0
        self.layout = layout
        // Far above anything that can be stored, and far enough from the end of the numbers for every sum below.
        self.max = Swift.max(0, Swift.min(max, 1 << 60))
        self.maxOutgoing = Swift.max(0, Swift.min(maxOutgoing ?? max, 1 << 60))
        width = layout.width
        order = layout.order
        offset = layout.offset
        headerCount = layout.offset + field + layout.trailing
        fieldEnd = layout.offset + field
        bias =
            switch layout.counts {
            case .payload: layout.adjustment
            case .fieldAndPayload: layout.adjustment - field - layout.trailing
            case .wholeFrame: layout.adjustment - layout.offset - field - layout.trailing
            }
        varintWeight = layout.width == .varint && layout.counts != .payload ? 1 : 0
        isPlain = layout.offset == 0 && layout.trailing == 0 && !layout.keepsHeader && layout.width != .varint
        let most: Int =
            switch layout.width {
            case .one: 0xFF
            case .two: 0xFFFF
            case .three: 0xFF_FFFF
            case .four: 0xFFFF_FFFF
            case .eight, .varint: 1 << 61
            }
        mostOutgoing = Swift.min(self.maxOutgoing, most + bias)
    }

    /// Takes the next frame; nil if more bytes are needed.
    @inlinable
    public func decode(from input: inout ByteInput) throws(SocketError) -> Bytes? {
        guard let header = try header(in: input), header.payload <= input.count &- header.count else { return nil }
        if layout.keepsHeader { return input.read(header.count &+ header.payload) }
        let frame = Bytes(storage: input.storage, offset: input.lower &+ header.count, count: header.payload)
        input.lower &+= header.count &+ header.payload
        return frame
    }

    /// What has arrived of the payload and what it will have: "6 of 10 bytes". The header isn't counted, unless it is what is unfinished:
    /// "2 of 4 bytes of the header".
    public func pending(in input: ByteInput) -> PendingFrame? {
        if input.isEmpty { return nil }
        guard let header = try? header(in: input) else {
            let expected = width == .varint ? nil : headerCount
            return PendingFrame(received: input.count, expected: expected, note: "of the header")
        }
        return PendingFrame(received: input.count - header.count, expected: header.payload)
    }

    /// True: a frame's bytes depend on the frame alone.
    @inlinable public static var isStateless: Bool { true }
}

/// The types whose width a length prefix can have: `UInt8`, `UInt16`, `UInt32` and `UInt64`.
public protocol LengthPrefix: FixedWidthInteger, UnsignedInteger {
    /// The width of the length field.
    static var lengthWidth: LengthLayout.Width { get }
}

extension UInt8: LengthPrefix {
    /// 1 byte.
    public static var lengthWidth: LengthLayout.Width { .one }
}

extension UInt16: LengthPrefix {
    /// 2 bytes.
    public static var lengthWidth: LengthLayout.Width { .two }
}

extension UInt32: LengthPrefix {
    /// 4 bytes.
    public static var lengthWidth: LengthLayout.Width { .four }
}

extension UInt64: LengthPrefix {
    /// 8 bytes.
    public static var lengthWidth: LengthLayout.Width { .eight }
}

extension Codec where Self == LengthPrefixCodec {
    /// Payloads behind an integer that counts their bytes.
    ///
    /// - Parameters:
    ///   - type: the integer; big-endian by default.
    ///   - order: its byte order.
    ///   - max: the most bytes of a received payload; 1 MiB by default.
    ///   - maxOutgoing: the same for a sent payload; the same as `max` if nil.
    public static func lengthPrefixed<Length: LengthPrefix>(
        _ type: Length.Type, _ order: Endianness = .big, max: Int = LengthPrefixCodec.defaultMax, maxOutgoing: Int? = nil
    ) -> LengthPrefixCodec {
        LengthPrefixCodec(layout: LengthLayout(width: Length.lengthWidth, order: order), max: max, maxOutgoing: maxOutgoing)
    }

    /// Payloads behind a header of any layout.
    ///
    /// - Parameters:
    ///   - layout: the header's layout.
    ///   - max: the most bytes of a received payload; 1 MiB by default.
    ///   - maxOutgoing: the same for a sent payload; the same as `max` if nil.
    public static func lengthPrefixed(
        layout: LengthLayout, max: Int = LengthPrefixCodec.defaultMax, maxOutgoing: Int? = nil
    ) -> LengthPrefixCodec {
        LengthPrefixCodec(layout: layout, max: max, maxOutgoing: maxOutgoing)
    }

    /// Payloads behind a varint that counts their bytes: LEB128, as protocol buffers delimit messages; see ``LengthLayout/Width/varint``.
    ///
    /// - Parameters:
    ///   - max: the most bytes of a received payload; 1 MiB by default.
    ///   - maxOutgoing: the same for a sent payload; the same as `max` if nil.
    public static func varintPrefixed(max: Int = LengthPrefixCodec.defaultMax, maxOutgoing: Int? = nil) -> LengthPrefixCodec {
        LengthPrefixCodec(layout: LengthLayout(width: .varint), max: max, maxOutgoing: maxOutgoing)
    }
}
