import LifelineCore
import Testing

@Suite("Blocks that are used again")
struct SpareBlockTests {
    private func place(_ bytes: Bytes) -> UnsafeRawPointer? { bytes.withUnsafeBytes { $0.baseAddress } }

    /// What an encoder has put into a block of `size` bytes.
    private func written(_ size: Int) -> Bytes {
        var output = ByteOutput(expecting: size)
        output.begin(in: SpareBlock(size: size))
        output.append(UInt64(size), .big)
        return output.finish()
    }

    @Test("a block that was written from is the next output's, at the same place")
    func usedAgain() {
        var spares = SpareBlocks()
        var run = written(10_000)
        let first = place(run)
        spares.add(&run)
        #expect(run.isEmpty)
        #expect(spares.keptBytes >= 10_000)
        var output = ByteOutput(expecting: 9000)
        let wantedBefore = output.wantsBlock
        if let block = spares.take(output.wantedSize) { output.begin(in: block) }
        let wantedAfter = output.wantsBlock
        #expect(wantedBefore && !wantedAfter)
        output.append(UInt8(7))
        let second = output.finish()
        #expect(place(second) == first)
        #expect(second == [7])
        #expect(spares.keptBytes == 0)
    }

    @Test("a block that somebody else refers to stays theirs")
    func shared() {
        var spares = SpareBlocks()
        var run = written(10_000)
        let kept = run.slice(0..<8)
        spares.add(&run)
        #expect(spares.keptBytes == 0)
        #expect(kept == run)
    }

    @Test("very small and very large blocks are left to the allocator", arguments: [100, 3000, 70_000])
    func unfit(size: Int) {
        var spares = SpareBlocks()
        var run = written(size)
        #expect(!SpareBlocks.suits(run))
        spares.add(&run)
        #expect(spares.keptBytes == 0 && run.count == 8)
        let wantsSmall = ByteOutput(expecting: 100).wantsBlock
        #expect(!wantsSmall)
    }

    @Test("a block is neither too small for what is asked, nor more than four times as large")
    func fitting() {
        var spares = SpareBlocks()
        var run = written(8192)
        spares.add(&run)
        let capacities = [8193, 2047, 2048, 2048].map { size in
            guard let block = spares.take(size) else { return 0 }
            return block.capacity
        }
        #expect(capacities == [0, 0, 8192, 0])
    }

    @Test("at most 2 MiB are kept, the latest: sizes that nobody asks for any more make room")
    func bounded() {
        var spares = SpareBlocks()
        for number in 1...100 {
            var run = written(64 * 1024)
            spares.add(&run)
            #expect(spares.keptBytes == min(number * 64 * 1024, SpareBlocks.bound))
            #expect(run.isEmpty)
        }
    }

    @Test("blocks of another size than before come to be used, however many of the old are kept")
    func otherSize() {
        var spares = SpareBlocks()
        for _ in 0..<1000 {
            var run = written(4096)
            spares.add(&run)
        }
        var run = written(20_000)
        spares.add(&run)
        var capacity = 0
        if let block = spares.take(20_000) { capacity = block.capacity }
        #expect(capacity == 20_480)
    }

    @Test("an output that has begun takes no other block")
    func begun() {
        var output = ByteOutput(expecting: 5000)
        output.append(UInt8(1))
        output.begin(in: SpareBlock(size: 8192))
        output.append(UInt8(2))
        #expect(output.finish() == [1, 2])
    }
}

@Suite("Blocks of small reads")
struct SmallReadTests {
    private let cache = StorageCache(readSize: 64 * 1024)

    private func read(_ count: Int, of byte: UInt8) -> Bytes {
        var input = ByteInput()
        UnsafeMutableRawBufferPointer(rebasing: cache.readBuffer(behind: 0)[..<count]).initializeMemory(as: UInt8.self, repeating: byte)
        input.append(read: count, from: cache)
        return input.read(count) ?? Bytes()
    }

    private func consists(_ frame: Bytes, of byte: UInt8) -> Bool { frame == Bytes([UInt8](repeating: byte, count: frame.count)) }

    private func place(_ bytes: Bytes?) -> UnsafeRawPointer? { bytes?.withUnsafeBytes { $0.baseAddress } }

    @Test("as many blocks as are in use at a time are filled again and again")
    func ring() {
        var places: Set<UnsafeRawPointer?> = []
        for _ in 0..<20 {
            let frames = (0..<10).map { read(8000 + 10 * $0, of: UInt8($0)) }
            for (byte, frame) in frames.enumerated() { #expect(consists(frame, of: UInt8(byte))) }
            for frame in frames { places.insert(place(frame)) }
        }
        #expect(places.count == 10)
        #expect(cache.keptSmallBytes == 10 * 8192)  // Nothing would be kept if the places were the allocator's doing.
    }

    @Test("a frame that is kept keeps its bytes, and its block is passed over")
    func kept() {
        var held: [Bytes] = []
        for byte in 0..<50 {
            held.append(read(5000, of: UInt8(byte)))
            for _ in 0..<3 { _ = read(5000, of: 255) }
        }
        for (byte, frame) in held.enumerated() { #expect(consists(frame, of: UInt8(byte))) }
        #expect(Set(held.map { place($0) }).count == 50)
        #expect((51...70).contains(cache.keptSmallBytes / 5120))
    }

    @Test("at most 2 MiB are kept, whoever holds what, and blocks that are never given back make room for others")
    func bounded() {
        var held: [Bytes] = []
        for number in 0..<1000 {
            held.append(read(4096 + number * 28, of: UInt8(truncatingIfNeeded: number)))
            #expect(cache.keptSmallBytes <= StorageCache.smallBound)
        }
        #expect(cache.keptSmallBytes > StorageCache.smallBound / 2)
        for (number, frame) in held.enumerated() { #expect(consists(frame, of: UInt8(truncatingIfNeeded: number))) }
        for _ in 0..<2000 { _ = read(30_000, of: 1) }
        // Told by the sizes: the allocator, too, gives out the same places again.
        let sizes = (0..<40).map { _ in
            var input = ByteInput()
            _ = cache.readBuffer(behind: 0)
            input.append(read: 29_000, from: cache)
            return input.pinnedCount
        }
        #expect(sizes.count { $0 == 30_720 } > 30, "\(sizes)")
        withExtendedLifetime(held) {}
        cache.removeAll()
        #expect(cache.keptSmallBytes == 0)
    }

    @Test("what a block has beyond its read is told as slack")
    func slack() {
        _ = read(9000, of: 1)
        var input = ByteInput()
        _ = cache.readBuffer(behind: 0).initializeMemory(as: UInt8.self, repeating: 2)
        input.append(read: 5000, from: cache)
        #expect(input.pinnedCount == 9216)
        let slack = input.takeSlack()
        #expect(slack == 9216 - 5000)
    }
}
