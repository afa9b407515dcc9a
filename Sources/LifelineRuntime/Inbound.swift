package import LifelineCore

/// The loop's side of a connection's reading: bytes become frames in the turn in which they arrive.
///
/// It belongs to the connection's actor; nobody else keeps it. The proof behind `@unchecked`: everything that changes is touched on the
/// core's loop only. (State of the actor itself would cost a check of the executor with each read.)
package final class Inbound<Decoder: FrameDecoder>: StreamOwner, InboxProducer, LoopNotice, @unchecked Sendable {
    let core: StreamCore
    let inbox: Inbox<Decoder.Frame>
    @exclusivity(unchecked) var decoder: Decoder
    @exclusivity(unchecked) private var decoded = FrameQueue<Decoder.Frame>()
    /// So many frames have room in the inbox, at least.
    @exclusivity(unchecked) private var room: Int
    /// Bytes stand in the input that could be decoded on.
    @exclusivity(unchecked) private var isDecodingLeftOff = false
    /// The stream was over already when this took it.
    @exclusivity(unchecked) private var wasOver = false
    /// The decoder was asked for what it makes of the end.
    @exclusivity(unchecked) private var hasFinished = false
    /// Another connection has taken the stream over.
    @exclusivity(unchecked) private(set) var isRetired = false
    /// Those that see each frame before the inbox gets it; usually none.
    @exclusivity(unchecked) private var takers: [any FrameTaker<Decoder.Frame>] = []
    /// Asks them in turn. (Iterating over them would look their type up at run time, with each frame.)
    @exclusivity(unchecked) private var isTaken: ((Decoder.Frame) -> Bool)?
    /// False if the inbox lives longer than this stream, and others fill it later.
    private let ownsInbox: Bool
    /// Told, on the loop, when no more frames come. The stream may be in the middle of ending then.
    @exclusivity(unchecked) var onEnd: (@Sendable () -> Void)?

    /// - Parameter earlier: frames that those of this stream will follow, within the same bounds.
    init(core: StreamCore, decoder: sending Decoder, following earlier: Inbox<Decoder.Frame>? = nil) {
        self.core = core
        self.decoder = decoder
        ownsInbox = true
        let bounds = earlier?.room ?? (marks: core.options.inbox, frames: core.options.inboxFrames)
        inbox = Inbox(marks: bounds.marks, frames: bounds.frames)
        room = inbox.maximumCount
        core.owner = self
        inbox.producer = self
    }

    /// A stream that fills `inbox` behind what others have put there.
    init(core: StreamCore, decoder: sending Decoder, filling inbox: Inbox<Decoder.Frame>) {
        self.core = core
        self.decoder = decoder
        ownsInbox = false
        self.inbox = inbox
        room = 1
        core.owner = self
        if inbox.isPaused { core.pauseReading() }
    }

    package func streamHasInput() { _ = decode() }

    package func streamReadingEnded(_ reason: CloseReason) {
        if wasOver { return }
        if !hasFinished, !isDecodingLeftOff {
            // An abrupt end: all that can come of the rest is what the decoder has noticed and not told yet.
            hasFinished = true
            _ = try? decoder.finish(&core.input)
            core.reportFindings()
        }
        end(reason)
        // Nobody decodes it any more.
        core.input.removeAll()
    }

    /// `taker` sees each frame that is decoded from now on, behind those that were added before it. On the loop.
    package func add(_ taker: any FrameTaker<Decoder.Frame>) {
        takers.append(taker)
        if let earlier = isTaken {
            isTaken = { earlier($0) || taker.take($0) }
        } else {
            isTaken = { taker.take($0) }
        }
    }

    /// As ``add(_:)``, before those that were added already. On the loop.
    func addFirst(_ taker: any FrameTaker<Decoder.Frame>) {
        takers.insert(taker, at: 0)
        if let later = isTaken {
            isTaken = { taker.take($0) || later($0) }
        } else {
            isTaken = { taker.take($0) }
        }
    }

    private func end(_ reason: CloseReason) {
        if ownsInbox { inbox.end(reason) }
        dismissTakers(because: reason)
        onEnd?()
    }

    private func dismissTakers(because reason: CloseReason) {
        let dismissed = takers
        takers = []
        isTaken = nil
        for taker in dismissed { taker.noMoreFrames(reason) }
    }

    /// Another connection takes the stream over; readers and takers of this one get `error`. On the loop.
    func retire(_ error: SocketError) {
        isRetired = true
        inbox.end(.failed(error))
        dismissTakers(because: .failed(error))
    }

    package func inboxHasRoom() { core.loop.post(self) }

    /// The reader has made room.
    package func deliver() {
        // In an inbox that others have filled, too, it may have been theirs, or be used up again.
        if ownsInbox || !inbox.isPaused { resume() }
    }

    /// Decoding goes on where it was left off. Nothing else has read meanwhile.
    private func resume() {
        guard !isRetired, inbox.reason == nil else { return }
        core.input.resume()
        if wasOver, let reason = core.machine.reason {
            decodeWhatIsLeft(until: reason)
            return
        }
        let wasLeftOff = isDecodingLeftOff
        isDecodingLeftOff = false
        if wasLeftOff, decode() { return }
        core.resumeReading()
        // Its time wasn't counted during the pause, and nothing more may come.
        if core.options.unfinishedFrameLimit != nil { core.noteUnfinishedFrame(unfinishedFrame != nil, isNew: false) }
    }

    /// Takes over a stream with what has arrived of it already.
    func adopt() {
        core.input.resume()
        wasOver = core.machine.reason != nil
        isDecodingLeftOff = !core.input.isEmpty
        resume()
    }

    /// Goes on where `old` stood, which is over with this: decoder, bytes, and the frames that nobody has read.
    ///
    /// - Parameter passOn: what else passes from the old owner to the new one. It comes behind those frames, which stood before it.
    func succeed(_ old: Inbound<Decoder>, _ error: SocketError, _ passOn: () -> Void) {
        var frames = FrameQueue<Decoder.Frame>()
        let (bytes, isMarked) = old.inbox.drain(into: &frames)
        if !takers.isEmpty { frames.removeAll { frame in takers.contains { $0.retake(frame) } } }
        passOn()
        old.retire(error)
        if !frames.isEmpty { room = inbox.add(&frames, bytes: bytes, marked: isMarked).room }
        if inbox.isPaused {
            wasOver = core.machine.reason != nil
            isDecodingLeftOff = !core.input.isEmpty
            core.pauseReading()
        } else {
            adopt()
        }
    }

    /// The stream was over when this took it: nothing can come but what stands in the input. Behind a marked frame it is decoded when
    /// the reader asks for more, or by another codec after a swap; only then is the end there.
    private func decodeWhatIsLeft(until reason: CloseReason) {
        var error: SocketError?
        var handed: HandedOver
        repeat {
            do {
                try decoder._drain(&core.input, into: &decoded, upTo: .max)
            } catch let failure {
                error = SocketError(decoding: failure)
            }
            handed = handOver(from: 0, limit: .max)
        } while handed == .markTaken && error == nil
        if error == nil {
            if core.input.isStopped { return }
            // Only the peer's own end can have cut a frame.
            if reason == .closedByPeer { error = streamInputEnded(isCut: core.machine.isCut) }
        }
        end(error.map { .failed($0) } ?? reason)
        core.input.removeAll()
    }

    /// Decodes what has arrived, as far as the inbox has room; true if it is full now, or the decoder has marked a frame.
    private func decode() -> Bool {
        if isDecodingLeftOff { return true }
        var hasFrames = false
        while true {
            let before = core.input.count
            let limit = room
            do {
                try decoder._drain(&core.input, into: &decoded, upTo: limit)
            } catch {
                handOver(from: before - core.input.count, limit: limit)
                core.violated(SocketError(decoding: error))
                return false
            }
            let count = decoded.count
            hasFrames = hasFrames || count > 0
            let handed = handOver(from: before - core.input.count, limit: limit)
            let isPaused = handed == .full
            // There may be more room than it was known.
            if isPaused || count < limit && handed != .markTaken {
                if core.options.unfinishedFrameLimit != nil {
                    core.noteUnfinishedFrame(!isPaused && unfinishedFrame != nil, isNew: hasFrames)
                }
                return isPaused
            }
        }
    }

    private enum HandedOver {
        case all
        /// Decoding has to pause.
        case full
        /// The frame to stop behind was none of the reader's: decoding goes on.
        case markTaken
    }

    /// Hands over what was decoded from `bytes` bytes.
    @discardableResult
    private func handOver(from bytes: Int, limit: Int) -> HandedOver {
        let count = decoded.count
        core.input.releaseIfEmpty()
        if core.input.hasFindings { core.reportFindings() }
        guard count > 0 else { return .all }
        core.noteFrames(count)
        let isMarkTaken = isTaken != nil && takeFrames()
        if isMarkTaken { core.input.resume() }
        let goesOn = isMarkTaken ? HandedOver.markTaken : .all
        if decoded.isEmpty {
            decoded.recycle()
            return goesOn
        }
        guard addToInbox(from: bytes, isCut: count >= limit || isMarkTaken) else { return goesOn }
        return .full
    }

    /// True if decoding has to pause; `isCut` says that it stopped before the bytes ran out.
    private func addToInbox(from bytes: Int, isCut: Bool) -> Bool {
        let isMarked = core.input.isStopped
        let added = inbox.add(&decoded, bytes: bytes + core.input.takeSlack(), marked: isMarked)
        if !decoded.isEmpty {
            // The reader has refused a message on another thread, and the connection's end is on its way here.
            decoded = FrameQueue()
            isDecodingLeftOff = true
            core.pauseReading()
            return true
        }
        decoded.recycle()
        room = added.room
        if added.isPaused {
            isDecodingLeftOff = isMarked || isCut
            core.pauseReading()
        }
        return added.isPaused
    }

    /// Takes out what isn't for the reader; true if that is the frame to stop behind.
    private func takeFrames() -> Bool {
        var isLastTaken = false
        decoded.removeAll { frame in
            isLastTaken = isTaken?(frame) == true
            return isLastTaken
        }
        return isLastTaken && core.input.isStopped
    }

    package var unfinishedFrame: PendingFrame? { decoder.pending(in: core.input) }

    /// The stream was cut: whole frames are whole all the same, but nothing is a frame because the stream has ended.
    private var cutError: SocketError? {
        let pending = unfinishedFrame
        return pending != nil || Decoder.framesMayEndWithInput ? SocketError(unannouncedEndWith: pending) : nil
    }

    /// The peer's stream is over: the codec says what the rest is worth.
    package func streamInputEnded(isCut: Bool) -> SocketError? {
        hasFinished = true
        if isCut {
            let error = cutError
            // What the decoder has noticed and not told yet; a frame that it would make of the rest is none.
            _ = try? decoder.finish(&core.input)
            core.reportFindings()
            return error
        }
        let before = core.input.count
        var failure: SocketError?
        do {
            // A codec that never comes to its end would be a fault of its own; its frames are bounded all the same.
            while decoded.count < core.options.inboxFrames, let frame = try decoder.finish(&core.input) { decoded.append(frame) }
        } catch {
            failure = SocketError(decoding: error)
        }
        handOver(from: before - core.input.count, limit: .max)
        return failure
    }
}
