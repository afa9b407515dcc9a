/// The life of one stream, from its first byte to its one end. A value: events go in, what to do comes out.
///
/// ```
///                     finishSending            drained
///   sending:   open ───────────────▶ finishing ───────▶ finished        broken (a write failed)
///
///                     peerEnded
///   receiving: open ───────────────▶ ended
///                │    close, violated
///                ├─────────────────▶ discarding ── peerEnded ──▶ ended
///                │    stopReading
///                └─────────────────▶ stopped ──── close ───────▶ discarding
///
///   phase:     live ── close, violated, halfOpen limit ──▶ closing ── both directions over, limit ──▶ closed
///                └──────────────────────── failed, closeNow ────────────────────────────────────────▶ closed
/// ```
package struct StreamMachine {
    package enum Phase: Equatable { case live, closing, closed }
    package enum Sending: Equatable { case open, finishing, finished, broken }
    package enum Receiving: Equatable { case open, stopped, discarding, ended }

    /// What the shell has to do, in this order.
    package struct Actions: OptionSet {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Readers get what is decoded and then ``StreamMachine/reason``.
        package static let endReading = Actions(rawValue: 1)
        /// Sends fail from now on, and those that wait.
        package static let refuseSends = Actions(rawValue: 2)
        /// What was accepted but not written is void.
        package static let dropOutbox = Actions(rawValue: 4)
        /// Write what is there and tell ``StreamMachine/drained()``.
        package static let flush = Actions(rawValue: 8)
        package static let shutdownWrites = Actions(rawValue: 16)
        /// Read on, throwing the bytes away.
        package static let discardInput = Actions(rawValue: 32)
        package static let armHalfOpen = Actions(rawValue: 64)
        package static let armLinger = Actions(rawValue: 128)
        /// Give the transport back.
        package static let close = Actions(rawValue: 256)
        /// As ``close``, and tell the peer that something was lost.
        package static let reset = Actions(rawValue: 512)
    }

    package private(set) var phase = Phase.live
    package private(set) var sending = Sending.open
    package private(set) var receiving = Receiving.open
    /// The first reason that held. It never changes.
    package private(set) var reason: CloseReason?

    package init() {}

    /// The peer's stream has ended without its saying so: nothing proves that all has arrived.
    package private(set) var isCut = false

    /// Whether both sides have said everything: the peer has read to our end and ended, too.
    package var isComplete: Bool { sending == .finished && receiving == .ended && !isCut }

    /// This side has no more to send.
    package mutating func finishSending() -> Actions {
        guard phase != .closed, sending == .open else { return [] }
        sending = .finishing
        return [.refuseSends, .flush]
    }

    /// Everything accepted is in the kernel.
    package mutating func drained() -> Actions {
        guard phase != .closed, sending == .finishing else { return [] }
        sending = .finished
        return Actions.shutdownWrites.union(closeIfOver())
    }

    /// The peer's stream has ended.
    ///
    /// - Parameters:
    ///   - isCut: it should have said so and hasn't.
    ///   - error: what is wrong with that, or with an end at this place.
    package mutating func peerEnded(isCut: Bool = false, because error: SocketError? = nil) -> Actions {
        guard phase != .closed, receiving != .ended else { return [] }
        self.isCut = isCut
        receiving = .ended
        if let error, phase == .live { return close(because: .failed(error)) }
        var actions: Actions = []
        if reason == nil {
            reason = .closedByPeer
            actions.insert(.endReading)
        }
        if sending == .open { actions.insert(.armHalfOpen) }
        return actions.union(closeIfOver())
    }

    /// No more is to be read, for `reason`; sending goes on.
    package mutating func stopReading(because reason: CloseReason) -> Actions {
        guard phase == .live, receiving == .open else { return [] }
        receiving = .stopped
        self.reason = self.reason ?? reason
        return .endReading
    }

    /// Close in good order: send what was accepted, half-close, read to the peer's end.
    package mutating func close(because reason: CloseReason = .closedHere) -> Actions {
        guard phase == .live else { return [] }
        phase = .closing
        self.reason = self.reason ?? reason
        var actions: Actions = [.endReading, .refuseSends, .armLinger]
        if sending == .open {
            sending = .finishing
            actions.insert(.flush)
        }
        if receiving != .ended {
            receiving = .discarding
            actions.insert(.discardInput)
        }
        return actions.union(closeIfOver())
    }

    /// Close at once. What the kernel has not taken yet is lost.
    package mutating func closeNow(because reason: CloseReason = .closedHere, losing unsent: Bool) -> Actions {
        guard phase != .closed else { return [] }
        phase = .closed
        self.reason = self.reason ?? reason
        return [.endReading, .refuseSends, .dropOutbox, unsent ? .reset : .close]
    }

    /// Reading failed: the stream is over.
    package mutating func failed(_ error: SocketError) -> Actions {
        closeNow(because: .failed(error), losing: false)
    }

    /// Writing failed. What the peer sent before may still stand in the kernel, so reading goes on to its own end, within a limit.
    package mutating func writeFailed() -> Actions {
        guard phase != .closed else { return [] }
        sending = .broken
        let actions: Actions = [.refuseSends, .dropOutbox, .armLinger]
        return actions.union(closeIfOver())
    }

    /// The time for this side's end, after the peer's, has run out.
    package mutating func halfOpenLimit() -> Actions {
        guard receiving == .ended, sending == .open else { return [] }
        return close()
    }

    /// The time for a graceful close has run out, or for the rest of a stream whose writes fail.
    package mutating func lingerLimit(error: SocketError, losing unsent: Bool) -> Actions {
        closeNow(because: sending == .broken ? .failed(error) : .closedHere, losing: unsent)
    }

    private mutating func closeIfOver() -> Actions {
        guard receiving == .ended, sending == .finished || sending == .broken else { return [] }
        phase = .closed
        return [.endReading, .refuseSends, .close]
    }
}
