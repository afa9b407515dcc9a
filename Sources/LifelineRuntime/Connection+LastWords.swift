public import LifelineCore

extension Connection {
    /// As ``close(within:)``, with a last message. That passes the outbox's high mark and stands behind all that was accepted; nothing is
    /// sent behind it. Senders that wait for their turn get ``SocketError/Code/closed``.
    ///
    /// So a server lets a client go and tells it why:
    /// `close(saying: "kicked", because: SocketError(.kicked, "logged in elsewhere"))`. A ``Supervisor`` at the other end finds it with its
    /// `goAway`. The connection is closed whatever this throws, though without the last message.
    ///
    /// - Parameters:
    ///   - last: the last message.
    ///   - limit: as for ``close(within:)``; default 5 s. The connection to a peer that takes nothing is broken off then.
    ///   - error: what this side's reader gets behind the frames that were decoded, and what ``closeReason`` tells. Default nil: a clean
    ///     end, ``CloseReason/closedHere``.
    /// - Returns: as ``close(within:)``: true if the peer has read to the end. False if the call was cancelled.
    /// - Throws: once the connection is closed, what the codec throws for `last`, or ``SocketError/Code/closed`` if this side had finished
    ///   sending before; ``SocketError/Code/misuse`` if the connection was replaced by another one, and nothing has happened then.
    @discardableResult
    public nonisolated(nonsending) func close(
        saying last: C.Outgoing, within limit: Duration = .seconds(5), because error: SocketError? = nil
    ) async throws -> Bool {
        let frame = Result { try self.frame(for: last) }
        let said = OneShot<Void>()
        let done = OneShot<Bool>()
        core.loop.run { [core, inbound, outbound] in
            do {
                try outbound.sayLast(frame.get(), because: error)
                said.succeed(())
            } catch {
                said.fail(error)
            }
            if core.owner === inbound {
                core.close(within: limit, because: error.map { .failed($0) } ?? .closedHere, done: done)
            } else {
                done.succeed(false)
            }
        }
        let isComplete: Bool
        do {
            isComplete = try await done.value()
        } catch {
            core.loop.run { [core, inbound] in if core.owner === inbound { core.endAtOnce() } }
            return false
        }
        try await said.value()
        return isComplete
    }
}

extension Outbound {
    /// As ``sendLast(_:ending:)``, with the error that sends get then. The close has to follow in the same turn of the loop.
    func sayLast(_ last: Encoder.Frame, because error: SocketError?) throws {
        let reason = error.map { CloseReason.failed($0) } ?? .closedHere
        try sendLast(last, ending: SocketError(.closed, "the connection has ended: \(reason)", cause: error))
    }
}
