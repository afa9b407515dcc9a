import LifelineCore

/// A read of a ``ByteStream`` that waits for bytes. Confined to its loop, apart from `result`.
protocol PendingRead: AnyObject {
    /// It has its result, or was cancelled, or its time is up.
    var isDone: Bool { get }
    /// Tries again with what is there; `end` once no more will come.
    func step(_ input: inout ByteInput, end: CloseReason?)
    func progress(in input: ByteInput) -> PendingFrame?
    func fail(_ error: SocketError)
}

/// A read of one frame. The decoder works on a copy of the input, so that nothing is taken before the result is: a cancelled read
/// leaves every byte where it was.
final class FrameRead<D: FrameDecoder>: PendingRead {
    let result = OneShot<D.Frame?>()
    private var decoder: D
    /// Bytes of the input that the decoder has taken.
    private var taken = 0
    /// What the decoder has reported: of a read that comes to nothing it will be reported again.
    private var findings: [Finding] = []
    /// What a decoder may take of a frame that isn't complete, such as a dropped one: it all stays in the input meanwhile.
    private let mostTaken: Int

    init(_ decoder: D, mostTaken: Int) {
        self.decoder = decoder
        self.mostTaken = mostTaken
    }

    var isDone: Bool { result.isFinished }

    func step(_ input: inout ByteInput, end: CloseReason?) {
        var rest = input
        rest.skip(taken)
        do {
            var frame = try decoder.decode(from: &rest)
            if frame == nil, let end {
                if let error = end.error { throw error }
                // Only the peer's own end can have cut a frame.
                if end == .closedByPeer { frame = try decoder.finish(&rest) }
                if frame == nil {
                    if result.succeed(nil) { commit(&rest, to: &input) }
                    return
                }
            }
            if let frame {
                if result.succeed(frame) { commit(&rest, to: &input) }
            } else {
                findings += rest.takeFindings()
                taken = input.count - rest.count
                if taken > mostTaken {
                    result.fail(SocketError(.frameTooLarge, "\(taken) bytes without a frame, where a read may pass over \(mostTaken)"))
                }
            }
        } catch {
            // At the end nobody reads again what the decoder has noticed.
            if result.fail(SocketError(decoding: error)), end != nil {
                for finding in findings + rest.takeFindings() { input.report(finding) }
            }
        }
    }

    private func commit(_ rest: inout ByteInput, to input: inout ByteInput) {
        findings += rest.takeFindings()
        rest.resume()
        input = rest
        for finding in findings { input.report(finding) }
    }

    func progress(in input: ByteInput) -> PendingFrame? {
        var rest = input
        rest.skip(taken)
        return decoder.pending(in: rest) ?? PendingFrame(received: 0)
    }

    func fail(_ error: SocketError) { result.fail(error) }
}

/// Ends a read at its time limit, unless it is given more time. Confined to the loop.
final class ReadLimiter: LoopTimerTarget {
    private let read: any PendingRead
    private let core: StreamCore
    private let begun: LoopTime
    private let limit: Duration
    private let extending: ReadExtension?
    private var timer: LoopTimer?

    init(read: any PendingRead, core: StreamCore, limit: Duration, extending: ReadExtension?) {
        self.read = read
        self.core = core
        self.limit = limit
        self.extending = extending
        begun = core.loop.now
        let timer = LoopTimer(self)
        self.timer = timer
        core.loop.arm(timer, at: begun.advanced(by: limit))
    }

    func disarm() {
        if let timer { core.loop.disarm(timer) }
    }

    func timerFired(_ timer: LoopTimer) {
        guard !read.isDone else { return }
        let now = core.loop.now
        let progress = read.progress(in: core.input)
        if let more = extending?(begun.duration(to: now), progress?.received ?? 0), more > .zero {
            core.loop.arm(timer, at: now.advanced(by: more))
        } else {
            read.fail(SocketError(timedOut: .read, after: begun.duration(to: now), detail: progress.map { "\($0)" } ?? ""))
        }
    }
}

/// Whatever is there, up to a size.
struct PortionDecoder: FrameDecoder {
    let maximum: Int

    func decode(from input: inout ByteInput) -> Bytes? {
        input.isEmpty ? nil : input.read(min(maximum, input.count))
    }
}

/// So many bytes.
struct ExactDecoder: FrameDecoder {
    let length: Int

    func decode(from input: inout ByteInput) -> Bytes? { input.read(length) }

    func pending(in input: ByteInput) -> PendingFrame? {
        input.isEmpty ? nil : PendingFrame(received: input.count, expected: length)
    }
}

/// Everything before a delimiter, which is taken, too. The search goes on where it stopped.
struct UntilDecoder: FrameDecoder {
    let delimiter: Bytes
    let maximum: Int
    private var searched = 0

    init(delimiter: Bytes, maximum: Int) {
        self.delimiter = delimiter
        self.maximum = maximum
    }

    mutating func decode(from input: inout ByteInput) throws -> Bytes? {
        if let place = input.firstIndex(of: delimiter, from: searched) {
            if place > maximum { throw SocketError(frameOf: place, exceeds: maximum) }
            let frame = input.read(place)
            input.skip(delimiter.count)
            return frame
        }
        searched = max(0, input.count - delimiter.count + 1)
        if searched > maximum { throw SocketError(frameOf: searched, exceeds: maximum) }
        return nil
    }

    func pending(in input: ByteInput) -> PendingFrame? {
        input.isEmpty ? nil : PendingFrame(received: input.count, note: "without the delimiter")
    }
}
