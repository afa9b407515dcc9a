public import LifelineCore

extension StreamCore {
    /// This side has no more to send. On the loop.
    ///
    /// - Throws: ``SocketError/Code/unsupported`` where the transport's protocol has no such thing.
    package func finishSending() throws(SocketError) {
        guard transport.canHalfClose else {
            throw SocketError(.unsupported, "with TLS before 1.3 the end of one direction is the end of both: close instead")
        }
        perform(machine.finishSending())
    }

    /// No more is to be read, for `reason`. On the loop.
    package func stopReading(because reason: CloseReason) {
        perform(machine.stopReading(because: reason))
        if machine.receiving == .stopped { isReading = false }
    }

    /// Begins to close in good order, for at most `limit`; `done` is told whether the peer has read to the end. On the loop.
    ///
    /// - Parameter shortens: whether `limit` holds for a close that has begun already.
    package func close(within limit: Duration, because reason: CloseReason = .closedHere, shortens: Bool = true, done: OneShot<Bool>?) {
        if machine.phase == .closed {
            done?.succeed(machine.isComplete)
            return
        }
        if let done { closeWaiters.append(done) }
        input.removeAll()
        if machine.phase == .closing {
            // A second close can only shorten the wait.
            guard shortens else { return }
            deadlines[.linger] = min(deadlines[.linger], loop.now.advanced(by: limit))
            rearm()
        } else {
            perform(machine.close(because: reason), lingerLimit: limit)
        }
    }

    /// Closes in good order and waits for it; at once if the waiting task is cancelled. From any thread.
    ///
    /// - Parameters:
    ///   - caller: who asks; nothing happens if the stream has passed to another owner since. Nil for whoever owns it.
    ///   - shortens: whether `limit` holds for a close that has begun already.
    ///   - prepare: called right before, on the loop.
    package nonisolated(nonsending) func closeGracefully(
        within limit: Duration, by caller: (any StreamOwner)?, shortens: Bool = true, after prepare: (@Sendable () -> Void)? = nil
    ) async -> Bool {
        let done = OneShot<Bool>()
        loop.run {
            if let caller, self.owner !== caller {
                done.succeed(false)
            } else {
                prepare?()
                self.close(within: limit, shortens: shortens, done: done)
            }
        }
        do {
            return try await done.value()
        } catch {
            closeNowFromAnywhere(by: caller)
            return false
        }
    }

    /// Ends at once, if `caller` owns the stream. From any thread.
    package func closeNowFromAnywhere(by caller: (any StreamOwner)?) {
        loop.run {
            if let caller, self.owner !== caller { return }
            self.closeNow()
        }
    }

    /// Ends at once; what the kernel hasn't taken is lost, and then the peer is told by a reset. On the loop.
    package func closeNow(because reason: CloseReason = .closedHere) {
        guard machine.phase != .closed else { return }
        input.removeAll()
        perform(machine.closeNow(because: reason, losing: outbox.waitingBytes > 0))
    }

    /// The last reference to the owner has gone: one try to write what is left, then the end. A close under way goes on. On the loop.
    package func abandon() {
        guard machine.phase == .live else { return }
        flushAll()
        closeNow()
    }

    /// Nobody needs the stream any more, whatever it is doing: one try to write what is left, then the end. On the loop.
    package func endAtOnce() {
        guard machine.phase != .closed else { return }
        flushAll()
        closeNow()
    }

    /// Facts about the stream, also after its end. On the loop.
    package var info: ConnectionInfo {
        ConnectionInfo(
            local: transport.localEndpoint,
            remote: transport.remoteEndpoint,
            bytesReceived: counters.bytesIn,
            bytesSent: counters.bytesOut,
            framesReceived: counters.framesIn,
            framesSent: UInt64(outbox.lock.withLock { outbox.framesAccepted }),
            findings: counters.findings,
            age: opened.duration(to: loop.now),
            silence: lastHeard.duration(to: loop.now),
            heartbeatRoundTrip: counters.roundTrip,
            tcp: machine.phase == .closed ? finalTCPInfo : transport.tcpInfo,
            tls: transport.tlsInfo)
    }
}

/// Facts about a connection, as of the moment they were asked for.
public struct ConnectionInfo: Sendable {
    /// This side's address.
    public let local: Endpoint?
    /// The peer's address.
    public let remote: Endpoint?
    /// Bytes that were read.
    public let bytesReceived: UInt64
    /// Bytes that the kernel took.
    public let bytesSent: UInt64
    /// Frames that were decoded.
    public let framesReceived: UInt64
    /// Frames that were accepted for sending.
    public let framesSent: UInt64
    /// How often the decoder reported something beside frames.
    public let findings: UInt64
    /// Time since the connection was made.
    public let age: Duration
    /// Time since a byte was heard.
    public let silence: Duration
    /// From the last ping that was answered to its pong, as the user of this connection would see it; nil before the first.
    public let heartbeatRoundTrip: Duration?
    /// What the system knows about the path; nil where it isn't TCP.
    public let tcp: TCPInfo?
    /// What was agreed on by TLS: version, cipher, application protocol, the peer's certificates; nil without TLS, and before the handshake
    /// is through.
    public let tls: TLSInfo?
    /// How its requests stand; nil for a connection without a ``Pairing``.
    public internal(set) var requests: RequestCounts?
    /// The latest round-trip time: the heartbeat's, or else the one that the system has measured.
    public var roundTrip: Duration? { heartbeatRoundTrip ?? tcp?.roundTrip }
}
