import Lifeline
import Testing

/// What a decoder made of a stream.
struct Outcome<Frame: Sendable & Equatable>: Equatable {
    var frames: [Frame] = []
    var error: SocketError?
    /// The most bytes that stood in the input's storage at any time.
    var peak = 0
    /// What was pending before the end of the stream.
    var pending: PendingFrame?

    static func == (left: Outcome, right: Outcome) -> Bool {
        left.frames == right.frames && left.error == right.error
    }
}

/// Feeds a decoder as a connection does: what was read is appended and decoded; at the end the rest is finished.
func feed<C: Codec>(_ codec: C, _ reads: [[UInt8]], ends: Bool = true) -> Outcome<C.Decoder.Frame> {
    var decoder = codec.makeDecoder()
    var input = ByteInput()
    var outcome = Outcome<C.Decoder.Frame>()
    do {
        for read in reads {
            read.withUnsafeBytes { input.append($0) }
            outcome.peak = max(outcome.peak, input.pinnedCount)
            while let frame = try decoder.decode(from: &input) { outcome.frames.append(frame) }
            input.releaseIfEmpty()
        }
        outcome.pending = decoder.pending(in: input)
        if ends {
            while let frame = try decoder.finish(&input) { outcome.frames.append(frame) }
        }
    } catch {
        outcome.error = SocketError(decoding: error)
    }
    return outcome
}

/// Feeds `stream` whole, in each of its two-part cuts and byte by byte, expects the same each time and returns it.
func feedEveryWay<C: Codec>(
    _ codec: C, _ stream: [UInt8], ends: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
) -> Outcome<C.Decoder.Frame> {
    let whole = feed(codec, [stream], ends: ends)
    for cut in 0...stream.count {
        let cutInTwo = feed(codec, [Array(stream[..<cut]), Array(stream[cut...])], ends: ends)
        #expect(cutInTwo == whole, "cut at \(cut)", sourceLocation: sourceLocation)
    }
    let single = feed(codec, stream.map { [$0] }, ends: ends)
    #expect(single == whole, "byte by byte", sourceLocation: sourceLocation)
    return whole
}

/// The bytes that a codec's encoder makes of messages, one after the other.
func encode<C: Codec>(_ codec: C, _ messages: C.Outgoing...) throws -> [UInt8] {
    var encoder = codec.makeEncoder()
    var output = ByteOutput()
    for message in messages { try encoder.encode(codec.frame(for: message), into: &output) }
    return Array(output.finish())
}

/// The code of the error that encoding throws; nil if it doesn't. Expects that such an encode writes nothing.
func refusal<C: Codec>(_ codec: C, _ message: C.Outgoing, sourceLocation: SourceLocation = #_sourceLocation) -> SocketError.Code? {
    var encoder = codec.makeEncoder()
    var output = ByteOutput()
    do {
        try encoder.encode(codec.frame(for: message), into: &output)
        return nil
    } catch {
        let written = output.count
        #expect(written == 0, sourceLocation: sourceLocation)
        return (error as? SocketError)?.code
    }
}

/// The UTF-8 of a text.
func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }
