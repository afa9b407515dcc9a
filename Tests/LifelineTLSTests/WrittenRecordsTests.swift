import LifelineCore
import Testing

@testable import LifelineTLS

/// What counts as written: a byte whose record has been taken as a whole.
struct WrittenRecordsTests {
    @Test func aByteIsWrittenWithTheWholeOfItsRecord() {
        var records = WrittenRecords()
        records.add(plain: 100, pending: 122)
        records.add(plain: 50, pending: 194)
        records.advance(121)
        #expect(records.report(atMost: 1000) == 0)
        #expect(records.isCut)
        records.advance(1)
        #expect(records.report(atMost: 1000) == 100)
        #expect(records.ahead == 50)
        records.advance(72)
        #expect(records.report(atMost: 1000) == 50)
        #expect(records.ahead == 0)
        #expect(!records.isCut)
    }

    @Test func noMoreIsReportedThanWasOffered() {
        var records = WrittenRecords()
        records.add(plain: 100, pending: 122)
        records.advance(122)
        #expect(records.report(atMost: 30) == 30)
        #expect(records.ahead == 70)
        #expect(records.report(atMost: 1000) == 70)
    }

    @Test func bytesBesideRecordsCountToo() {
        var records = WrittenRecords()
        // Thirty bytes of something else stand before it.
        records.add(plain: 10, pending: 62)
        records.advance(61)
        #expect(records.report(atMost: 10) == 0)
        records.advance(1)
        #expect(records.report(atMost: 10) == 10)
    }

    @Test func piecesAreGatheredAcrossRegionsAndSkipped() {
        let regions: [Bytes] = ["ab", "", "cdef", "g", "hij"]
        var source = PlainSource(regions[...], skipping: 1)
        #expect(source.left == 9)
        var pieces: [String] = []
        while !source.isEmpty {
            _ = try? source.next(atMost: 4) { piece in
                pieces.append(String(decoding: piece, as: UTF8.self))
                return piece.count
            }
        }
        #expect(pieces == ["bcde", "fghi", "j"])
    }

    @Test func aPieceMayBeTakenInPart() {
        var source = PlainSource([Bytes("abcdef")][...], skipping: 0)
        let taken = try? source.next(atMost: 4) { _ in 2 }
        #expect(taken == 2)
        #expect(source.left == 4)
        #expect(PlainSource([Bytes("ab")][...], skipping: 7).isEmpty)
    }
}
