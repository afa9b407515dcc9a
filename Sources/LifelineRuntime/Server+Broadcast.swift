public import LifelineCore

extension Server {
    /// Sends `frame` to every connection that is there now.
    ///
    /// It is appended at once where there is room; a slow connection delays nobody else. Those above their outbox's high mark are dealt
    /// with by `slow`. Encoded once for all where the encoder is declared stateless, else for each connection. A cancelled call doesn't
    /// wait: the slow ones don't get the frame, and none is closed.
    /// - Returns: how many connections got it, didn't get it and were closed.
    /// - Throws: what the encoder throws. With a stateless encoder nobody gets anything then.
    @discardableResult
    public nonisolated(nonsending) func broadcast(_ frame: C.Encoder.Frame, slow: SlowRule = .skip) async throws -> BroadcastResult {
        let parcel: Parcel
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
        var late: [Late] = []
        let waits = slow != .skip
        for connection in shared.registry.connections {
            switch try parcel.post(to: connection) {
            case .open: result.accepted += 1
            case nil: result.skipped += 1
            case .full:
                let outbox = connection.core.outbox
                if waits, !outbox.isLagging {
                    late.append(Late(connection: connection, drained: outbox.drainer()))
                } else {
                    result.skipped += 1
                }
            }
        }
        switch slow {
        case .skip: break
        case .skipping(let limit): try await settle(late, parcel, within: limit, evicting: false, &result)
        case .evict(let limit): try await settle(late, parcel, within: limit, evicting: true, &result)
        }
        return result
    }

    /// Waits for those that are late, once for all of them, and deals with the rest.
    private nonisolated(nonsending) func settle(
        _ late: [Late], _ parcel: Parcel, within limit: Duration, evicting: Bool, _ result: inout BroadcastResult
    ) async throws {
        if late.isEmpty { return }
        let expiry = TimerAction { for one in late { one.drained?.succeed(false) } }
        let timer = LoopTimer(expiry)
        loop.armFromAnywhere(timer, after: limit)
        defer {
            loop.disarmFromAnywhere(timer)
            withExtendedLifetime(expiry) {}
        }
        for one in late {
            let outbox = one.connection.core.outbox
            var isCancelled = false
            do {
                _ = try await one.drained?.value()
            } catch {
                isCancelled = true
            }
            switch try parcel.post(to: one.connection) {
            case .open: result.accepted += 1
            case nil: result.skipped += 1
            case .full where evicting && !isCancelled:
                let core = one.connection.core
                let error = SocketError(.evicted, "\(outbox.waitingBytes) bytes were waiting for \(limit)")
                core.loop.run { core.end(error) }
                result.evicted += 1
            case .full:
                if !isCancelled { outbox.beginLagging() }
                result.skipped += 1
            }
        }
    }

    /// A connection above its mark, and what it is waited for by.
    private struct Late: Sendable {
        let connection: Connection<C>
        let drained: OneShot<Bool>?
    }

    private enum Parcel: Sendable {
        case encoded(Bytes)
        case frame(C.Encoder.Frame)

        /// Appends it if there is room; nil if the connection has ended.
        func post(to connection: Connection<C>) throws -> Outbox.Admission? {
            switch self {
            case .encoded(let bytes): return connection.core.outbox.append(encoded: bytes)
            case .frame(let frame):
                do {
                    return try connection.outbound.trySend(frame) ? .open : .full
                } catch let error as SocketError where error.code == .closed || error.code == .misuse {
                    return nil
                }
            }
        }
    }
}
