package import LifelineCore

// The border at which a stream goes on over another transport, such as TLS over the one that it had. All of it happens in one turn of the
// loop: what the peer has sent until then belongs to this side of the border, and so does what this side has accepted for sending.

extension ByteStream {
    /// Queues `last` and puts the transport that `make` makes over the one that was there.
    ///
    /// - Parameter make: gets the transport, and the bytes that are still to be written as they are.
    /// - Throws: ``SocketError/Code/misuse`` while a read waits, or if another one owns the stream; ``SocketError/Code/closed``; `error`, with
    ///   which the stream ends then, if bytes stand behind the border.
    package func upgrade(
        announcing last: Bytes?, or error: SocketError, _ make: (any Transport, Int) throws -> any Transport
    ) throws {
        try checkUsable()
        if let pendingRead, !pendingRead.isDone {
            throw SocketError(.misuse, "a read is waiting: the stream can't change hands in the middle of it")
        }
        try core.prepareUpgrade(or: error) { nil }
        let place = try last.map { try outbound.sendControl($0) }
        try core.replaceTransport(behind: place, make)
    }
}

extension Connection {
    /// As ``ByteStream/upgrade(announcing:or:_:)``, at the border between two frames.
    package func upgrade(
        announcing last: C.Outgoing?, or error: SocketError, _ make: (any Transport, Int) throws -> any Transport
    ) throws {
        if inbound.isRetired { throw SocketError(.misuse, "this connection was replaced by another one") }
        let frame = try last.map { try self.frame(for: $0) }
        try core.prepareUpgrade(or: error) { [inbox, inbound] in
            if inbox.isEmpty, inbound.unfinishedFrame == nil { return nil }
            return {
                var dropped = FrameQueue<C.Decoder.Frame>()
                _ = inbox.drain(into: &dropped)
            }
        }
        let place = try frame.map { try outbound.sendControl($0) }
        try core.replaceTransport(behind: place, make)
    }
}

extension StreamCore {
    /// Makes sure that nothing has arrived behind the border. If something has, nobody will ever read it.
    ///
    /// - Parameter findMore: what else drops what stands behind the border; nil if nothing does.
    fileprivate func prepareUpgrade(or error: SocketError, _ findMore: () -> (() -> Void)?) throws {
        if let reason = machine.reason { throw SocketError(.closed, "the connection has ended: \(reason)", cause: reason.error) }
        if transport.handshake != nil { throw SocketError(.misuse, "the connection speaks TLS already") }
        if machine.sending != .open { throw SocketError(.closed, "this side has finished sending") }
        let framesBefore = counters.framesIn
        readWhatIsThere()
        if let reason = machine.reason { throw SocketError(.closed, "the connection has ended: \(reason)", cause: reason.error) }
        let drop = findMore()
        // A reader on another thread may have taken a frame that has only just been decoded.
        if input.isEmpty, drop == nil, counters.framesIn == framesBefore { return }
        input.removeAll()
        drop?()
        end(error)
        throw error
    }

    fileprivate func replaceTransport(behind place: UInt64?, _ make: (any Transport, Int) throws -> any Transport) throws {
        let place = place ?? outbox.accepted.place
        transport = try make(transport, Int(place &- counters.bytesOut))
        isReadDue = false
        isWriteBlocked = false
        transport.start(self)
        flush()
    }
}
