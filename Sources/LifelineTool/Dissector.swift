import Lifeline

/// A part of a captured stream: a frame, or a fault.
struct Piece {
    enum Content {
        case frame(ShellFrame)
        /// What is wrong, in words.
        case fault(String)
    }

    /// Where it begins in the stream.
    let offset: Int
    /// All of its bytes, those of headers and terminators included.
    let length: Int
    let content: Content
}

/// Takes a captured stream apart and knows where each part of it stands.
///
/// A decoder says what it took of its input, but not at which byte it noticed something. So where a chunk of the stream brings more than
/// frames, it is decoded once more from the values before it, byte by byte.
struct Dissector<C: ShellCodec> {
    /// What decoding has come to; a value to go back to.
    private struct State {
        var decoder: C.Decoder
        var input = ByteInput()
        /// The place in the stream of the input's first byte, and of the first byte of what is being decoded.
        var position = 0
        var start = 0
    }

    private let codec: C
    private var state: State
    /// Where the stream can't be decoded any further.
    private(set) var stop: Int?

    init(_ codec: C) {
        self.codec = codec
        state = State(decoder: codec.makeDecoder())
    }

    /// The parts that end within `chunk`, in order.
    mutating func feed(_ chunk: UnsafeRawBufferPointer) -> [Piece] {
        if stop != nil { return [] }
        let seen = state.input.count
        state.input.append(chunk)
        let saved = state
        if let frames = framesOnly() { return frames }
        state = saved
        return stepByStep(behind: seen)
    }

    /// The parts behind the last whole one, when the stream has ended.
    mutating func end() -> [Piece] {
        if stop != nil { return [] }
        var pieces: [Piece] = []
        takeAll(into: &pieces) { try $0.finish(&$1) }
        stop = nil
        return pieces
    }

    /// Decodes all that is there; nil if there is more to it than frames.
    private mutating func framesOnly() -> [Piece]? {
        var pieces: [Piece] = []
        do {
            while let frame = try take({ try $0.decode(from: &$1) }) {
                if state.input.hasFindings { return nil }
                append(frame, to: &pieces)
            }
        } catch {
            return nil
        }
        return state.input.hasFindings ? nil : pieces
    }

    /// Decodes all that is there, of which the first bytes had been seen before.
    private mutating func stepByStep(behind seen: Int) -> [Piece] {
        let bytes = state.input.peek(0..<state.input.count) ?? Bytes()
        let first = state.position
        var pieces: [Piece] = []
        var end = seen
        while end < bytes.count, stop == nil {
            end += 1
            state.input = ByteInput(bytes.slice(state.position - first..<end))
            takeAll(into: &pieces) { try $0.decode(from: &$1) }
        }
        return pieces
    }

    private typealias Step = (inout C.Decoder, inout ByteInput) throws -> C.Decoder.Frame?

    /// Takes what there is, with findings and errors.
    private mutating func takeAll(into pieces: inout [Piece], _ step: Step) {
        do {
            while true {
                let frame = try take(step)
                appendFindings(to: &pieces, isLast: frame == nil)
                guard let frame else { return }
                append(frame, to: &pieces)
            }
        } catch {
            appendFindings(to: &pieces, isLast: true)
            stop = state.start
            append(words(for: error), upTo: state.position + state.input.count, to: &pieces)
        }
    }

    private mutating func take(_ step: Step) throws -> C.Decoder.Frame? {
        let count = state.input.count
        defer { state.position += count - state.input.count }
        return try step(&state.decoder, &state.input)
    }

    private mutating func append(_ frame: C.Decoder.Frame, to pieces: inout [Piece]) {
        let offset = state.start
        state.start = state.position
        do {
            let message = try codec.message(from: frame)
            pieces.append(Piece(offset: offset, length: state.position - offset, content: .frame(message)))
            guard let fault = message.fault else { return }
            pieces.append(Piece(offset: offset, length: state.position - offset, content: .fault(words(for: fault))))
        } catch {
            pieces.append(Piece(offset: offset, length: state.position - offset, content: .fault(words(for: error))))
        }
    }

    /// What was found stands before the frame that is next. Behind it may be a terminator, which findings don't count; byte by byte, the
    /// finding then comes with the last byte of it.
    private mutating func appendFindings(to pieces: inout [Piece], isLast: Bool) {
        let findings = state.input.takeFindings()
        for (index, finding) in findings.enumerated() {
            let end = isLast && index == findings.count - 1 ? state.position : state.start + finding.byteCount
            append(finding.words, upTo: end, to: &pieces)
        }
    }

    private mutating func append(_ fault: String, upTo end: Int, to pieces: inout [Piece]) {
        pieces.append(Piece(offset: state.start, length: end - state.start, content: .fault(fault)))
        state.start = end
    }

    private func words(for error: any Error) -> String {
        guard let error = error as? SocketError else { return "\(error)" }
        if let pending = error.pending { return "\(error.code): \(pending)" }
        return "\(error)"
    }
}
