import LifelineCore

// Sending.
extension SupervisorState {
    /// Where a message goes.
    private enum Place {
        case connection(Connection<C>)
        /// The sender waits for it.
        case line(SendReceipt)
        case kept(SendReceipt)
        case refused(SocketError)
    }

    /// The connection that messages flow over.
    func present() throws -> Connection<C> {
        let (link, end): (Connection<C>?, SocketError?) = lock.withLock { (self.link, self.end) }
        if let end { throw Self.stopped(end) }
        guard let link else { throw SocketError(.offline, "there is no connection now") }
        return link
    }

    /// Sends `frame`, or does with it what the rule says.
    nonisolated(nonsending) func send(_ frame: C.Encoder.Frame, of message: C.Outgoing, within limit: Duration?) async throws {
        let key = rule.key?(message)
        // Who has no limit needn't know the time.
        let start = limit == nil ? .zero : now
        var rest = limit
        while true {
            switch place(frame, key: key, within: rest, waits: true) {
            case .connection(let link):
                if try await send(frame, over: link, within: rest) { return }
                // It has ended while the message waited for its turn, which counts.
                rest = limit.map { $0 - (now - start) }
                if let rest, rest <= .zero { throw Self.expired }
            case .line(let receipt):
                try await receipt.accepted()
                return
            case .kept: return
            case .refused(let error): throw error
            }
        }
    }

    /// False if the connection has ended: nothing was encoded then.
    private nonisolated(nonsending) func send(_ frame: C.Encoder.Frame, over link: Connection<C>, within limit: Duration?) async throws
        -> Bool
    {
        defer { withExtendedLifetime(link) {} }
        do {
            if let limit {
                try await link.outbound.send(frame, within: limit, on: loop)
            } else {
                try await link.outbound.send(frame)
            }
            return true
        } catch let error as SocketError where error.code == .closed && link.outbound.outbox.hasEnded {
            hasEnded(link)
            return false
        } catch let error as SocketError where error.code == .timedOut && error.phase == .write {
            throw Self.expired
        }
    }

    /// Hands `frame` over without waiting for anything.
    func post(_ frame: C.Encoder.Frame, of message: C.Outgoing, within limit: Duration?) -> SendReceipt {
        let key = rule.key?(message)
        let receipt = SendReceipt()
        var isCrowded = false
        while true {
            switch place(frame, key: key, within: limit, waits: false, isCrowded: isCrowded, receipt: receipt) {
            case .connection(let link):
                defer { withExtendedLifetime(link) {} }
                do {
                    if try link.outbound.trySend(frame, observer: receipt) {
                        receipt.accept()
                        return receipt
                    }
                    isCrowded = true
                } catch let error as SocketError where error.code == .closed && link.outbound.outbox.hasEnded {
                    hasEnded(link)
                } catch {
                    receipt.finish(.neverSent(SocketError(encoding: error)))
                    return receipt
                }
            case .line, .kept: return receipt
            case .refused(let error):
                receipt.finish(.neverSent(error))
                return receipt
            }
        }
    }

    private func hasEnded(_ link: Connection<C>) {
        lock.withLock { if self.link === link { self.link = nil } }
    }

    /// Finds the place of a message, and puts it there unless it is a connection.
    ///
    /// - Parameters:
    ///   - waits: the sender can wait for its turn.
    ///   - isCrowded: the connection has no room now.
    private func place(
        _ frame: C.Encoder.Frame, key: AnyHashable?, within limit: Duration?, waits: Bool, isCrowded: Bool = false,
        receipt: SendReceipt? = nil
    ) -> Place {
        var dropped: [Queued] = []
        var id: UInt64?
        var woken: OneShot<Void>?
        let now = limit == nil ? .zero : now
        lock.lock()
        if let end {
            lock.unlock()
            return .refused(Self.stopped(end))
        }
        if let link, queue.isEmpty, !isCrowded {
            lock.unlock()
            return .connection(link)
        }
        // Behind others that wait for the same connection everybody has to wait; only without one the rule says how many.
        let isInLine = waits && (link != nil || rule.kind == .wait)
        if link == nil, rule.kind == .fail {
            lock.unlock()
            return .refused(SocketError(.offline, "there is no connection now"))
        }
        let receipt = receipt ?? SendReceipt()
        id = queue.add(
            Queued(frame: frame, receipt: receipt), key: key, expires: limit.map { now.addingClamped($0) }, isLimited: !isInLine,
            dropped: &dropped)
        if id != nil {
            woken = news
            news = nil
        }
        let count = queue.count
        lock.unlock()
        woken?.succeed(())
        for message in dropped {
            message.receipt.finish(.neverSent(SocketError(.superseded, "a newer message took this one's place before it was sent")))
        }
        guard let id else { return .refused(SocketError(.queueFull, "\(count) messages wait for the connection already")) }
        receipt.waits(within: limit, on: loop) { [weak self] error in self?.recall(id, error) ?? false }
        return isInLine ? .line(receipt) : .kept(receipt)
    }

    /// Takes a message out of the queue; false if it is too late.
    private func recall(_ id: UInt64, _ error: SocketError) -> Bool {
        let message = lock.withLock {
            if queue.isLeaving(id) { recallOfFirst = error }
            return queue.remove(id)
        }
        message?.receipt.finish(.neverSent(error))
        return message != nil
    }
}
