/// Large blocks that reads have filled and that nobody refers to any more, for the next reads. Without it the allocator would give their
/// pages back to the system and fault them in again with each read.
///
/// Confined to one loop; bounded; small blocks aren't worth it.
package final class StorageCache {
    private var blocks: [ByteStorage] = []
    private var next = 0

    private static let smallest = 32 * 1024
    private static let largest = 512 * 1024
    /// At most this many blocks are kept, so at most 4 MiB.
    private static let places = 8

    package init() {}

    /// A block of at least `capacity` bytes whose bytes nobody sees.
    func block(_ capacity: Int) -> ByteStorage {
        guard capacity >= Self.smallest, capacity <= Self.largest else { return ByteStorage.make(capacity: capacity) }
        for place in blocks.indices where isKnownUniquelyReferenced(&blocks[place]) {
            let room = blocks[place].header.capacity
            if room >= capacity, room <= 4 * capacity {
                blocks[place].header.count = 0
                return blocks[place]
            }
        }
        // A power of two, so that it fits later reads, too.
        let made = ByteStorage.make(capacity: 1 << (Int.bitWidth - (capacity - 1).leadingZeroBitCount))
        if blocks.count < Self.places {
            blocks.append(made)
        } else {
            blocks[next] = made
            next = (next + 1) % Self.places
        }
        return made
    }

    /// Lets go of everything.
    package func removeAll() { blocks = [] }
}
