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

    let loop: any EventLoop
    let relay: InboxRelay<C.Decoder>
    let rule: OfflineRule<C.Outgoing>
    private let options: ConnectionOptions

    let lock = Lock()
    private var frames: Frames
    /// The connection that messages flow over.
    var link: Connection<C>?
    /// Frames that came before its own.
    private var framesBeforeLink: UInt64 = 0
    var queue: OfflineQueue<Queued>
    /// It was asked for while it was being encoded.
    var recallOfFirst: SocketError?
    /// Why nothing can be sent until the next start.
    var end: SocketError?
    /// Who empties the queue waits for this.
    var news: OneShot<Void>?

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

    var now: Duration { .nanoseconds(loop.now.nanoseconds) }

    deinit {
        // Whoever asks what became of a message may hold nothing but its receipt.
        let error = SocketError(.closed, "the link has gone")
        for message in queue.removeAll() { message.receipt.finish(.neverSent(error)) }
    }
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

    static var expired: SocketError { SocketError(.expired, "the message waited for longer than it was good for") }

    /// What senders get once the link was stopped with `error`.
    static func stopped(_ error: SocketError) -> SocketError {
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
