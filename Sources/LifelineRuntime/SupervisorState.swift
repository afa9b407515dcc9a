public import LifelineCore

/// What senders and readers on any thread share with a supervisor.
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`, except that `relay` is used on the loop.
@usableFromInline
final class SupervisorState<C: Codec>: @unchecked Sendable {
    @usableFromInline typealias Frames = Inbox<C.Decoder.Frame>

    struct Queued {
        let frame: C.Encoder.Frame
        let receipt: SendReceipt
    }

    /// Where a message goes.
    private enum Place {
        case connection(Connection<C>)
        /// The sender waits for it.
        case line(SendReceipt)
        case kept(SendReceipt)
        case refused(SocketError)
    }

    let loop: any EventLoop
    let relay: InboxRelay<C.Decoder>
    private let rule: OfflineRule<C.Outgoing>
    private let options: ConnectionOptions

    private let lock = Lock()
    private var frames: Frames
    /// The connection that messages flow over.
    private var link: Connection<C>?
    /// Frames that came before its own.
    private var framesBeforeLink: UInt64 = 0
    private var queue: OfflineQueue<Queued>
    /// It was asked for while it was being encoded.
    private var recallOfFirst: SocketError?
    /// Why nothing can be sent until the next start.
    private var end: SocketError?
    /// Who empties the queue waits for this.
    private var news: OneShot<Void>?

    init(loop: any EventLoop, rule: OfflineRule<C.Outgoing>, options: ConnectionOptions) {
        self.loop = loop
        relay = InboxRelay(loop: loop)
        self.rule = rule
        self.options = options
        queue = OfflineQueue(limit: rule.limit, makesRoom: rule.kind == .dropOldest)
        frames = Frames(marks: options.inbox, frames: options.inboxFrames)
        frames.producer = relay
    }

    /// The frames of the present run, or of the last one.
    @usableFromInline var inbox: Frames { lock.withLock { frames } }
    var waitingMessages: Int { lock.withLock { queue.count } }

    private var now: Duration { .nanoseconds(loop.now.nanoseconds) }
}

// The supervisor's side, on the loop.
extension SupervisorState {
    /// A run begins. What nobody has read of the last one stands in front.
    func begin() {
        let last = inbox
        guard last.reason != nil else { return }
        let next = Frames(marks: options.inbox, frames: options.inboxFrames)
        next.producer = relay
        var unread = FrameQueue<C.Decoder.Frame>()
        let (bytes, _) = last.drain(into: &unread)
        if !unread.isEmpty { _ = next.add(&unread, bytes: bytes, marked: false) }
        lock.withLock {
            frames = next
            end = nil
        }
    }

    /// Messages flow over `link`, those that waited first.
    func open(_ link: Connection<C>, framesBefore: UInt64) {
        lock.withLock {
            self.link = link
            framesBeforeLink = framesBefore
        }
        relay.inbound = link.inbound
    }

    /// The connection is over.
    func close() {
        let last = lock.withLock {
            defer { link = nil }
            return link
        }
        withExtendedLifetime(last) {}
    }

    /// Nothing can be sent any more.
    func refuse(_ error: SocketError) {
        lock.withLock { if end == nil { end = error } }
        close()
    }

    /// The run is over, for `reason`: what still waits is never sent, and readers get the end behind what is there.
    func finish(_ reason: CloseReason, _ error: SocketError) {
        refuse(error)
        let left = lock.withLock { queue.removeAll() }
        for message in left { message.receipt.finish(.neverSent(Self.stopped(error))) }
        inbox.end(reason)
    }

    private static var expired: SocketError { SocketError(.expired, "the message waited for longer than it was good for") }

    /// What senders get once the link was stopped with `error`.
    private static func stopped(_ error: SocketError) -> SocketError {
        error.code == .closed ? error : SocketError(.closed, "the link was stopped", cause: error)
    }

    /// No message can be made of a frame: its connection ends, if it is still there.
    func refused(_ error: SocketError, in inbox: Frames) {
        let taken = inbox.takenFrames
        let link: Connection<C>? = lock.withLock { inbox === frames && taken > framesBeforeLink ? self.link : nil }
        guard let link else { return }
        loop.run { link.core.violated(error) }
    }
}

// Sending.
extension SupervisorState {
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
        let start = loop.now
        var rest = limit
        while true {
            switch place(frame, key: key, within: rest, waits: true) {
            case .connection(let link):
                if try await send(frame, over: link, within: rest) { return }
                // It has ended while the message waited for its turn, which counts.
                rest = limit.map { $0 - start.duration(to: loop.now) }
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
                withExtendedLifetime(link) {}
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

/// Tells the connection of the moment that there is room in the inbox.
///
/// The proof behind `@unchecked`: `inbound` is used on `loop` only.
final class InboxRelay<Decoder: FrameDecoder>: InboxProducer, LoopNotice, @unchecked Sendable {
    /// On the loop.
    weak var inbound: Inbound<Decoder>?
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func inboxHasRoom() { loop.post(self) }
    func deliver() { inbound?.deliver() }
}
