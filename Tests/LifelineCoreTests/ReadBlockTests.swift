import LifelineCore
import Testing

@Suite("Blocks of reads")
struct ReadBlockTests {
    private let cache = StorageCache(readSize: 64 * 1024)
    private let half = 32 * 1024

    /// Reads `bytes`, as far as they have room, as a stream does; where they were read to, and how many.
    @discardableResult
    private func read(_ bytes: [UInt8], into input: inout ByteInput) -> (place: UnsafeRawPointer?, count: Int) {
        let buffer = cache.readBuffer(behind: input.count)
        let count = min(buffer.count, bytes.count)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        input.append(read: count, from: cache)
        return (UnsafeRawPointer(buffer.baseAddress), count)
    }

    /// A period that is no power of two: what slipped by a block doesn't look right.
    private static let period = 65_521
    private static let pattern = (0..<5 * period).map { UInt8(truncatingIfNeeded: ($0 % period) / 7) }

    private func some(_ count: Int, from first: Int = 0) -> [UInt8] {
        let start = first % Self.period
        return Array(Self.pattern[start..<start + count])
    }

    private func place(_ input: ByteInput) -> UnsafeRawPointer? { input.withUnsafeBytes { $0.baseAddress } }

    private func slack(of input: inout ByteInput) -> Int { input.takeSlack() }

    /// A Bool, for the differences of large blocks would take minutes to tell.
    private func bytes(of input: ByteInput, are bytes: [UInt8]) -> Bool { input.peek(0..<input.count) == Bytes(bytes) }

    @Test("a read that fills half of its block stays where it was read, and the next one goes elsewhere")
    func staysInPlace() {
        var input = ByteInput()
        let first = read(some(half), into: &input)
        #expect(place(input) == first.place)
        #expect(input.pinnedCount == 64 * 1024)
        let taken = input.read(half)
        let second = read(some(half, from: half), into: &input)
        #expect(second.place != first.place)
        #expect(bytes(of: input, are: some(half, from: half)))
        #expect(taken == Bytes(some(half)))
    }

    @Test("a smaller read is copied into storage of about its size, and its block takes the next one")
    func isCopied() {
        var input = ByteInput()
        let first = read(some(half - 1), into: &input)
        #expect(place(input) != first.place)
        #expect(input.pinnedCount == half)
        #expect(bytes(of: input, are: some(half - 1)))
        input.skip(half - 1)
        let second = read([1], into: &input)
        #expect(second.place == first.place)
    }

    @Test("of an unfinished frame and what is read behind it only the frame moves", arguments: [1, 1000, 32 * 1024])
    func leftOver(left: Int) {
        var input = ByteInput()
        read(some(60_000), into: &input)
        input.skip(60_000 - left)
        let next = read(some(60_000, from: 60_000), into: &input)
        #expect(next.count == min(60_000, 64 * 1024 - left))
        #expect(place(input).map { $0 + left } == next.place)
        #expect(bytes(of: input, are: some(left + next.count, from: 60_000 - left)))
        #expect(input.pinnedCount == 64 * 1024)
    }

    @Test("a frame that trickles in behind a large read moves a bounded number of times")
    func smallBehindLarge() {
        var input = ByteInput()
        read(some(half), into: &input)
        var moved = 0
        var last = place(input)
        for number in 0..<40_000 {
            let before = input.count
            read(some(1, from: half + number), into: &input)
            if place(input) != last { moved += before }
            last = place(input)
        }
        #expect(input.count == half + 40_000)
        #expect(moved <= 2 * input.count)
        #expect(bytes(of: input, are: some(half + 40_000)))
    }

    @Test("reads behind a frame of any length keep at least half of their size")
    func room() {
        for left in stride(from: 0, through: 200_000, by: 999) {
            let buffer = cache.readBuffer(behind: left)
            #expect(buffer.count >= half && buffer.count <= 64 * 1024)
        }
    }

