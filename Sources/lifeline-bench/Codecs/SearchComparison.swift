import CLifelineBench
import Lifeline
import LifelineCore

/// A search through 1 MiB, against what the C library needs for the same.
struct SearchOutcome {
    let name: String
    let milliseconds: Double
    /// How much longer it takes than `memchr` or `memmem`; nil where there is nothing to compare.
    let ratio: Double?
}

extension CodecComparison {
    private static let size = 1024 * 1024

    /// Delimiters of several kinds at the end of texts of several kinds.
    func searches() throws -> [SearchOutcome] {
        var outcomes: [SearchOutcome] = []
        let letters = Self.text(of: Array("etaoinshrdlu bcfgmpwyABCDEF0123456789".utf8))
        let few = Self.text(of: Array("ab\r".utf8))
        for (name, text, delimiter) in [
            ("LF", letters, "\n"), ("CR LF", letters, "\r\n"), ("CR LF among CRs", few, "\r\n"), ("CR LF CR LF", letters, "\r\n\r\n"),
            ("END!", letters, "END!"), ("</message>", letters, "</message>"), ("e frequent: eof!", letters, "eof!"),
            ("aab among a and b", few, "aaaaaaaaaaaaaaab"), ("40 bytes", letters, String(repeating: "0123456789", count: 4)),
        ] {
            let needle = Bytes(delimiter)
            let haystack = Bytes(Array(text) + Array(needle))
            let codec = DelimiterCodec(accepting: .delimiter(try Delimiter(needle)), max: 2 * Self.size)
            let mine = try median { try Self.find(codec, in: haystack) }
            let theirs = median { Self.search(haystack, for: needle) }
            outcomes.append(SearchOutcome(name: name, milliseconds: mine * 1e3, ratio: mine / theirs))
        }
        return outcomes
    }

    /// One good packet behind 1 MiB of garbage of several kinds; the last is made to cost the most.
    func resynchronisations() throws -> [SearchOutcome] {
        let mark: [UInt8] = [1, 0, 0, 0, 0xFF, 0xFF, 0, 0]
        let kinds: [(String, [UInt8])] = [
            ("random bytes", Self.text(of: Array(0...255))), ("zeros", [UInt8](repeating: 0, count: Self.size)),
            ("versions that are right", (0..<Self.size).map { mark[$0 % 8] }),
            ("headers with wrong lengths", (0..<Self.size).map { $0 % 16 == 0 ? 1 : $0 % 16 < 12 ? 0 : 0xFF }),
        ]
        return try kinds.map { name, garbage in
            let codec: Resynchronizing<HeaderCodec<TypeHeader>> = .typeHeader(budget: 2 * Self.size)
            var encoder = codec
            var output = ByteOutput()
            garbage.withUnsafeBytes { output.append($0) }
            try encoder.encode(Packet(header: TypeHeader(mainType: 1), body: Bytes("found")), into: &output)
            let stream = output.finish()
            let seconds = try median { try Self.find(codec, in: stream) }
            return SearchOutcome(name: name, milliseconds: seconds * 1e3, ratio: nil)
        }
    }

    func median(_ pass: () throws -> Int) rethrows -> Double {
        try (0..<rounds).map { _ in try time(pass) }.sorted()[rounds / 2]
    }

    @inline(never)
    private static func find<C: Codec>(_ codec: C, in haystack: Bytes) throws -> Int {
        var decoder = codec.makeDecoder()
        var input = ByteInput(haystack)
        guard try decoder.decode(from: &input) != nil, input.isEmpty else { throw Trouble("the delimiter wasn't found") }
        return 1
    }

    @inline(never)
    private static func search(_ haystack: Bytes, for needle: Bytes) -> Int {
        haystack.withUnsafeBytes { haystack in
            needle.withUnsafeBytes { needle in
                llb_search(haystack.baseAddress, haystack.count, needle.baseAddress, needle.count)
            }
        }
    }

    /// Bytes of `alphabet`, the same ones each time.
    static func text(of alphabet: [UInt8]) -> [UInt8] {
        var state: UInt64 = 1
        return (0..<size).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return alphabet[Int(state >> 33) % alphabet.count]
        }
    }
}
