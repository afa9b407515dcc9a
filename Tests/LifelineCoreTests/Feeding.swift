import LifelineCore
import Testing

/// What a decoder made of a stream.
struct Outcome<Frame: Sendable> {
    var frames: [Frame] = []
    var error: SocketError?
    var findings: [Finding] = []
    /// The most bytes that stood in the input's storage at any time.
    var peak = 0
    /// What was pending before the end of the stream.
    var pending: PendingFrame?
}

extension Outcome: Equatable where Frame: Equatable {
    static func == (left: Outcome, right: Outcome) -> Bool {
        left.frames == right.frames && left.error == right.error && left.findings == right.findings
    }
}

/// Feeds a decoder as a connection does: what was read is appended and decoded; at the end the rest is finished.
func feed<Decoder: FrameDecoder>(_ decoder: Decoder, _ reads: [[UInt8]], ends: Bool = true) -> Outcome<Decoder.Frame> {
    var decoder = decoder
    var input = ByteInput()
    var queue = FrameQueue<Decoder.Frame>()
    var outcome = Outcome<Decoder.Frame>()
    do {
        for read in reads {
            read.withUnsafeBytes { input.append($0) }
            outcome.peak = max(outcome.peak, input.pinnedCount)
            try decoder._drain(&input, into: &queue, upTo: .max)
            input.releaseIfEmpty()
        }
        outcome.pending = decoder.pending(in: input)
        if ends {
            while let frame = try decoder.finish(&input) { queue.append(frame) }
        }
    } catch {
        outcome.error = SocketError(decoding: error)
    }
    outcome.frames = queue.takeAll()
    outcome.findings = input.takeFindings()
    return outcome
}

/// Feeds `stream` whole, in each of its two-part cuts and byte by byte, expects the same each time and returns it.
func feedEveryWay<C: Codec>(
    _ codec: C, _ stream: [UInt8], ends: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) -> Outcome<C.Decoder.Frame> where C.Decoder.Frame: Equatable {
    let whole = feed(codec.makeDecoder(), [stream], ends: ends)
    for cut in 0...stream.count {
        let cutInTwo = feed(codec.makeDecoder(), [Array(stream[..<cut]), Array(stream[cut...])], ends: ends)
        #expect(cutInTwo == whole, "cut at \(cut)", sourceLocation: sourceLocation)
    }
    let single = feed(codec.makeDecoder(), stream.map { [$0] }, ends: ends)
    #expect(single == whole, "byte by byte", sourceLocation: sourceLocation)
    return whole
}

/// The bytes that a codec's encoder makes of frames, one after the other.
func encode<C: Codec>(_ codec: C, _ frames: C.Encoder.Frame...) throws -> [UInt8] {
    var encoder = codec.makeEncoder()
    var output = ByteOutput()
    for frame in frames { try encoder.encode(frame, into: &output) }
    return Array(output.finish())
}

/// The code of the error that encoding throws; nil if it doesn't. Expects that such an encode writes nothing.
func refusal<C: Codec>(
    _ codec: C, _ frame: C.Encoder.Frame, sourceLocation: SourceLocation = #_sourceLocation
) -> SocketError.Code? {
    var encoder = codec.makeEncoder()
    var output = ByteOutput()
    do {
        try encoder.encode(frame, into: &output)
        return nil
    } catch {
        let written = output.count
        #expect(written == 0, sourceLocation: sourceLocation)
        return (error as? SocketError)?.code
    }
}

/// The UTF-8 of a text.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A text behind four bytes, big-endian, that count it.
func lengthPrefixed(_ text: String) -> [UInt8] {
    let count = UInt32(text.utf8.count)
    return [UInt8(count >> 24), UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)] + utf8(text)
}

/// A small generator that gives the same numbers for the same seed on each machine.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
