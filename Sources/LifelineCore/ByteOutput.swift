/// What an encoder writes into: the bytes that go on the wire next, in order.
///
/// Large ``Bytes`` are taken by reference instead of copied. Everything written by an `encode` that throws is taken back.
public struct ByteOutput: ~Copyable {
    @usableFromInline var storage: ByteStorage?
    @usableFromInline var start: UnsafeMutableRawPointer?
    @usableFromInline var used: Int
    @usableFromInline var capacity: Int
    /// What stands before the block being written, with the total up to and including each.
    @usableFromInline var sealed: [Bytes]
    @usableFromInline var sealedCount: Int
    @usableFromInline var firstCapacity: Int

    /// From this size on, bytes are taken by reference.
    @inlinable static var referenceThreshold: Int { 16 * 1024 }

    /// An output without bytes.
    @inlinable
    public init() {
        storage = nil
        start = nil
        used = 0
        capacity = 0
        sealed = []
        sealedCount = 0
        firstCapacity = 0
    }

    /// An output whose first block has room for `expected` bytes.
    @inlinable
    package init(expecting expected: Int) {
        self.init()
        firstCapacity = expected
    }

    /// The number of bytes written.
    @inlinable public var count: Int { sealedCount &+ used }

    /// Appends one byte.
    @inlinable
    public mutating func append(_ byte: UInt8) {
        reserve(1).storeBytes(of: byte, as: UInt8.self)
        used &+= 1
    }

    /// Appends an integer in the given byte order.
    @inlinable
    public mutating func append<Value: FixedWidthInteger>(_ value: Value, _ order: Endianness) {
        let size = MemoryLayout<Value>.size
        reserve(size).storeBytes(of: order.convert(value), as: Value.self)
        used &+= size
    }

    /// Appends bytes: small ones are copied, large ones are referred to.
    @inlinable
    public mutating func append(_ bytes: Bytes) {
        let length = bytes.count
        if length == 0 { return }
        if length >= Self.referenceThreshold {
            seal()
            sealed.append(bytes)
            sealedCount &+= length
            return
        }
        reserve(length).copyMemory(from: bytes.start, byteCount: length)
        used &+= length
    }

    /// Appends a copy of the bytes at `buffer`.
    @inlinable
    public mutating func append(_ buffer: UnsafeRawBufferPointer) {
        guard let source = buffer.baseAddress, buffer.count > 0 else { return }
        reserve(buffer.count).copyMemory(from: source, byteCount: buffer.count)
        used &+= buffer.count
    }

    /// Appends the UTF-8 of `text`.
    @inlinable
    public mutating func append(utf8 text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Writes an integer over bytes that are there already, such as a length that is known only now.
    ///
    /// - Throws: ``SocketError/Code/misuse`` if the place isn't inside one block of what this encoder has just written.
    public mutating func overwrite<Value: FixedWidthInteger>(at position: Int, with value: Value, _ order: Endianness) throws(SocketError) {
        let place = position &- sealedCount
        guard let start, position >= sealedCount, place <= used - MemoryLayout<Value>.size else {
            throw SocketError(.misuse, "bytes \(position)… of the output can't be written over: not in the block being written")
        }
        (start + place).storeBytes(of: order.convert(value), as: Value.self)
    }

    /// Calls `body` with the last `length` bytes; nil if they don't stand in the block being written. For values computed over what an
    /// encoder has just written. The pointer is valid during the call only.
    @inlinable
    func withLast<Result>(_ length: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard length >= 0, length <= used, let start else { return nil }
        return body(UnsafeRawBufferPointer(start: start + (used &- length), count: length))
    }

    /// All that was written, in one run.
    public consuming func finish() -> Bytes {
        if sealed.isEmpty {
            storage?.filled = used
            return used == 0 ? Bytes() : Bytes(storage: storage, offset: 0, count: used)
        }
        seal()
        if sealed.count == 1 { return sealed[0] }
        let joined = ByteStorage.make(capacity: sealedCount)
        var position = 0
        for part in sealed {
            (joined.base + position).copyMemory(from: part.start, byteCount: part.count)
            position += part.count
        }
        joined.filled = position
        return Bytes(storage: joined, offset: 0, count: position)
    }

    /// A place with room for `length` more bytes. `used` is the caller's to move.
    @inlinable
    mutating func reserve(_ length: Int) -> UnsafeMutableRawPointer {
        if capacity &- used < length { grow(length) }
        return start.unsafelyUnwrapped + used
    }

    @usableFromInline
    mutating func grow(_ length: Int) {
        let larger = ByteStorage.make(capacity: Swift.max(used + length, 2 * capacity, firstCapacity, 112))
        firstCapacity = 0
        if let start { larger.base.copyMemory(from: start, byteCount: used) }
        storage = larger
        start = larger.base
        capacity = larger.size
    }

    /// Closes the block being written; what follows starts another.
    @usableFromInline
    mutating func seal() {
        guard let storage, used > 0 else { return }
        storage.filled = used
        sealed.append(Bytes(storage: storage, offset: 0, count: used))
        sealedCount += used
        self.storage = nil
        start = nil
        used = 0
        capacity = 0
    }
}

extension ByteOutput {
    /// A place to come back to with ``rewind(to:)``.
    @usableFromInline
    package struct Mark {
        @usableFromInline let count: Int
        @usableFromInline let parts: Int

        @inlinable
        init(count: Int, parts: Int) {
            self.count = count
            self.parts = parts
        }
    }

    /// The size of the block being written: what the next output's first block had better have.
    @inlinable
    package var blockCount: Int { used }

    /// From this size on, blocks are kept for later outputs.
    @inlinable static var smallestSpare: Int { 4 * 1024 }

    /// Whether there is no block yet, and the first had better come through ``begin(in:)``.
    @inlinable
    package var wantsBlock: Bool { firstCapacity >= Self.smallestSpare && capacity == 0 }

    /// The size that the first block is to have.
    package var wantedSize: Int { firstCapacity }

    /// Writes into `block` next, if that is wanted.
    package mutating func begin(in block: consuming SpareBlock) {
        guard wantsBlock else { return }
        storage = block.storage
        start = block.storage.base
        capacity = block.capacity
        firstCapacity = 0
    }

    /// Where writing stands now.
    @inlinable
    package var mark: Mark { Mark(count: count, parts: sealed.count) }

    /// Takes back everything written behind `mark`.
    @usableFromInline
    package mutating func rewind(to mark: Mark) {
        if sealed.count > mark.parts {
            // The block that was being written at the mark was sealed since; what stands before the mark in it stays.
            seal()
            var total = sealed[..<mark.parts].reduce(0) { $0 + $1.count }
            let block = sealed[mark.parts]
            sealed.removeSubrange(mark.parts...)
            if mark.count > total {
                sealed.append(block.slice(0..<(mark.count - total)))
                total = mark.count
            }
            sealedCount = total
            storage = nil
            start = nil
            used = 0
            capacity = 0
        } else {
            used = mark.count - sealedCount
        }
    }

    /// All that was written, if it stands in one run; nil, and nothing taken, if not.
    package mutating func takeRun() -> Bytes? {
        guard sealed.isEmpty else { return nil }
        storage?.filled = used
        return Bytes(storage: storage, offset: 0, count: used)
    }

    /// All that was written, as the runs it stands in; the output is empty then.
    package consuming func takeRegions() -> [Bytes] {
        if sealed.isEmpty {
            storage?.filled = used
            return used == 0 ? [] : [Bytes(storage: storage, offset: 0, count: used)]
        }
        seal()
        return sealed
    }
}