    @Test("nothing is lost and no slice changes, however reads, frames and holders fall", arguments: 0..<20 as Range<UInt64>)
    func anyWay(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        var inputs = [ByteInput(), ByteInput(), ByteInput()]
        var arrived = [0, 0, 0]
        var taken = [0, 0, 0]
        var held: [(slice: Bytes, number: Int, from: Int)] = []
        for _ in 0..<300 {
            let number = Int.random(in: 0..<3, using: &generator)
            let size = Int.random(in: 1...(Bool.random(using: &generator) ? 70_000 : 3000), using: &generator)
            arrived[number] += read(some(size, from: arrived[number] + number), into: &inputs[number]).count
            while Int.random(in: 0..<4, using: &generator) > 0 {
                let most = Swift.min(inputs[number].count, 50_000)
                guard let slice = inputs[number].read(Int.random(in: 0...most, using: &generator)) else { break }
                held.append((slice, number, taken[number] + number))
                taken[number] += slice.count
            }
            inputs[number].releaseIfEmpty()
            #expect(inputs[number].count == arrived[number] - taken[number], "seed \(seed)")
            while held.count > Int.random(in: 0..<40, using: &generator) {
                let (slice, _, from) = held.remove(at: Int.random(in: held.indices, using: &generator))
                let isUnchanged = slice == Bytes(some(slice.count, from: from))
                #expect(isUnchanged, "seed \(seed)")
            }
            #expect(cache.keptBytes <= StorageCache.bound, "seed \(seed)")
        }
        for number in 0..<3 {
            #expect(bytes(of: inputs[number], are: some(inputs[number].count, from: taken[number] + number)), "seed \(seed)")
        }
    }

    @Test("a block is used again when its last slice has gone, and not before")
    func usedAgain() {
        var input = ByteInput()
        let first = read(some(half), into: &input)
        var slice: Bytes? = input.read(half)?.slice(5..<6)
        input.releaseIfEmpty()
        read(some(half), into: &input)
        input.removeAll()
        #expect(cache.readBuffer(behind: 0).baseAddress.map { UnsafeRawPointer($0) } != first.place)
        read(some(half), into: &input)
        #expect(slice == Bytes(some(1, from: 5)))
        slice = nil
        #expect(cache.readBuffer(behind: 0).baseAddress.map { UnsafeRawPointer($0) } == first.place)
    }

    @Test("at most 4 MiB are kept, whoever holds what; blocks in use are left alone, and those that come later are kept in their place")
    func bounded() {
        var held: [ByteInput] = []
        for size in 0..<200 {
            var input = ByteInput()
            read(some(half + 100 * size), into: &input)
            held.append(input)
            #expect(cache.keptBytes <= StorageCache.bound)
        }
        for (size, input) in held.enumerated() { #expect(bytes(of: input, are: some(half + 100 * size))) }
        #expect(cache.keptBytes == StorageCache.bound)
        let last = held.last.flatMap { place($0) }
        held = []
        var places: [UnsafeRawPointer?] = []
        for _ in 0..<64 {
            var input = ByteInput()
            places.append(read(some(half), into: &input).place)
            held.append(input)
        }
        #expect(places.contains(last))
        cache.removeAll()
        #expect(cache.keptBytes == 0)
    }

    @Test("storage that frames pin beyond their bytes is told once for each block")
    func slack() {
        var input = ByteInput()
        #expect(slack(of: &input) == 0)
        read(some(40_000), into: &input)
        input.skip(40_000)
        input.releaseIfEmpty()  // The frames hold the block.
        #expect(slack(of: &input) == 64 * 1024 - 40_000)
        #expect(slack(of: &input) == 0)
        read(some(100), into: &input)
        #expect(slack(of: &input) == 0)
        // An unfinished frame's storage doubles, and what comes in its tail isn't slack.
        read(some(10), into: &input)
        read(some(20), into: &input)
        #expect(input.pinnedCount == 200)
        #expect(slack(of: &input) == 70)
        read(some(40), into: &input)
        #expect(slack(of: &input) == 0)
        read(some(60_000), into: &input)
        #expect(slack(of: &input) == 64 * 1024 - 60_170)
        read(some(60_000), into: &input)
        input.removeAll()
        #expect(slack(of: &input) == 0)
    }
}
