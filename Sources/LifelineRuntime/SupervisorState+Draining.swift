import LifelineCore

// Emptying the queue.
extension SupervisorState {
    private enum Step { case done, empty, noRoom, closed }

    /// Sends over `link` what waits, in order, as it comes in and as there is room, until the connection ends or the task is cancelled.
    nonisolated(nonsending) func drain(into link: Connection<C>) async {
        let outbox = link.outbound.outbox
        while !Task.isCancelled {
            switch sendFirst(over: link, isAdmitted: false) {
            case .done: continue
            case .closed: return
            case .empty:
                let news = OneShot<Void>()
                let mustWait = lock.withLock {
                    if queue.isEmpty { self.news = news }
                    return queue.isEmpty
                }
                if mustWait { do { try await news.value() } catch { return } }
            case .noRoom:
                do { try await outbox.waitForTurn() } catch { return }
                // Only now one is chosen, so that it could be cancelled until here.
                if sendFirst(over: link, isAdmitted: true) == .empty { outbox.admittedIsThrough() }
            }
        }
    }

    private func sendFirst(over link: Connection<C>, isAdmitted: Bool) -> Step {
        var expired: [Queued] = []
        let now = now
        let first = lock.withLock { queue.beginFirst(now: now, expired: &expired) }
        for message in expired {
            message.receipt.finish(.neverSent(Self.expired))
        }
        guard let first else { return .empty }
        var step = Step.done
        do {
            if isAdmitted {
                try link.outbound.sendAdmitted(first.frame, observer: first.receipt)
            } else if try !link.outbound.trySend(first.frame, observer: first.receipt) {
                step = .noRoom
            }
        } catch let error as SocketError where error.code == .closed && link.outbound.outbox.hasEnded {
            step = .closed
        } catch {
            first.receipt.finish(.neverSent(SocketError(encoding: error)))
        }
        if step == .done { first.receipt.accept() }
        endFirst(first, isGone: step == .done)
        return step
    }

    private func endFirst(_ first: Queued, isGone: Bool) {
        let recalled: SocketError? = lock.withLock {
            let recalled = recallOfFirst
            recallOfFirst = nil
            queue.endFirst(isGone: isGone || recalled != nil)
            return isGone ? nil : recalled
        }
        if let recalled { first.receipt.finish(.neverSent(recalled)) }
    }
}
