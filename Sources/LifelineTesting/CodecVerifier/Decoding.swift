internal import LifelineCore

/// A rule that was seen broken, whatever the bytes mean.
struct Breach {
    var rule: CodecFault.Rule
    var expected: String
    var seen: String
}

/// What a decoder made of a stream.
struct Decoding<Frame: Sendable> {
    var frames: [Frame] = []
    /// For each frame, how many bytes had arrived when it came; one more than there are for those that came at the end.
    var arrivals: [Int] = []
    var error: SocketError?
    /// How many bytes had arrived when the error came.
    var errorArrival = 0
    var findings: [Finding] = []
    /// Before the end of the stream.
    var pending: PendingFrame?
    var breach: Breach?
}

/// What an unfinished frame may hold.
struct HoldLimit {
    /// The bytes that may be left in the input behind a decode.
    var left: Int
    /// The same plus one read, and twice that, for storage doubles.
    func pinned(read: Int) -> Int { 2 * (left + read) }
}

/// Feeds a decoder as a connection does, and watches it.
struct DecoderFeed<Decoder: FrameDecoder> {
    private var decoder: Decoder
    private let hold: HoldLimit?
    private var input = ByteInput()
    private var fed = 0
    private var result = Decoding<Decoder.Frame>()

    /// More frames than this are taken for an endless loop: several may come of one byte, but not any number.
    private static func mostFrames(of bytes: Int) -> Int { 64 + 16 * bytes }

    static func run(_ decoder: Decoder, _ stream: CutStream, hold: HoldLimit?) -> Decoding<Decoder.Frame> {
        var feed = DecoderFeed(decoder: decoder, hold: hold)
        feed.run(stream)
        return feed.result
    }

    private init(decoder: Decoder, hold: HoldLimit?) {
        self.decoder = decoder
        self.hold = hold
    }

    private mutating func run(_ stream: CutStream) {
        for read in stream.reads {
            fed += read.count
            read.withUnsafeBytes { input.append($0) }
            let pinned = input.pinnedCount
            if let most = hold?.pinned(read: read.count), pinned > most {
                breach(.memory, "at most \(most) bytes of storage held by an unfinished frame", "\(pinned) bytes after \(fed) received")
            }
            guard decode() else { break }
            input.releaseIfEmpty()
            checkPending()
            if let most = hold?.left, input.count > most {
                breach(.memory, "an error, or a frame, once \(most) bytes wait", "\(input.count) bytes wait, and no error")
            }
            if result.breach != nil { break }
        }
        if result.error == nil, result.breach == nil {
            result.pending = decoder.pending(in: input)
            result.findings += input.takeFindings()
            if stream.ends { finish() }
        }
    }

    private mutating func breach(_ rule: CodecFault.Rule, _ expected: String, _ seen: String) {
        if result.breach == nil { result.breach = Breach(rule: rule, expected: expected, seen: seen) }
    }

    /// Decodes what is there, behind marked frames, too; false if it failed.
    private mutating func decode() -> Bool {
        let most = Self.mostFrames(of: fed)
        var queue = FrameQueue<Decoder.Frame>()
        defer {
            let frames = queue.takeAll()
            result.frames += frames
            result.arrivals += frames.map { _ in fed }
        }
        do {
            repeat {
                input.resume()
                try decoder._drain(&input, into: &queue, upTo: most)
            } while input.isStopped && queue.count < most
        } catch {
            result.error = SocketError(decoding: error)
            result.errorArrival = fed
            result.findings += input.takeFindings()
            checkErrorStays()
            return false
        }
        let count = queue.count
        if count >= most {
            breach(.work, "an end of the frames that \(fed) bytes make", "\(count) frames, and more to come")
            return false
        }
        return true
    }

    private mutating func finish() {
        let most = Self.mostFrames(of: fed)
        var count = 0
        do {
            while let frame = try decoder.finish(&input) {
                result.frames.append(frame)
                result.arrivals.append(fed + 1)
                count += 1
                if count >= most {
                    return breach(.work, "an end of what finish returns", "\(count) frames, and more to come")
                }
            }
        } catch {
            let error = SocketError(decoding: error)
            result.findings += input.takeFindings()
            result.error = error
            result.errorArrival = fed + 1
            if error.code == .truncated, result.pending == nil {
                breach(.pending, "the unfinished frame, before an end that says: \(error)", "pending(in:) is nil")
            }
            return checkFinishStays()
        }
        let findings = input.takeFindings()
        result.findings += findings
        if let pending = result.pending, count == 0, findings.isEmpty {
            breach(.truncation, "an error at the end, for a frame is unfinished: \(pending)", "a clean end")
        }
    }

    /// The error that decoding threw must come again, and nothing else.
    private mutating func checkErrorStays() {
        guard let first = result.error else { return }
        do {
            let frame = try decoder.decode(from: &input)
            breach(
                .error, "the same error again: \(first.code)", frame.map { "a frame behind it: \($0)" } ?? "nil, as if bytes were missing")
        } catch {
            let second = SocketError(decoding: error)
            if second.code != first.code { breach(.error, "the same error again: \(first.code)", "\(second)") }
        }
        do {
            if let frame = try decoder.finish(&input) {
                breach(.error, "no frame behind an error (\(first.code))", "\(frame), from finish")
            }
        } catch {}
    }

    private mutating func checkFinishStays() {
        do {
            let frame = try decoder.finish(&input)
            breach(.error, "the same error from finish again", frame.map { "a frame behind it: \($0)" } ?? "a clean end")
        } catch {}
    }

    private mutating func checkPending() {
        guard let pending = decoder.pending(in: input) else { return }
        if pending.received < 0 || pending.received > fed {
            breach(.pending, "at most the \(fed) bytes that have arrived", "\(pending)")
        }
        guard let expected = pending.expected else { return }
        if expected < pending.received { breach(.pending, "no more bytes than the frame has", "\(pending)") }
        if let most = hold?.left, expected > most {
            breach(.limit, "an error as soon as a frame of more than \(most) bytes is announced", "waiting: \(pending)")
        }
    }
}
