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
        guard !isRetired, core.machine.reason == nil else { return }
        core.input.resume()
        let wasLeftOff = isDecodingLeftOff
        isDecodingLeftOff = false
        if wasLeftOff, decode() { return }
        core.resumeReading()
    }

    /// Takes over a stream with what has arrived of it already.
    func adopt() {
        core.input.resume()
        guard let reason = core.machine.reason else {
            isDecodingLeftOff = !core.input.isEmpty
            resumeDecoding()
            return
        }
        // It is over already: nothing more than what stands in the input can come.
        var error = drainInput()
        if error == nil, reason == .closedByPeer { error = decodeRest() }
        inbox.end(error.map { .failed($0) } ?? reason)
    }

    /// Decodes all that stands in the input of a stream that is over, behind marked frames, too: no swap can come any more.
    private func drainInput() -> SocketError? {
        while true {
            core.input.resume()
            var failure: (any Error)?
            do {
                try decoder._drain(&core.input, into: &decoded, upTo: .max)
            } catch {
                failure = error
            }
            let isMarked = core.input.isStopped
            deliver(from: 0, limit: .max)
            if let failure { return SocketError(decoding: failure) }
            if !isMarked { return nil }
        }
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
