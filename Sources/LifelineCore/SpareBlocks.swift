/// Blocks that have been written from, for what is encoded next.
///
/// Without them the allocator gives their pages back to the system and faults them in again with each portion, above all where one thread
/// encodes and another one writes. Bounded; small blocks aren't worth it, and large ones are rare.
package struct SpareBlocks {
    private var blocks: [ByteStorage] = []
    /// The bytes of all blocks.
    private var total = 0

    /// The sizes that are kept.
    static let sizes = ByteOutput.smallestSpare...64 * 1024
    /// At most so many bytes are kept.
    package static let bound = 2 * 1024 * 1024
    /// So many of the latest blocks are looked at for one that fits.
    private static let depth = 8

    package init() {}

    /// Whether the block of `run` may be worth keeping.
    package static func suits(_ run: borrowing Bytes) -> Bool { run.storage.map { sizes.contains($0.size) } ?? false }

    /// Takes over the block of `run`, which is empty then; leaves it alone if others refer to it, or if it doesn't suit.
    package mutating func add(_ run: inout Bytes) {
        guard Self.suits(run), isKnownUniquelyReferenced(&run.storage), let block = run.storage else { return }
        run = Bytes()
        block.filled = 0
        blocks.append(block)
        total += block.size
        // The oldest may be of a size that nobody asks for any more.
        while total > Self.bound { total -= blocks.removeFirst().size }
    }

    /// The latest block that has room for `size` bytes, and for not many more.
    package mutating func take(_ size: Int) -> SpareBlock? {
        for place in blocks.indices.suffix(Self.depth).reversed() where (size...4 * size).contains(blocks[place].size) {
            let block = blocks.remove(at: place)
            total -= block.size
            return SpareBlock(block)
        }
        return nil
    }

    /// The bytes of the kept blocks, for tests: counted anew.
    package var keptBytes: Int { blocks.reduce(0) { $0 + $1.size } }
}

/// A block to encode into, to which nobody else refers.
package struct SpareBlock: ~Copyable {
    let storage: ByteStorage

    fileprivate init(_ storage: ByteStorage) { self.storage = storage }

    /// A new one, with room for `size` bytes and for a few more.
    package init(size: Int) { storage = ByteStorage.make(capacity: (max(0, size) + 1023) & ~1023) }

    /// So many bytes have room.
    package var capacity: Int { storage.size }
}
