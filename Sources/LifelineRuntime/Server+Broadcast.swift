public import LifelineCore

extension Server {
    /// Sends `message` to every connection that is there now.
    ///
    /// It is appended at once where there is room; a slow connection delays nobody else. Those above their outbox's high mark are dealt
    /// with by `slow`. Encoded once for all where the encoder is declared stateless, else for each connection. A cancelled call doesn't
    /// wait: the slow ones don't get the frame, and none is closed.
    /// - Returns: how many connections got it, didn't get it and were closed.
    /// - Throws: what the encoder throws. With a stateless encoder nobody gets anything then.
    @discardableResult
    public nonisolated(nonsending) func broadcast(_ message: C.Outgoing, slow: SlowRule = .skip) async throws -> BroadcastResult {
        let parcel: Parcel
        let frame: C.Encoder.Frame
        do {
            frame = try shared.codec.frame(for: message)
        } catch {
            throw SocketError(encoding: error)
        }
        if C.Encoder.isStateless {
            var output = ByteOutput()
            var encoder = shared.codec.makeEncoder()
            do {
                try encoder.encode(frame, into: &output)
            } catch {
                throw SocketError(encoding: error)
            }
            parcel = .encoded(output.finish())
        } else {
            parcel = .frame(frame)
        }

        var result = BroadcastResult()
        var late: [Connection<C>] = []
        for connection in shared.registry.connections {
            switch try parcel.post(to: connection) {
            case true: result.accepted += 1
            case nil: result.skipped += 1
            case false:
                if slow.waits(isLagging: connection.core.outbox.isLagging) { late.append(connection) } else { result.skipped += 1 }
            }
        }
        switch slow {
        case .skip: break
        case .skipping(let limit): try await settle(late, parcel, within: limit, evicting: false, &result)
        case .evict(let limit): try await settle(late, parcel, within: limit, evicting: true, &result)
        }
        return result
    }

    /// Waits for those that are late, for all at a time, and deals with the rest at the limit.
    ///
    /// Each is waited for among its own senders, so nobody overtakes anybody, and gets the frame as soon as it is its turn.
    private nonisolated(nonsending) func settle(
        _ late: [Connection<C>], _ parcel: Parcel, within limit: Duration, evicting: Bool, _ result: inout BroadcastResult
    ) async throws {
        let waits = late.compactMap { Wait(connection: $0) }
        result.skipped += late.count - waits.count
        if waits.isEmpty { return }
        let expiry = TimerAction { for wait in waits { wait.expire() } }
        let timer = LoopTimer(expiry)
        loop.armFromAnywhere(timer, after: limit)
        defer {
            loop.disarmFromAnywhere(timer)
            withExtendedLifetime(expiry) {}
        }
        try await withThrowingTaskGroup(of: Fate.self) { group in
            for wait in waits { group.addTask { try await wait.outcome(parcel) } }
            for try await fate in group {
                switch fate {
                case .accepted: result.accepted += 1
                case .skipped: result.skipped += 1
                case .tooSlow(let connection) where evicting:
                    connection.core.evict(after: limit)
                    result.evicted += 1
                case .tooSlow(let connection):
                    connection.core.outbox.beginLagging()
                    result.skipped += 1
                }
            }
        }
    }

    private enum Fate: Sendable {
        case accepted, skipped, tooSlow(Connection<C>)
    }

    /// A connection above its mark, and the place among its senders.
    private struct Wait: Sendable {
        let connection: Connection<C>
        let ticket: OneShot<Void>

        /// Nil if it has ended.
        init?(connection: Connection<C>) {
            guard let ticket = try? connection.core.outbox.takeTicket(timeOut: nil) else { return nil }
            self.connection = connection
            self.ticket = ticket
        }

        /// The limit has come. Who is below the high mark gets it even so, if it is the first that waits.
        func expire() {
            connection.core.outbox.admitNext()
            ticket.fail(Expired())
        }

        func outcome(_ parcel: Parcel) async throws -> Fate {
            do {
                try await ticket.value()
            } catch {
                // Cancelled, or the connection has ended.
                connection.core.outbox.giveBack(ticket)
                return error is Expired ? .tooSlow(connection) : .skipped
            }
            return try parcel.postInTurn(to: connection) ? .accepted : .skipped
        }
    }

    private struct Expired: Error {}

    private enum Parcel: Sendable {
        case encoded(Bytes)
        case frame(C.Encoder.Frame)

        /// Appends it if there is room; nil if the connection has ended or speaks another codec now.
        func post(to connection: Connection<C>) throws -> Bool? {
            try unlessOver {
                switch self {
                case .encoded(let bytes): try connection.outbound.trySend(encoded: bytes)
                case .frame(let frame): try connection.outbound.trySend(frame)
                }
            }
        }

        /// Appends it where a ticket has come to its turn; false if the connection has ended or speaks another codec now.
        func postInTurn(to connection: Connection<C>) throws -> Bool {
            let isPosted = try unlessOver {
                switch self {
                case .encoded(let bytes): try connection.outbound.sendAdmitted(encoded: bytes)
                case .frame(let frame): try connection.outbound.sendAdmitted(frame)
                }
                return true
            }
            return isPosted ?? false
        }

        private func unlessOver(_ body: () throws -> Bool) throws -> Bool? {
            do {
                return try body()
            } catch let error as SocketError where error.code == .closed || error.code == .misuse {
                return nil
            }
        }
    }
}

extension SlowRule {
    /// Whether a connection above its mark is waited for. One that is to be evicted is waited for once in any case, and one that
    /// was waited for in vain not again.
    fileprivate func waits(isLagging: Bool) -> Bool {
        switch self {
        case .skip: false
        case .skipping: !isLagging
        case .evict: true
        }
    }
}

extension StreamCore {
    /// Ends the stream because it didn't keep up. From any thread.
    fileprivate func evict(after limit: Duration) {
        loop.run { self.end(SocketError(.evicted, "\(self.outbox.waitingBytes) bytes were waiting for \(limit)")) }
    }
}
