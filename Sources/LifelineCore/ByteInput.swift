/// What a decoder reads from: the bytes that have arrived and that no frame has taken yet.
///
/// Offsets count from the first byte that is left. Nothing here blocks and nothing traps on what a peer sent: what isn't there yet is
/// nil. Slices share storage with the read they came from.
public struct ByteInput {
    @usableFromInline var storage: ByteStorage?
    @usableFromInline var lower: Int
    @usableFromInline var upper: Int
    /// The bytes of storage behind `upper` that nobody has asked for yet; see ``takeSlack()``.
    @usableFromInline var slack: Int
    /// Set by ``stopAfterFrame()``; the read path clears it.
    @usableFromInline package var isStopped: Bool
    @usableFromInline var _findings: [Finding]?

    /// An input without bytes.
    @inlinable
    public init() {
        storage = nil
        lower = 0
        upper = 0
        slack = 0
        isStopped = false
        _findings = nil
    }

    /// An input of `bytes`, for trying a decoder.
    @inlinable
    public init(_ bytes: Bytes) {
        self.init()
        storage = bytes.storage
        lower = bytes.offset
        upper = bytes.offset + bytes.count
    }

    /// The number of bytes that are left.
    @inlinable public var count: Int { upper &- lower }

    /// Whether no byte is left.
    @inlinable public var isEmpty: Bool { upper == lower }

    /// The byte at `offset`, which must be below ``count``.
    @inlinable
    public subscript(offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < count, "offset out of range")
        return start.load(fromByteOffset: offset, as: UInt8.self)
    }

    /// The integer at `offset`, at any alignment, all of whose bytes must be there: for the fields of a header whose size was compared.
    @inlinable
    public func load<Value: FixedWidthInteger>(_: Value.Type = Value.self, at offset: Int, _ order: Endianness) -> Value {
        precondition(offset >= 0 && offset <= count &- MemoryLayout<Value>.size, "offset out of range")
        return order.convert(start.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// The integer at `offset`, at any alignment; nil if not all of its bytes are there.
    @inlinable
    public func peek<Value: FixedWidthInteger>(_: Value.Type = Value.self, at offset: Int = 0, _ order: Endianness = .big) -> Value? {
        let size = MemoryLayout<Value>.size
        guard offset >= 0, count >= size, offset <= count &- size else { return nil }
        return order.convert(start.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// Takes an integer from the front; nil, and nothing taken, if not all of its bytes are there.
    @inlinable
    public mutating func read<Value: FixedWidthInteger>(_ type: Value.Type = Value.self, _ order: Endianness = .big) -> Value? {
        guard let value = peek(type, at: 0, order) else { return nil }
        lower &+= MemoryLayout<Value>.size
        return value
    }

    /// Takes `length` bytes from the front without a copy; nil, and nothing taken, if they are not all there.
    @inlinable
    public mutating func read(_ length: Int) -> Bytes? {
        guard length >= 0, length <= count else { return nil }
        let bytes = Bytes(storage: storage, offset: lower, count: length)
        lower &+= length
        return bytes
    }

    /// The bytes of `range`, without taking them; nil if they are not all there.
    @inlinable
    public func peek(_ range: Range<Int>) -> Bytes? {
        guard range.lowerBound >= 0, range.upperBound <= count else { return nil }
        return Bytes(storage: storage, offset: lower &+ range.lowerBound, count: range.count)
    }

    /// Drops up to `length` bytes from the front.
    @inlinable
    public mutating func skip(_ length: Int) {
        lower &+= Swift.max(0, Swift.min(length, count))
    }

    /// The offset of the first `byte` at or behind `offset`.
    @inlinable
    public func firstIndex(of byte: UInt8, from offset: Int = 0) -> Int? {
        guard offset >= 0, offset < count else { return nil }
        guard let found = firstOffset(of: byte, in: start + offset, count: count &- offset) else { return nil }
        return found &+ offset
    }

    /// The offset of the first whole `delimiter` at or behind `offset`; nil for an empty one. Linear in the bytes looked at, also for
    /// delimiters that overlap themselves.
    @inlinable
    public func firstIndex(of delimiter: Bytes, from offset: Int = 0) -> Int? {
        guard let first = delimiter.first else { return nil }
        // Comparing at each place where the first byte stands costs at most this many steps a byte.
        if delimiter.count > 16 { return firstIndex(ofLong: delimiter, from: offset) }
        var position = Swift.max(0, offset)
        while let candidate = firstIndex(of: first, from: position), candidate &+ delimiter.count <= count {
            if equalBytes(start + candidate, delimiter.start, count: delimiter.count) { return candidate }
            position = candidate &+ 1
        }
        return nil
    }

    /// Calls `body` with the bytes that are left, in place. The pointer is valid during the call only.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let storage else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(start: storage.base + lower, count: count))
    }

    /// Says that decoding must stop behind the frame that is being returned: what follows may be in another format.
    ///
    /// It goes on when the reader has taken that frame and asks for another, or with the new codec when it swaps.
    @inlinable
    public mutating func stopAfterFrame() {
        isStopped = true
    }

    /// Reports something worth knowing that is neither a frame nor an end, such as skipped bytes.
    public mutating func report(_ finding: Finding) {
        if _findings == nil { _findings = [] }
        _findings?.append(finding)  // In place: a read may bring thousands.
    }

    /// Valid while this value is.
    @inlinable
    var start: UnsafeRawPointer {
        UnsafeRawPointer(storage.unsafelyUnwrapped.base + lower)
    }
}
