public import LifelineCore

/// The way of a frame from any thread into the outbox: encoded in wire order, under the outbox's lock.
///
/// The proof behind `@unchecked`: `encoder` is used under `outbox.lock` only.
@usableFromInline
package final class Outbound<Encoder: FrameEncoder>: @unchecked Sendable {
    @usableFromInline package let outbox: Outbox
    @exclusivity(unchecked) @usableFromInline var encoder: Encoder
    @exclusivity(unchecked) @usableFromInline var misuse: SocketError?

    package init(outbox: Outbox, encoder: sending Encoder) {
        self.outbox = outbox
        self.encoder = encoder
    }

    /// Takes the encoder of `old`, through which every later send throws `error`.
    package init(succeeding old: Outbound<Encoder>, _ error: SocketError) {
        outbox = old.outbox
        old.outbox.lock.lock()
        encoder = old.encoder
        misuse = old.misuse
        old.misuse = error
        old.outbox.unlock(needsFlush: false)
    }

    /// Locks the outbox; or leaves it unlocked and throws, once nothing can be sent any more.
    @inlinable
    func lockToSend() throws {
        outbox.lock.lock()
        guard let error = misuse ?? outbox.end else { return }
        outbox.unlock(needsFlush: false)
        throw error
    }

    /// As ``lockToSend()``, with a block to encode into.
    @usableFromInline
    func lockToEncode() throws {
        try lockToSend()
        while outbox.buffer.wantsBlock {
            outbox.provideBlock()
            // The lock was open for a moment.
            outbox.unlock(needsFlush: false)
            try lockToSend()
        }
    }

    /// As ``lockToSend()``; false, with the outbox unlocked, if there is no room.
    @inlinable
    func lockIfRoom() throws -> Bool {
        outbox.lock.lock()
        while outbox.hasRoom, outbox.end == nil, misuse == nil {
            if !outbox.buffer.wantsBlock { return true }
            outbox.provideBlock()
        }
        let error = misuse ?? outbox.end
        outbox.unlock(needsFlush: false)
        if let error { throw error }
        return false
    }

    /// Encodes `frame` if there is room; false if the caller has to wait its turn first.
    @inlinable
    package func trySend(_ frame: Encoder.Frame) throws -> Bool {
        guard try lockIfRoom() else { return false }
        try encode(frame)
        return true
    }

    /// Encodes `frame` in its turn.
    @inlinable
    package func sendAdmitted(_ frame: Encoder.Frame) throws {
        defer { outbox.admittedIsThrough() }
        try lockToEncode()
        try encode(frame)
    }

    /// Encodes `frame` whatever waits.
    package func sendAtOnce(_ frame: Encoder.Frame) throws { _ = try sendControl(frame) }

    /// Encodes `frame` whatever waits. Returns the place behind it, in bytes from the start of the stream.
    package func sendControl(_ frame: Encoder.Frame) throws -> UInt64 {
        try lockToSend()
        try append(frame)
        let place = outbox.place
        outbox.unlock(needsFlush: outbox.noteAppended())
        return place
    }

    /// Encodes and lets go of the lock.
    @inlinable
    func encode(_ frame: Encoder.Frame) throws {
        try append(frame)
        outbox.unlock(needsFlush: outbox.noteAppended())
    }

    /// Encodes under the lock. A frame that can't be encoded leaves nothing behind, and then the lock is let go.
    @inlinable
    func append(_ frame: Encoder.Frame) throws {
        let mark = outbox.buffer.mark
        do {
            if Encoder.isStateless {
                try encoder.encode(frame, into: &outbox.buffer)
            } else {
                var next = encoder
                try next.encode(frame, into: &outbox.buffer)
                encoder = next
            }
        } catch {
            outbox.buffer.rewind(to: mark)
            outbox.unlock(needsFlush: false)
            throw SocketError(encoding: error)
        }
    }

    /// As ``trySend(_:)``; `observer` is told when the kernel has the frame, or when that can't be any more.
    package func trySend(_ frame: Encoder.Frame, observer: any FlushObserver) throws -> Bool {
        guard try lockIfRoom() else { return false }
        try encode(frame, observer: observer)
        return true
    }

    /// As ``sendAdmitted(_:)``, with an observer.
    package func sendAdmitted(_ frame: Encoder.Frame, observer: any FlushObserver) throws {
        defer { outbox.admittedIsThrough() }
        try lockToEncode()
        try encode(frame, observer: observer)
    }

    /// Encodes and lets go of the lock.
    private func encode(_ frame: Encoder.Frame, observer: any FlushObserver) throws {
        try append(frame)
        outbox.observe(observer)
        outbox.unlock(needsFlush: outbox.noteAppended())
    }

    @inlinable
    package nonisolated(nonsending) func send(_ frame: Encoder.Frame) async throws {
        if try trySend(frame) { return }
        try await sendInTurn(frame)
    }

    /// As ``send(_:)``; the wait for a turn ends with ``SocketError/Code/timedOut`` at the limit.
    package nonisolated(nonsending) func send(_ frame: Encoder.Frame, within limit: Duration, on loop: any EventLoop) async throws {
        if try trySend(frame) { return }
        try await outbox.waitForTurn(within: limit, on: loop)
        try sendAdmitted(frame)
    }

    /// Waits for a turn, then encodes.
    @usableFromInline
    nonisolated(nonsending) func sendInTurn(_ frame: Encoder.Frame) async throws {
        try await outbox.waitForTurn()
        try sendAdmitted(frame)
    }

    /// Encodes `last`, whatever waits, and every later send through this object throws `error`: in one step, so that no other sender
    /// gets in between. Nothing has changed if `last` can't be encoded.
    package func retire(_ error: SocketError, announcing last: Encoder.Frame) throws {
        try lockToSend()
        try append(last)
        misuse = error
        outbox.unlock(needsFlush: outbox.noteAppended())
    }

    /// Encodes `last`, whatever waits, and every later send throws `error`, through whatever object: in one step, so that no other sender
    /// gets behind it. Nothing has changed if `last` can't be encoded. The stream's end has to follow in the same turn of the loop: it
    /// wakes those that wait.
    package func sendLast(_ last: Encoder.Frame, ending error: SocketError) throws {
        try lockToSend()
        try append(last)
        outbox.end = error
        outbox.unlock(needsFlush: outbox.noteAppended())
    }

    /// Every send through this object throws `error` from now on.
    package func retire(_ error: SocketError) {
        outbox.lock.lock()
        misuse = error
        outbox.unlock(needsFlush: false)
    }
}

// Bytes that were encoded once for several connections.
extension Outbound {
    /// Appends `bytes` if there is room; false if the caller has to wait its turn first.
    package func trySend(encoded bytes: Bytes) throws -> Bool {
        guard try lockIfRoom() else { return false }
        append(bytes)
        return true
    }

    /// Appends `bytes` in their turn.
    package func sendAdmitted(encoded bytes: Bytes) throws {
        defer { outbox.admittedIsThrough() }
        try lockToEncode()
        append(bytes)
    }

    /// Appends and lets go of the lock.
    private func append(_ bytes: Bytes) {
        outbox.buffer.append(bytes)
        outbox.unlock(needsFlush: outbox.noteAppended())
    }
}
