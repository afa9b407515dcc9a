/// Where the length of a frame stands in its header and what it counts.
///
/// A header is `<offset bytes> <length field> <trailing bytes>`, the payload follows it. The number in the length field and the payload
/// are related by
///
///     payload = number - what ``counts`` adds to the payload + adjustment
///
/// Netty's `LengthFieldBasedFrameDecoder(max, offset, width, adjustment, strip)` is the same with its own numbers: a strip of 0 keeps the
/// header, one of `offset + width` doesn't. Twisted's `Int32StringReceiver` is the default.
///
/// Nothing here can be out of range: negative sizes are taken as 0, and sizes and adjustments beyond 2^30 as 2^30.
public struct LengthLayout: Sendable, Hashable {
    /// The form of the length field.
    public enum Width: Sendable, Hashable, CaseIterable {
        /// An unsigned integer of 1 byte.
        case one
        /// An unsigned integer of 2 bytes.
        case two
        /// An unsigned integer of 3 bytes.
        case three
        /// An unsigned integer of 4 bytes.
        case four
        /// An unsigned integer of 8 bytes.
        case eight
        /// An unsigned LEB128 integer: seven bits in each byte, lowest first, the top bit set in all but the last. Up to 10 bytes are
        /// understood, padded forms included; the shortest form is sent.
        case varint

        /// The bytes of an integer of fixed width; nil for a varint.
        @inlinable
        public var byteCount: Int? {
            switch self {
            case .one: 1
            case .two: 2
            case .three: 3
            case .four: 4
            case .eight: 8
            case .varint: nil
            }
        }
    }

    /// What the number in the length field counts.
    public enum Counts: Sendable, Hashable, CaseIterable {
        /// The payload only.
        case payload
        /// The length field itself and everything behind it.
        case fieldAndPayload
        /// The whole frame: header and payload.
        case wholeFrame
    }

    /// The form of the length field; 4 bytes by default.
    public var width: Width
    /// The byte order of the length field, of no meaning for a varint; big-endian by default.
    public var order: Endianness
    /// How many bytes of the header stand before the length field; none by default.
    public var offset: Int {
        didSet { offset = Self.size(offset) }
    }
    /// How many bytes of the header stand behind the length field; none by default.
    public var trailing: Int {
        didSet { trailing = Self.size(trailing) }
    }
    /// What the number counts; the payload by default.
    public var counts: Counts
    /// What is added to the number to get what ``counts`` says; 0 by default. As in Netty, a positive one stands for bytes that the
    /// peer doesn't count.
    public var adjustment: Int {
        didSet { adjustment = Self.clamped(adjustment) }
    }
    /// Whether frames contain their header, as received; not by default.
    public var keepsHeader: Bool

    /// A layout; by default 4 bytes, big-endian, that count the payload which follows.
    public init(
        width: Width = .four, order: Endianness = .big, offset: Int = 0, trailing: Int = 0, counts: Counts = .payload, adjustment: Int = 0,
        keepsHeader: Bool = false
    ) {
        self.width = width
        self.order = order
        self.offset = Self.size(offset)
        self.trailing = Self.size(trailing)
        self.counts = counts
        self.adjustment = Self.clamped(adjustment)
        self.keepsHeader = keepsHeader
    }

    /// The most that any of the numbers can be, so that no sum of them overflows.
    private static let most = 1 << 30

    private static func size(_ number: Int) -> Int { Swift.max(0, Swift.min(number, most)) }

    private static func clamped(_ number: Int) -> Int { Swift.max(-most, Swift.min(number, most)) }
}

extension LengthLayout: CustomStringConvertible {
    /// The layout that a name such as a command line's stands for: `length:1`, `length:2le`, `length:3be`, `length:4`, `length:8le`,
    /// `length:varint`. Without an order it is big-endian. The length counts the payload that follows.
    ///
    /// - Throws: ``SocketError/Code/misuse`` for any other text.
    public init(parsing name: some StringProtocol) throws(SocketError) {
        let form = name.hasPrefix("length:") ? String(name.dropFirst("length:".count)) : ""
        let order: Endianness = form.hasSuffix("le") ? .little : .big
        let width: Width? =
            switch form.hasSuffix("le") || form.hasSuffix("be") ? String(form.dropLast(2)) : form {
            case "1": .one
            case "2": .two
            case "3": .three
            case "4": .four
            case "8": .eight
            case "varint" where form == "varint": .varint
            default: nil
            }
        guard let width else {
            throw SocketError(.misuse, "“\(name)” isn't a length prefix: write length:1, 2, 3, 4 or 8 with be or le, or length:varint")
        }
        self.init(width: width, order: order)
    }

    /// The name of the width and order, as it is parsed, and whatever isn't the default.
    public var description: String {
        var text = "length:varint"
        if let byteCount = width.byteCount {
            text = "length:\(byteCount)"
            if byteCount > 1 { text += order == .big ? "be" : "le" }
        }
        if offset > 0 { text += " offset \(offset)" }
        if trailing > 0 { text += " trailing \(trailing)" }
        switch counts {
        case .payload: break
        case .fieldAndPayload: text += " counting itself"
        case .wholeFrame: text += " counting the whole frame"
        }
        if adjustment != 0 { text += " adjusted by \(adjustment)" }
        if keepsHeader { text += " with header" }
        return text
    }
}
