/// Blocks of small reads, filled again in the order in which they were filled before.
///
/// It grows to as many as are in use at a time: nobody refers to the next one any more then. One that is still in use is passed over.
struct BlockRing {
    private var blocks: [ByteStorage] = []
    private var next = 0
    /// The bytes of all blocks; never more than `bound`.
    private(set) var total = 0
    private let bound: Int

    init(bound: Int) { self.bound = bound }

    /// A block that nobody else refers to, with room for `size` bytes and for not many more.
    mutating func block(_ size: Int) -> ByteStorage {
        if next >= blocks.count { next = 0 }
        var isFree = false
        if next < blocks.count {
            isFree = isKnownUniquelyReferenced(&blocks[next])
            if isFree, (size...2 * size).contains(blocks[next].size) {
                let block = blocks[next]
                block.filled = 0
                next += 1
                return block
            }
        }
        // The rest of the last 1,024 bytes, so that it fits somewhat larger reads, too.
        let made = ByteStorage.make(capacity: (size + 1023) & ~1023)
        if isFree {
            total -= blocks[next].size
            blocks[next] = made
        } else {
            blocks.insert(made, at: next)
        }
        total += made.size
        next += 1
        while total > bound { removeOldest() }
        return made
    }

    /// Those who refer to it may do so for ever.
    private mutating func removeOldest() {
        let oldest = next < blocks.count ? next : 0
        total -= blocks.remove(at: oldest).size
        if oldest < next { next -= 1 }
    }
}
