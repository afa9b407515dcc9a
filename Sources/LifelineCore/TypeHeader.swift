/// The 16-byte header of a packet with two types: what it is about, and what of that.
///
/// - Wire layout, little-endian:
///   `int32 version (1) | int32 main type | int32 sub type | uint32 bytes of body | body`
/// - Plausible is version 1 with both types between -10 and 1000, not including these. A sub type of -1 means "none".
///
/// Values of this type are equal if version and types are: the length belongs to the wire.
public struct TypeHeader: FixedHeader, Hashable {
    /// The version of the format; 1.
    public var version: Int32
    /// What the packet is about.
    public var mainType: Int32
    /// What of that; ``noSubType`` if it has none.
    public var subType: Int32
    @usableFromInline var length: UInt32

    /// The sub type of a packet without one: -1.
    @inlinable public static var noSubType: Int32 { -1 }

    /// A header of version 1.
    ///
    /// - Parameters:
    ///   - mainType: what the packet is about.
    ///   - subType: what of that; none by default.
    @inlinable
    public init(mainType: Int32, subType: Int32 = noSubType) {
        version = 1
        self.mainType = mainType
        self.subType = subType
        length = 0
    }

    /// 16.
    @inlinable public static var byteCount: Int { 16 }

    /// Reads the header at the front of `input`.
    @inlinable
    public init(from input: ByteInput) {
        version = input.load(at: 0, .little)
        mainType = input.load(at: 4, .little)
        subType = input.load(at: 8, .little)
        length = input.load(at: 12, .little)
    }

    /// Appends the 16 bytes.
    @inlinable
    public func write(to output: inout ByteOutput) {
        output.append(version, .little)
        output.append(mainType, .little)
        output.append(subType, .little)
        output.append(length, .little)
    }

    /// The bytes of body that were announced on receipt.
    @inlinable public var bodyCount: Int? { Int(exactly: length) }

    /// Lets the header announce `count` bytes.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` for more than 2^32 - 1.
    @inlinable
    public mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count) }

    /// Whether the version is 1 and both types are within their range.
    @inlinable
    public var isPlausible: Bool { version == 1 && -10 < mainType && mainType < 1000 && -10 < subType && subType < 1000 }

    /// Whether version and types are the same.
    @inlinable
    public static func == (left: TypeHeader, right: TypeHeader) -> Bool {
        left.version == right.version && left.mainType == right.mainType && left.subType == right.subType
    }

    /// Feeds version and types.
    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(mainType)
        hasher.combine(subType)
    }
}

extension Codec where Self == Resynchronizing<HeaderCodec<TypeHeader>> {
    /// Packets with a 16-byte header that has two types, found again behind garbage: 1 MiB of body at most, and 64 KiB of garbage.
    public static var typeHeader: Self { .typeHeader() }

    /// Packets with a 16-byte header that has a main type and a sub type, found again behind garbage: see ``TypeHeader`` for the wire and
    /// ``Resynchronizing`` for the search.
    ///
    /// - Parameters:
    ///   - max: the most bytes of a received body; 1 MiB by default. A header that announces more is taken for garbage.
    ///   - maxOutgoing: the same for a sent body; the same as `max` if nil.
    ///   - budget: the most bytes that may be skipped between two packets; 64 KiB by default.
    public static func typeHeader(
        max: Int = HeaderCodec<TypeHeader>.defaultMax, maxOutgoing: Int? = nil, budget: Int = Self.defaultBudget
    ) -> Self {
        HeaderCodec(TypeHeader.self, max: max, maxOutgoing: maxOutgoing).resynchronizing(budget: budget)
    }
}
