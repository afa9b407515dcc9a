import LifelineCore
import Testing

@Suite("FixedSizeCodec")
struct FixedSizeCodecTests {
    @Test("C01: frames cut and glued", arguments: [1, 2, 7])
    func c01CutAndGlued(size: Int) throws {
        let frames = (1...3).map { Bytes(repeatElement(UInt8($0), count: size)) }
        let outcome = feedEveryWay(.fixedSize(size), try encode(.fixedSize(size), frames[0], frames[1], frames[2]))
        #expect(outcome.frames == frames)
        #expect(outcome.error == nil)
    }

    @Test("C10: a stream cut inside a frame is an error that says how much is there")
    func c10CutInside() {
        let outcome = feedEveryWay(.fixedSize(10), utf8("0123456789sixsix"))
        #expect(outcome.frames == [Bytes("0123456789")])
        #expect(outcome.error?.code == .truncated)
        #expect(outcome.error?.pending == PendingFrame(received: 6, expected: 10))
    }

    @Test("a frame of another size isn't sent, and no size is below 1")
    func otherSizes() {
        for count in [0, 9, 11] { #expect(refusal(.fixedSize(10), Bytes(repeatElement(0, count: count))) == .unencodable) }
        for size in [0, -1, Int.min] { #expect(FixedSizeCodec(size).byteCount == 1) }
        #expect(feedEveryWay(.fixedSize(.max), [1, 2]).error?.pending == PendingFrame(received: 2, expected: .max))
    }
}
