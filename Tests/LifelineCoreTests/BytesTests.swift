import LifelineCore
import Testing

@Suite("Bytes")
struct BytesTests {
    @Test("indices count from zero, in slices of slices too")
    func zeroBased() {
        let bytes = Bytes("0123456789")
        let slice = bytes.slice(2..<8)
        #expect(slice.startIndex == 0)
        #expect(slice.count == 6)
        #expect(slice[0] == 0x32)
        let inner = slice.slice(1..<3)
        #expect(inner.map { $0 } == utf8("34"))
        #expect(inner[1] == 0x34)
        #expect(bytes.slice(10..<10).isEmpty)
        #expect(Bytes().slice(0..<0).isEmpty)
    }

    @Test("a slice shares storage")
    func shares() {
        let bytes = Bytes("0123456789")
        let places = [bytes, bytes.slice(3..<5)].map { $0.withUnsafeBytes { $0.baseAddress } }
        #expect(places[1] == places[0].map { $0 + 3 })
    }

    @Test("equality and hashing look at the bytes alone")
    func equality() {
        let slice = Bytes("xxabcxx").slice(2..<5)
        #expect(slice == Bytes("abc"))
        #expect(slice.hashValue == Bytes("abc").hashValue)
        #expect(slice != Bytes("abd"))
        #expect(slice != Bytes("ab"))
        #expect(slice != Bytes("abcd"))
        #expect(Bytes() == Bytes("x").slice(1..<1))
        #expect(Bytes().hashValue == Bytes("x").slice(1..<1).hashValue)
        #expect(Set([slice, Bytes("abc"), Bytes("abd")]).count == 2)
    }

    @Test("compacted() copies only what isn't alone in its storage")
    func compacted() {
        let bytes = Bytes("0123456789")
        #expect(bytes.compacted().withUnsafeBytes { $0.baseAddress } == bytes.withUnsafeBytes { $0.baseAddress })
        let slice = bytes.slice(4..<6)
        #expect(slice.compacted() == slice)
        #expect(slice.compacted().withUnsafeBytes { $0.baseAddress } != slice.withUnsafeBytes { $0.baseAddress })
        #expect(bytes.slice(3..<3).compacted().isEmpty)
        #expect(Bytes().compacted().isEmpty)
    }

    @Test("made from sequences with and without storage of their own, texts and literals")
    func made() {
        #expect(Bytes([1, 2, 3]) == [1, 2, 3])
        #expect(Bytes((1...3).lazy.map { UInt8($0) }) == [1, 2, 3])
        #expect(Bytes(sequence(first: 1) { $0 < 3 ? $0 + 1 : nil }) == [1, 2, 3])
        #expect(Bytes("€") == [0xE2, 0x82, 0xAC])
        #expect(Bytes([UInt8]()).isEmpty)
        #expect(Bytes(copying: UnsafeRawBufferPointer(start: nil, count: 0)).isEmpty)
        #expect(Array(Bytes([5, 6]).reversed()) == [6, 5])
    }

    @Test("back to text, strictly and with repair")
    func texts() {
        #expect(String(validating: Bytes("€")) == "€")
        #expect(String(validating: [0xE2, 0x82]) == nil)
        #expect(String([0x61, 0xFF] as Bytes) == "a\u{FFFD}")
        #expect(String(validating: Bytes()) == "")
        #expect(String(Bytes()) == "")
    }

    @Test("printed in hexadecimal, not without bound")
    func printed() {
        #expect(([0, 0x1F, 0xFF] as Bytes).description == "001fff (3 bytes)")
        let long = Bytes(repeatElement(0xAB, count: 65)).description
        #expect(long == String(repeating: "ab", count: 64) + "… (65 bytes)")
    }
}
