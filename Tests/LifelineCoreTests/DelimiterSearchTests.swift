import LifelineCore
import Testing

/// Delimiters of every kind in texts of every kind, against a search that is too simple to be wrong.
@Suite("Searching for a delimiter")
struct DelimiterSearchTests {
    /// The frames before each of `delimiter`, and what is left.
    private func split(_ text: [UInt8], by delimiter: [UInt8]) -> (frames: [[UInt8]], rest: Int) {
        var frames: [[UInt8]] = []
        var start = 0
        var position = 0
        while position + delimiter.count <= text.count {
            if text[position..<position + delimiter.count].elementsEqual(delimiter) {
                frames.append(Array(text[start..<position]))
                position += delimiter.count
                start = position
            } else {
                position += 1
            }
        }
        return (frames, text.count - start)
    }

    @Test("finds the same as a simple search, whole, in pieces and byte by byte", arguments: 0..<40 as Range<UInt64>)
    func same(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        let letters = Int.random(in: 1...5, using: &generator)
        func drawn(_ count: Int) -> [UInt8] { (0..<count).map { _ in 0x61 + UInt8(Int.random(in: 0..<letters, using: &generator)) } }
        let delimiter = drawn([2, 3, 4, 5, 8, 17, 40, 300].randomElement(using: &generator)!)
        var text = drawn(Int.random(in: 0...3000, using: &generator))
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            text.insert(contentsOf: delimiter, at: Int.random(in: 0...text.count, using: &generator))
        }
        let codec = DelimiterCodec(accepting: .delimiter(try Delimiter(Bytes(delimiter))))
        let expected = split(text, by: delimiter)
        var pieces: [[UInt8]] = []
        var rest = text[...]
        while !rest.isEmpty {
            let size = Int.random(in: 1...Swift.min(rest.count, 700), using: &generator)
            pieces.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        for reads in [[text], pieces, text.map { [$0] }] {
            let outcome = feed(codec, reads, ends: false)
            #expect(outcome.frames.map { Array($0) } == expected.frames)
            #expect(outcome.pending?.received ?? 0 == expected.rest)
        }
        let input = ByteInput(Bytes(text))
        #expect(input.firstIndex(of: Bytes(delimiter)) == (expected.frames.first?.count))
    }

    @Test("a delimiter longer than the shifts that a byte can hold is found")
    func long() throws {
        let delimiter = (0..<1000).map { UInt8($0 % 251) }
        let text = (0..<5000).map { UInt8($0 % 7) } + delimiter
        let codec = DelimiterCodec(accepting: .delimiter(try Delimiter(Bytes(delimiter))))
        #expect(feed(codec, [text]).frames.map(\.count) == [5000])
    }
}
