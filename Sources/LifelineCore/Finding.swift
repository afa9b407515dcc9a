/// Something that a decoder noticed and that is neither a frame nor an end.
public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// What kind of thing was noticed. An open set: decoders of later versions add to it.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name.
        public let description: String

        /// A kind of a codec of your own.
        public init(_ name: String) { description = name }

        /// Bytes that belong to no frame were passed over.
        public static let skippedBytes = Kind("skipped bytes")
        /// A frame above its limit was dropped.
        public static let droppedFrame = Kind("dropped frame")
    }

    /// What was noticed.
    public let kind: Kind
    /// How many bytes it concerns.
    public let byteCount: Int

    /// A finding about `byteCount` bytes.
    public init(_ kind: Kind, byteCount: Int) {
        self.kind = kind
        self.byteCount = byteCount
    }

    /// The kind and the number of bytes.
    public var description: String { "\(kind): \(byteCount)" }
}
