public import LifelineCore

extension Connection {
    /// Goes on with another codec, exactly at this border: in one turn of the event loop the old decoder stops, `last` is queued as the
    /// last frame of the old format, and the new codec takes over both directions. Bytes that have arrived already go along.
    ///
    /// The connection that is returned replaces this one, which throws ``SocketError/Code/misuse`` from now on, also to requests that
    /// wait for answers.
    ///
    /// Decoding runs ahead of the reader. So the border must be known before: either the old decoder marks its last frame with
    /// ``ByteInput/stopAfterFrame()``, or the protocol makes the peer wait. (Or begin with a ``ByteStream``, which decodes nothing ahead.)
    /// - Throws: ``SocketError/Code/misuse``, and nothing has changed then, if frames of the old format already stand behind the border
    ///   (not read yet, or half decoded) or if the connection was replaced before; ``SocketError/Code/closed`` once it has ended; what
    ///   the encoder throws for `last`.
    public func swap<Other: Codec>(
        to codec: Other, pairing: Pairing<Other>? = nil, announcing last: C.Outgoing? = nil
    ) throws -> Connection<Other> {
        if inbound.isRetired { throw SocketError(.misuse, "this connection was replaced by another one") }
        if let reason = inbox.reason { throw SocketError(.closed, "the connection has ended: \(reason)", cause: reason.error) }
        guard inbox.isEmpty else {
            throw SocketError(.misuse, "frames of the old codec stand behind the border: they were decoded and not read")
        }
        if let pending = inbound.decoder.pending(in: core.input), pending.received > core.input.count {
            throw SocketError(.misuse, "a frame of the old codec stands half decoded behind the border: \(pending)")
        }
        let replaced = SocketError(.misuse, "this connection was replaced by another one")
        if let last { try outbound.retire(replaced, announcing: frame(for: last)) } else { outbound.retire(replaced) }
        inbound.retire(replaced)
        let replacement = Connection<Other>(over: core, codec: codec, pairing: pairing)
        replacement.inbound.adopt()
        return replacement
    }
}
