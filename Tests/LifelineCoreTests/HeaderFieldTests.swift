import LifelineCore
import Testing

/// What headers with text and arrays in them are made with.
struct HeaderFieldTests {
    private struct Header: FixedHeader {
        static var byteCount: Int { 1 }
        init(from input: ByteInput) {}
        func write(to output: inout ByteOutput) { output.append(0) }
        var bodyCount: Int? { 0 }
        mutating func setBodyCount(_ count: Int) {}
    }

    @Test func whatIsMissingIsFilledUpWithZeros() throws {
        #expect(try Header.filled(Bytes("ab"), to: 4) == [0x61, 0x62, 0, 0])
        #expect(try Header.filled(Bytes("abcd"), to: 4) == Bytes("abcd"))
        #expect(try Header.filled([1, -2] as [Int16], to: 3) == [1, -2, 0])
        #expect(try Header.filled([] as [UInt64], to: 2) == [0, 0])
    }

    @Test func moreThanTheFieldHasIsRefused() {
        #expect(throws: SocketError(.unencodable, "")) { try Header.filled(Bytes("abcde"), to: 4) }
        #expect(throws: SocketError(.unencodable, "")) { try Header.filled([1, 2, 3] as [UInt8], to: 2) }
    }

    @Test func textGoesUpToTheFirstNUL() {
        #expect(Header.text(of: Bytes("ab\0cd")) == "ab")
        #expect(Header.text(of: Bytes("abcd")) == "abcd")
        #expect(Header.text(of: Bytes("\0ab")) == "")
        #expect(Header.text(of: Bytes()) == "")
        #expect(Header.text(of: [0xC3, 0, 0xA4]) == nil, "cut inside a character")
    }
}
