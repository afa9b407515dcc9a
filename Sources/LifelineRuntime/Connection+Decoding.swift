package import LifelineCore

// The loop's side: bytes become frames in the turn in which they arrive.
extension Connection: StreamOwner, InboxProducer {
    package nonisolated func streamHasInput() {
        assumeIsolated { _ = $0.decode() }
    }

    package nonisolated func streamInputEnded() -> SocketError? {
        assumeIsolated { $0.decodeRest() }
    }

    package nonisolated func streamReadingEnded(_ reason: CloseReason) {
        if assumeIsolated({ $0.wasOver }) { return }
        inbox.end(reason)
        core.input.removeAll()
    }

    package nonisolated func inboxHasRoom() {
        let core = core
        let notice = DecodeNotice(self)
        core.loop.post(notice)
    }

    /// Decoding goes on where it was left off. Nothing else has read meanwhile.
    func resumeDecoding() {
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
    }

    /// Takes over a stream with what has arrived of it already.
    func adopt() {
        core.input.resume()
        wasOver = core.machine.reason != nil
        isDecodingLeftOff = !core.input.isEmpty
        resumeDecoding()
    }

    /// The stream was over when this connection took it: nothing can come but what stands in the input. Behind a marked frame it is
    /// decoded when the reader asks for more, or by another codec after a swap; only then is the end there.
    private func decodeWhatIsLeft(until reason: CloseReason) {
        var error: SocketError?
        do {
            try decoder._drain(&core.input, into: &decoded, upTo: .max)
        } catch let failure {
            error = SocketError(decoding: failure)
        }
        let isMarked = core.input.isStopped
        deliver(from: 0, limit: .max)
        if error == nil {
            if isMarked { return }
            if reason == .closedByPeer { error = decodeRest() }
        }
        inbox.end(error.map { .failed($0) } ?? reason)
        core.input.removeAll()
    }

    /// Decodes what has arrived, as far as the inbox has room; true if it is full now, or the decoder has marked a frame.
    private func decode() -> Bool {
        if isDecodingLeftOff { return true }
        while true {
            let before = core.input.count
            let limit = max(1, inbox.room)
            var failure: (any Error)?
            do {
                try decoder._drain(&core.input, into: &decoded, upTo: limit)
            } catch {
                failure = error
            }
            let count = decoded.count
            let isPaused = deliver(from: before - core.input.count, limit: limit)
            if let failure {
                core.violated(SocketError(decoding: failure))
                return false
            }
            // A reader that waited has taken a frame: there is room for one more than it seemed.
            if isPaused || count < limit { return isPaused }
        }
    }

    /// Hands over what was decoded from `bytes` bytes; true if decoding has to pause.
    @discardableResult
    private func deliver(from bytes: Int, limit: Int) -> Bool {
        let count = decoded.count
        let isMarked = core.input.isStopped
        core.input.releaseIfEmpty()
        core.reportFindings()
        guard count > 0 else { return false }
        core.noteFrames(count)
        let isPaused = inbox.add(&decoded, bytes: bytes, marked: isMarked)
        if isPaused {
            isDecodingLeftOff = isMarked || count >= limit
            core.pauseReading()
        }
        return isPaused
    }

    /// The peer's stream is over: the codec says what the rest is worth.
    private func decodeRest() -> SocketError? {
        let before = core.input.count
        do {
            // A codec that never comes to its end would be a fault of its own; its frames are bounded all the same.
            while decoded.count < core.options.inboxFrames, let frame = try decoder.finish(&core.input) { decoded.append(frame) }
        } catch {
            deliver(from: before - core.input.count, limit: .max)
            return SocketError(decoding: error)
        }
        deliver(from: before - core.input.count, limit: .max)
        return nil
    }
}

/// Tells a connection, on its loop, that its inbox has room. The way there must not keep it alive.
final class DecodeNotice<C: Codec>: LoopNotice {
    private weak let connection: Connection<C>?

    init(_ connection: Connection<C>) { self.connection = connection }

    func deliver() {
        connection?.assumeIsolated { $0.resumeDecoding() }
    }
}
