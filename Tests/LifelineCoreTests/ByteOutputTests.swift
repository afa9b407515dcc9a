import LifelineCore
import Testing

@Suite("ByteOutput")
struct ByteOutputTests {
    private let large = Bytes(repeatElement(0x4C, count: 16 * 1024))

    private func finished(_ output: consuming ByteOutput) -> [UInt8] { Array(output.finish()) }

    @Test("all that is written stands in one run, in order")
    func writes() {
        var output = ByteOutput()
        output.append(0x01)
        output.append(0x0203 as UInt16, .big)
        output.append(0x0405_0607 as UInt32, .little)
        output.append(-2 as Int16, .big)
        output.append(Bytes("ab"))
        output.append(Bytes())
        output.append(utf8: "€")
        utf8("raw").withUnsafeBytes { output.append($0) }
        output.append(UnsafeRawBufferPointer(start: nil, count: 0))
        let count = output.count
        #expect(count == 17)
        #expect(finished(output) == [1, 2, 3, 7, 6, 5, 4, 0xFF, 0xFE, 0x61, 0x62, 0xE2, 0x82, 0xAC] + utf8("raw"))
        #expect(finished(ByteOutput()).isEmpty)
    }

    @Test("writing past the first block keeps what was written")
    func grows() {
        var output = ByteOutput()
        var expected: [UInt8] = []
        for number in 0..<5_000 {
            output.append(UInt8(number & 0xFF))
            output.append(UInt32(number), .big)
            expected += [UInt8(number & 0xFF), 0, 0, UInt8(number >> 8), UInt8(number & 0xFF)]
        }
        #expect(finished(output) == expected)
    }

    @Test("large bytes are taken by reference, between what was written before and behind")
    func byReference() {
        var output = ByteOutput()
        output.append(1)
        output.append(large)
        output.append(2)
        output.append(3)
        let count = output.count
        #expect(count == large.count + 3)
        let regions = output.takeRegions()
        #expect(regions == [[1], large, [2, 3]])
        #expect(regions[1].withUnsafeBytes { $0.baseAddress } == large.withUnsafeBytes { $0.baseAddress })
    }

    @Test("joined when it is asked for in one run")
    func joins() {
        var output = ByteOutput()
        output.append(large)
        output.append(9)
        output.append(large)
        #expect(finished(output) == Array(large) + [9] + Array(large))
        var one = ByteOutput()
        one.append(large)
        let bytes = one.finish()
        #expect(bytes.withUnsafeBytes { $0.baseAddress } == large.withUnsafeBytes { $0.baseAddress })
    }

    @Test("no regions where nothing was written")
    func noRegions() {
        #expect(ByteOutput().takeRegions().isEmpty)
        var output = ByteOutput()
        let mark = output.mark
        output.append(1)
        output.rewind(to: mark)
        #expect(output.takeRegions().isEmpty)
        var sealed = ByteOutput()
        let start = sealed.mark
        sealed.append(1)
        sealed.append(large)
        sealed.rewind(to: start)
        #expect(sealed.takeRegions().isEmpty)
    }

    @Test("a length that is known only at the end is written over its place")
    func overwrites() throws {
        var output = ByteOutput()
        output.append(7)
        output.append(0 as UInt32, .big)
        output.append(utf8: "abc")
        try output.overwrite(at: 1, with: 3 as UInt32, .big)
        #expect(finished(output) == [7, 0, 0, 0, 3] + utf8("abc"))
    }

    @Test("writing over what isn't there, or is sealed, is misuse and changes nothing")
    func overwritesOutside() {
        for position in [-1, 5, 7, Int.min, Int.max] {
            var output = ByteOutput()
            output.append(0x0101_0101_0101_0101 as UInt64, .big)
            do throws(SocketError) {
                try output.overwrite(at: position, with: 0 as UInt32, .big)
                Issue.record("position \(position)")
            } catch {
                #expect(error.code == .misuse)
            }
            #expect(finished(output) == Array(repeating: 1, count: 8))
        }
        var sealed = ByteOutput()
        sealed.append(1 as UInt32, .big)
        sealed.append(large)
        sealed.append(2 as UInt32, .big)
        #expect((try? sealed.overwrite(at: 0, with: 9 as UInt32, .big)) == nil)
        #expect((try? sealed.overwrite(at: large.count + 2, with: 9 as UInt32, .big)) == nil)
        #expect((try? sealed.overwrite(at: large.count + 4, with: 9 as UInt32, .big)) != nil)
        #expect(sealed.takeRegions() == [[0, 0, 0, 1], large, [0, 0, 0, 9]])
        var empty = ByteOutput()
        #expect((try? empty.overwrite(at: 0, with: 9 as UInt32, .big)) == nil)
    }

    @Test("what stood before a mark stays, whatever was written behind it")
    func rewinds() {
        // What is written before the mark, and behind it: B a small piece, L a large one.
        for before in ["", "B", "L", "BL", "LB", "BLB", "LL"] {
            for behind in ["", "B", "L", "BL", "LB", "BLB", "LL", "LBL", "G"] {
                var output = ByteOutput()
                var expected: [UInt8] = []
                var next: UInt8 = 0
                for piece in before {
                    next += 1
                    write(piece, next, into: &output)
                    expected += piece == "L" ? Array(large) : [next, next]
                }
                let mark = output.mark
                for piece in behind { write(piece, 0xEE, into: &output) }
                output.rewind(to: mark)
                let count = output.count
                #expect(count == expected.count, "“\(before)” then “\(behind)”")
                // Writing goes on, and a second time back.
                output.append(0x77)
                let again = output.mark
                output.append(large)
                output.append(0x78)
                output.rewind(to: again)
                output.append(0x79)
                let regions = output.takeRegions()
                #expect(regions.flatMap { Array($0) } == expected + [0x77, 0x79], "“\(before)” then “\(behind)”")
            }
        }
    }

    private func write(_ piece: Character, _ byte: UInt8, into output: inout ByteOutput) {
        switch piece {
        case "L": output.append(large)
        case "G": for _ in 0..<1_000 { output.append(byte) }
        default:
            output.append(byte)
            output.append(byte)
        }
    }

    @Test("bytes that were finished aren't touched by what is written later")
    func regionsStay() {
        var output = ByteOutput(expecting: 4_096)
        output.append(utf8: "kept")
        let mark = output.mark
        output.append(large)
        output.rewind(to: mark)
        output.append(utf8: "later")
        #expect(output.takeRegions().map { String($0) } == ["kept", "later"])
    }
}
