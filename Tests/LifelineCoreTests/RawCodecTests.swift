import LifelineCore
import Testing

@Suite("RawCodec")
struct RawCodecTests {
    @Test("each decode takes all that is there")
    func takesAll() {
        let outcome = feed(RawCodec.raw.makeDecoder(), [utf8("ab"), utf8("c"), [], utf8("def")])
        #expect(outcome.frames == [Bytes("ab"), Bytes("c"), Bytes("def")])
        #expect(outcome.error == nil)
        #expect(outcome.pending == nil)
    }

    @Test("nothing is unfinished at the end, and nothing is an empty frame")
    func endIsClean() throws {
        #expect(feed(RawCodec().makeDecoder(), []).frames.isEmpty)
        var input = ByteInput(Bytes("abc"))
        #expect(RawCodec().pending(in: input) == nil)
        var decoder = RawCodec()
        #expect(try decoder.finish(&input) == nil)
    }

    @Test("bytes go out as they are")
    func encodes() throws {
        #expect(try encode(.raw, Bytes("ab"), Bytes(), Bytes("c")) == utf8("abc"))
    }
}
