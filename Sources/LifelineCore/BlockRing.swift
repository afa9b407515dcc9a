/// Blocks of small reads, filled again in the order in which they were filled before: by then nobody refers to the next one any more, or it
/// is passed over. There come to be as many as are in use at a time, and a few.
struct BlockRing {
    private var blocks: [ByteStorage] = []
    private var next = 0
    /// The bytes of all blocks.
    private var total = 0
    private let bound: Int

    /// So many blocks that are in use are passed over in a search.
    private static let depth = 8

    /// - Parameter bound: at most so many bytes are kept.
    init(bound: Int) { self.bound = bound }

    /// A block that nobody else refers to, with room for `size` bytes and for not many more.
    mutating func block(_ size: Int) -> ByteStorage {
        for _ in 0..<min(blocks.count, Self.depth) {
            if next >= blocks.count { next = 0 }
            if isKnownUniquelyReferenced(&blocks[next]) { return refill(size) }
            next += 1
        }
        let made = make(size)
        blocks.insert(made, at: next)
        total += made.size
        next += 1
        trim()
        return made
    }

    /// The next block, or another in its place if it doesn't suit what comes now.
    private mutating func refill(_ size: Int) -> ByteStorage {
        let old = blocks[next]
        let block = (size...2 * size).contains(old.size) ? old : make(size)
        block.filled = 0
        blocks[next] = block
        total += block.size - old.size
        next += 1
        trim()
        return block
    }

    /// With the rest of the last 1,024 bytes, so that it fits somewhat larger reads, too.
    private func make(_ size: Int) -> ByteStorage { ByteStorage.make(capacity: (size + 1023) & ~1023) }

    /// Gives up the oldest that are in use: those who refer to them may do so for ever.
    private mutating func trim() {
        while total > bound {
            var oldest = next < blocks.count ? next : 0
            for step in 0..<min(blocks.count - 1, Self.depth) {
                let place = (next + step) % blocks.count
                if isKnownUniquelyReferenced(&blocks[place]) { continue }
                oldest = place
                break
            }
            total -= blocks.remove(at: oldest).size
            if oldest < next { next -= 1 }
        }
    }

    /// The bytes of the kept blocks, for tests: counted anew.
    var keptBytes: Int { blocks.reduce(0) { $0 + $1.size } }
}
