/// A promise that a codec doesn't keep, with the smallest input that shows it.
///
/// Thrown by ``CodecVerifier``. Its description is complete: the rule, the bytes with their offsets and cuts, what was expected and
/// what was seen, and the reads as a literal to paste into a test.
public struct CodecFault: Error, Sendable {
    /// What every codec has to keep.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// What is sent comes out of the decoder as it was, each frame when its last byte has arrived.
        case roundTrip = "what is sent is what is received"
        /// Frames, findings, what is pending and the error don't depend on how the stream was cut into reads.
        case cutting = "cuts change nothing"
        /// A stream that ends inside a frame gives the whole frames before it and then an error, or what the codec declares.
        case truncation = "an end inside a frame isn't a clean end"
        /// A frame above the limit is refused in time, on receipt and on sending; one at the limit is not.
        case limit = "limits are exact and checked in time"
        /// An unfinished frame pins no more than the limit allows.
        case memory = "memory is bounded"
        /// Decoding and finishing come to an end.
        case work = "work is bounded by the bytes received"
        /// What has arrived of an unfinished frame isn't gone through again with each read.
        case rescan = "nothing is searched twice"
        /// After an error come no more frames.
        case error = "an error stays an error"
        /// ``LifelineCore/FrameDecoder/pending(in:)`` says what is there.
        case pending = "what is pending is told as it is"
        /// An `encode` that throws writes nothing and changes nothing; what is written before stays.
        case encoding = "an encode that throws has done nothing"
        /// An encoder that says it is stateless is.
        case stateless = "a stateless encoder has no state"
    }

    /// The rule that is broken.
    public let rule: Rule
    /// The codec's type.
    public let codec: String
    /// The smallest input found that shows it, as it was read: each element is one read. For a fault of an encoder, what it wrote.
    public let reads: [[UInt8]]
    /// Whether the stream ended behind the last read.
    public let ends: Bool
    /// What should have come of it.
    public let expected: String
    /// What did.
    public let seen: String
    /// How it was found: which messages, or which seed.
    public let origin: String
}

extension CodecFault: CustomStringConvertible {
    /// All of it, over several lines.
    public var description: String {
        var lines = [
            "\(codec) breaks a rule: \(rule.rawValue)",
            "  expected: \(expected)",
            "  seen:     \(seen)",
            "  found in: \(origin)",
        ]
        if ends || !reads.isEmpty {
            let count = reads.reduce(0) { $0 + $1.count }
            let size = "\(count) \(count == 1 ? "byte" : "bytes") in \(reads.count) \(reads.count == 1 ? "read" : "reads")"
            lines.append("  input:    \(size)\(ends ? ", then the end" : "")")
            lines += HexDump.lines(of: reads).map { "    \($0)" }
            lines.append("  to paste: \(HexDump.literal(of: reads))")
        }
        return lines.joined(separator: "\n")
    }
}
