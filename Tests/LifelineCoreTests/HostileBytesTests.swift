import LifelineCore
import Testing

/// Random bytes into each codec: no trap, bounded memory, and an end.
@Suite("Hostile bytes")
struct HostileBytesTests {
    static let readSize = 512
    static let limit = 300

    private func attack<C: Codec>(_ codec: C, seed: UInt64, sourceLocation: SourceLocation = #_sourceLocation) {
        var generator = SeededGenerator(state: seed)
        // Few different bytes, so that terminators, small lengths and the beginnings of either are frequent.
        let alphabet: [UInt8] = [0, 1, 2, 3, 4, 0x0A, 0x0D, 0x61, 0x62, 0x7F, 0x80, 0xC3, 0xFF]
        var decoder = codec.makeDecoder()
        var input = ByteInput()
        var queue = FrameQueue<C.Decoder.Frame>()
        var fed = 0
        var pinned = 0
        var left = 0
        do {
            for _ in 0..<60 {
                let read = (0..<Int.random(in: 0...Self.readSize, using: &generator)).map { _ in
                    Int.random(in: 0..<4, using: &generator) == 0
                        ? UInt8.random(in: 0...255, using: &generator) : alphabet.randomElement(using: &generator) ?? 0
                }
                fed += read.count
                read.withUnsafeBytes { input.append($0) }
                try decoder._drain(&input, into: &queue, upTo: .max)
                pinned = max(pinned, input.pinnedCount)
                left = max(left, input.count)
                _ = decoder.pending(in: input)
            }
            for _ in 0...3 { if try decoder.finish(&input) == nil { break } }
        } catch {
            // An error stays one: it neither goes away nor loops.
            _ = try? decoder.decode(from: &input)
            _ = try? decoder.finish(&input)
            _ = decoder.pending(in: input)
        }
        #expect(pinned <= 2 * (Self.limit + 32 + Self.readSize), "seed \(seed)", sourceLocation: sourceLocation)
        #expect(left <= Self.limit + 32, "seed \(seed)", sourceLocation: sourceLocation)
        let frames = queue.count
        #expect(frames <= fed, sourceLocation: sourceLocation)
    }

    @Test("into lines", arguments: 0..<10 as Range<UInt64>)
    func lines(seed: UInt64) {
        for terminator in [LineTerminator.lf, .crlf, .either, .delimiter("aab"), .delimiter("\r\n\r")] {
            for overlong in [DelimiterCodec.OverlongRule.fail, .drop] {
                for unterminated in [DelimiterCodec.UnterminatedRule.fail, .deliver] {
                    attack(
                        .lines(
                            accepting: terminator, max: seed % 2 == 0 ? Self.limit : 5, overlong: overlong, unterminated: unterminated,
                            invalidText: .replace), seed: seed)
                    attack(
                        DelimiterCodec(accepting: terminator, max: Self.limit, overlong: overlong, unterminated: unterminated), seed: seed)
                }
            }
            attack(.lines(accepting: terminator, max: Self.limit), seed: seed)
        }
    }

    @Test("into length prefixes", arguments: 0..<10 as Range<UInt64>)
    func lengths(seed: UInt64) {
        for width in LengthLayout.Width.allCases {
            for order in [Endianness.big, .little] {
                for counts in LengthLayout.Counts.allCases {
                    for (offset, trailing, adjustment) in [(0, 0, 0), (2, 1, -3), (1, 3, 5)] {
                        let layout = LengthLayout(
                            width: width, order: order, offset: offset, trailing: trailing, counts: counts, adjustment: adjustment,
                            keepsHeader: seed % 2 == 0)
                        attack(.lengthPrefixed(layout: layout, max: Self.limit), seed: seed)
                    }
                }
            }
        }
    }

    @Test("into raw bytes", arguments: 0..<5 as Range<UInt64>)
    func raw(seed: UInt64) {
        attack(.raw, seed: seed)
    }

    @Test("into headers, texts and types", arguments: 0..<5 as Range<UInt64>)
    func headers(seed: UInt64) {
        attack(HeaderCodec(PackedHeader.self, max: Self.limit), seed: seed)
        attack(HeaderCodec(PackedHeader.self, max: Self.limit, check: .xor(from: 2)), seed: seed)
        for order in [Endianness.big, .little] {
            for counts in RequestHeaderCodec.Counts.allCases { attack(.requestHeader(order, counts: counts, max: Self.limit), seed: seed) }
            for width in LengthLayout.Width.allCases {
                attack(.prefixedString(length: width, order, max: Self.limit, invalidText: .replace), seed: seed)
                attack(.tlv(type: UInt16.self, length: width, order, counts: .wholeFrame, max: Self.limit), seed: seed)
            }
        }
        attack(.netstring(max: Self.limit), seed: seed)
        attack(.fixedSize(Self.limit), seed: seed)
    }

    @Test("into searches for the next frame", arguments: 0..<5 as Range<UInt64>)
    func searches(seed: UInt64) {
        for budget in [0, 100, 1 << 20] {
            for rule in [RejectedFrameRule.searchInside, .skipWhole] {
                attack(
                    HeaderCodec(PackedHeader.self, max: Self.limit, check: .xor(from: 2)).resynchronizing(budget: budget, rejected: rule),
                    seed: seed)
            }
            attack(.typeHeader(max: Self.limit, budget: budget), seed: seed)
            attack(RequestHeaderCodec(max: Self.limit).resynchronizing(budget: budget), seed: seed)
            attack(TLVCodec(type: UInt8.self, max: Self.limit).resynchronizing(budget: budget), seed: seed)
            for width in LengthLayout.Width.allCases {
                let layout = LengthLayout(width: width, trailing: 1, counts: .wholeFrame, adjustment: 3)
                attack(LengthPrefixCodec(layout: layout, max: Self.limit).resynchronizing(budget: budget), seed: seed)
            }
        }
    }
}
