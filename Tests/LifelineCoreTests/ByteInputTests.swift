import LifelineCore
import Testing

@Suite("ByteInput")
struct ByteInputTests {
    private func append(_ text: String, to input: inout ByteInput) {
        utf8(text).withUnsafeBytes { input.append($0) }
    }

    private func text(_ input: ByteInput) -> String {
        input.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test("the storage of a read with nothing left over has exactly its size")
    func exactSize() {
        var input = ByteInput()
        append("12345", to: &input)
        #expect(input.pinnedCount == 5)
        input.skip(5)
        append("123", to: &input)
        #expect(input.pinnedCount == 3)
    }

    @Test("an unfinished frame's storage doubles and then takes what comes in its tail")
    func doubles() {
        var input = ByteInput()
        append(String(repeating: "a", count: 100), to: &input)
        append("b", to: &input)
        #expect(input.pinnedCount == 200)
        let place = input.withUnsafeBytes { $0.baseAddress }
        for _ in 0..<99 { append("c", to: &input) }
        #expect(input.pinnedCount == 200)
        #expect(input.withUnsafeBytes { $0.baseAddress } == place)
        append("d", to: &input)
        #expect(input.pinnedCount == 400)
        #expect(text(input) == String(repeating: "a", count: 100) + "b" + String(repeating: "c", count: 99) + "d")
    }

    @Test("a chunk larger than what is left decides the size itself")
    func largeChunk() {
        var input = ByteInput()
        append("a", to: &input)
        append(String(repeating: "b", count: 50), to: &input)
        #expect(input.pinnedCount == 51)
        #expect(input.count == 51)
    }

    @Test("only what is left moves into larger storage")
    func dropsTaken() {
        var input = ByteInput()
        append(String(repeating: "a", count: 100) + "bc", to: &input)
        input.skip(100)
        append("d", to: &input)
        #expect(input.pinnedCount == 4)
        #expect(text(input) == "bcd")
    }

    @Test("slices taken before an append keep their contents", arguments: 0..<20 as Range<UInt64>)
    func slicesStay(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        var input = ByteInput()
        var sent: [UInt8] = []
        var taken: [Bytes] = []
        var copies: [[UInt8]] = []
        for _ in 0..<200 {
            let chunk = (0..<Int.random(in: 0...40, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            sent += chunk
            chunk.withUnsafeBytes { input.append($0) }
            while Bool.random(using: &generator), let bytes = input.read(Int.random(in: 0...30, using: &generator)) {
                taken.append(bytes)
                copies.append(Array(bytes))
            }
            if Int.random(in: 0..<8, using: &generator) == 0 { input.releaseIfEmpty() }
        }
        #expect(taken.map { Array($0) } == copies)
        #expect(copies.flatMap { $0 } + input.withUnsafeBytes { Array($0) } == sent)
    }

    @Test("two copies that both append don't write over one another")
    func copies() {
        var first = ByteInput()
        append(String(repeating: "a", count: 8), to: &first)
        append("b", to: &first)  // storage with a free tail
        var second = first
        append("1", to: &first)
        append("2", to: &second)
        #expect(text(first) == "aaaaaaaab1")
        #expect(text(second) == "aaaaaaaab2")
    }

    @Test("integers at any offset, in either order, and nil where they aren't whole")
    func peeks() {
        let input = ByteInput([0, 1, 2, 3, 4, 5, 6, 7, 8])
        for offset in 0...7 {
            let big: UInt16? = input.peek(at: offset)
            #expect(big == UInt16(offset) << 8 | UInt16(offset + 1))
            #expect(input.peek(UInt16.self, at: offset, .little) == UInt16(offset + 1) << 8 | UInt16(offset))
        }
        #expect(input.peek(UInt64.self, at: 1) == 0x0102_0304_0506_0708)
        #expect(input.peek(UInt32.self, at: 3, .little) == 0x0605_0403)
        #expect(input.peek(UInt64.self, at: 2) == nil)
        #expect(input.peek(UInt16.self, at: 8) == nil)
        #expect(input.peek(Int8.self, at: 8) == 8)
    }

    @Test("reading takes all or nothing")
    func reads() {
        var input = ByteInput([0xFF, 0xFE, 1])
        #expect(input.read(UInt32.self) == nil)
        #expect(input.count == 3)
        #expect(input.read(Int16.self) == -2)
        #expect(input.read(2) == nil)
        #expect(input.read(1) == [1])
        #expect(input.isEmpty)
        #expect(input.read(0) == Bytes())
        #expect(input.read(UInt8.self) == nil)
    }

    @Test("negative and huge arguments are answered with nothing")
    func oddArguments() {
        for bytes in [[], [1, 2, 3]] as [Bytes] {
            var input = ByteInput(bytes)
            for odd in [Int.min, -1, 4, .max] {
                #expect(input.peek(UInt8.self, at: odd) == nil)
                #expect(input.peek(UInt64.self, at: odd) == nil)
                #expect(input.read(odd) == nil)
                #expect(input.firstIndex(of: 1, from: odd) == nil)
            }
            #expect(input.peek(-1..<1) == nil)
            #expect(input.peek(Int.min..<Int.max) == nil)
            #expect(input.peek(0..<4) == nil)
            #expect(input.peek(4..<4) == nil)
            input.skip(-1)
            input.skip(.min)
            #expect(input.count == bytes.count)
            input.skip(.max)
            #expect(input.isEmpty)
        }
    }

    @Test("a byte is found at or behind an offset")
    func findsBytes() {
        var input = ByteInput(Bytes("xab ab"))
        input.skip(1)
        #expect(input.firstIndex(of: 0x61) == 0)
        #expect(input.firstIndex(of: 0x61, from: 1) == 3)
        #expect(input.firstIndex(of: 0x61, from: 4) == nil)
        #expect(input.firstIndex(of: 0x78) == nil)
        #expect(ByteInput().firstIndex(of: 0) == nil)
    }

    @Test("a delimiter of any length is found where a simple search finds it", arguments: 0..<20 as Range<UInt64>)
    func findsDelimiters(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        func letters(_ count: Int) -> [UInt8] { (0..<count).map { _ in Int.random(in: 0..<5, using: &generator) == 0 ? 0x62 : 0x61 } }
        for _ in 0..<100 {
            let text = letters(.random(in: 0...80, using: &generator))
            var needle = letters(.random(in: 1...24, using: &generator))
            if needle.count < text.count, Bool.random(using: &generator) {
                let start = Int.random(in: 0...text.count - needle.count, using: &generator)
                needle = Array(text[start..<start + needle.count])
            }
            let from = Int.random(in: -2...max(0, text.count), using: &generator)
            let places = max(0, from)..<max(max(0, from), text.count - needle.count + 1)
            let expected = places.first { text[$0..<$0 + needle.count].elementsEqual(needle) }
            #expect(ByteInput(Bytes(text)).firstIndex(of: Bytes(needle), from: from) == expected, "seed \(seed)")
        }
        #expect(ByteInput([1]).firstIndex(of: Bytes()) == nil)
        #expect(ByteInput().firstIndex(of: Bytes(repeatElement(1, count: 20)), from: .max) == nil)
    }

    @Test("storage is given up when nothing is left, and only then")
    func releases() {
        var input = ByteInput()
        append("ab", to: &input)
        input.skip(1)
        input.releaseIfEmpty()
        #expect(text(input) == "b")
        input.skip(1)
        input.releaseIfEmpty()
        #expect(input.pinnedCount == 0)
        append("cd", to: &input)
        input.stopAfterFrame()
        input.removeAll()
        #expect(input.isEmpty && input.pinnedCount == 0 && !input.isStopped)
        append("", to: &input)
        #expect(input.pinnedCount == 0)
    }

    @Test("findings are told once, in order")
    func findings() {
        var input = ByteInput()
        #expect(!input.hasFindings)
        input.report(Finding(.skippedBytes, byteCount: 12))
        input.report(Finding(.droppedFrame, byteCount: 3))
        #expect(input.hasFindings)
        #expect(input.takeFindings().map(\.description) == ["skipped bytes: 12", "dropped frame: 3"])
        #expect(input.takeFindings().isEmpty)
        #expect(!input.hasFindings)
    }
}
