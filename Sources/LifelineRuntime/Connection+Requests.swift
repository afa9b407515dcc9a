public import LifelineCore

extension Connection {
    /// Sends `message` as a request and returns the answer to it, which no reader of ``messages`` gets. The connection was made with a
    /// ``Pairing``, which tells how answers find their requests. Any number of tasks may have requests under way.
    ///
    /// Answering is a plain ``send(_:)`` of the other side.
    ///
    /// A request ends alone: at its limit, by its task's cancellation (at once), or with an answer that no message can be made of; the
    /// others go on, and what the peer still answers to it is dropped. When the connection ends, or the peer ends its side, all of them
    /// end. While the inbox stands at its high mark reading pauses, and answers behind what nobody takes have to wait; their limits go on.
    /// So where the peer pushes much, don't wait for an answer in the loop that takes the messages.
    ///
    /// - Parameter limit: the time for everything, the wait for room in the outbox included; zero and less have run out at once. Nil
    ///   for no limit.
    /// - Throws: ``SocketError/Code/timedOut`` in phase `answer` at the limit, or in phase `write` if nothing was sent;
    ///   ``SocketError/Code/closed`` once no answer can come any more, with the error that ended the connection as its cause;
    ///   ``SocketError/Code/tooManyRequests`` if as many are due as the pairing allows; `CancellationError`; what the codec throws for
    ///   the request, or for its answer; ``SocketError/Code/misuse`` if the connection has no pairing.
    public nonisolated(nonsending) func request(_ message: C.Outgoing, within limit: Duration?) async throws -> C.Message {
        guard let requests else {
            throw SocketError(.misuse, "requests need a pairing, which is given when the connection is made")
        }
        let frame = try await requests.request(message, within: limit, on: self)
        do {
            return try codec.message(from: frame)
        } catch {
            throw SocketError(decoding: error)
        }
    }
}
