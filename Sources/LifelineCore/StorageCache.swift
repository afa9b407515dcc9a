/// The block that a loop's next read goes into, and blocks that earlier reads have filled and that nobody refers to any more.
/// Without them the allocator would give their pages back to the system and fault them in again with each read.
///
/// Confined to one loop; bounded; very small blocks aren't worth it.
package final class StorageCache {
    @exclusivity(unchecked) private var blocks: [ByteStorage] = []
    /// The bytes of all `blocks`.
    @exclusivity(unchecked) private var total = 0
    /// Blocks below the size of those.
    @exclusivity(unchecked) private var small = BlockRing(bound: StorageCache.smallBound)
    /// Where the next read goes, unless the last one was adopted. Nobody sees its bytes.
    @exclusivity(unchecked) private var scratch: ByteStorage?
    /// The bytes of `scratch`, which saves counting references with each read.
    @exclusivity(unchecked) private var scratchBytes: UnsafeMutableRawPointer?
    /// The bytes that a read brings at most.
    package let readSize: Int

    private static let smallest = 4 * 1024
    private static let smallestLarge = 32 * 1024
    private static let largest = 512 * 1024
    /// At most so many bytes are kept in large blocks, besides the block for the next read.
    package static let bound = 4 * 1024 * 1024
    /// At most so many are kept in small ones.
    package static let smallBound = 2 * 1024 * 1024

    /// - Parameter readSize: a little more than a power of two, so that as much payload comes in one read together with its framing.
    package init(readSize: Int = 320 * 1024) { self.readSize = readSize }

    /// A block of at least `capacity` bytes whose bytes nobody sees, and of not much more.
    func block(_ capacity: Int) -> ByteStorage {
        if capacity < Self.smallest || capacity > Self.largest { return ByteStorage.make(capacity: capacity) }
        if capacity < Self.smallestLarge { return small.block(capacity) }
        // A power of two, so that it fits later reads, too.
        return unused(capacity...4 * capacity) ?? made(1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount))
    }

    private func unused(_ sizes: ClosedRange<Int>) -> ByteStorage? {
        for place in blocks.indices where isKnownUniquelyReferenced(&blocks[place]) && sizes.contains(blocks[place].size) {
            blocks[place].filled = 0
            return blocks[place]
        }
        return nil
    }

    /// In the place of the oldest ones, where the bound says so: they are in use, maybe for ever, or don't fit what comes now.
    private func made(_ size: Int) -> ByteStorage {
        while total + size > Self.bound { total -= blocks.removeFirst().size }
        let made = ByteStorage.make(capacity: size)
        blocks.append(made)
        total += size
        return made
    }

    /// Lets go of everything.
    package func removeAll() {
        blocks = []
        total = 0
        small = BlockRing(bound: Self.smallBound)
        scratch = nil
        scratchBytes = nil
    }
}

// The next read.
extension StorageCache {
    /// Where the next read goes, for an input that has `left` bytes: at least half of ``readSize``. Before them there is room for what is
    /// left, so that ``ByteInput/append(read:from:)`` can put both together without moving what was read.
    package func readBuffer(behind left: Int) -> UnsafeMutableRawBufferPointer {
        let bytes = scratchBytes ?? takeScratch()
        let offset = hasRoom(for: left) ? left : 0
        return UnsafeMutableRawBufferPointer(start: bytes + offset, count: readSize - offset)
    }

    private func takeScratch() -> UnsafeMutableRawPointer {
        let block = unused(readSize...readSize) ?? made(readSize)
        scratch = block
        scratchBytes = block.base
        return block.base
    }

    private func hasRoom(for left: Int) -> Bool { left <= readSize / 2 }

    /// The block with `count` bytes in the place of the last ``readBuffer(behind:)``, to keep; the next read gets another. Nil if it isn't
    /// worth it: a copy of them costs less than one of what is left, or they would pin more than twice their size.
    func adopt(_ count: Int, behind left: Int) -> ByteStorage? {
        guard count >= left, hasRoom(for: left), left + count >= readSize / 2, let block = scratch else { return nil }
        scratch = nil
        scratchBytes = nil
        return block
    }

    /// The bytes of the kept large blocks, for tests.
    package var keptBytes: Int { blocks.reduce(0) { $0 + $1.size } }

    /// The bytes of the kept small blocks, for tests.
    package var keptSmallBytes: Int { small.keptBytes }
}
