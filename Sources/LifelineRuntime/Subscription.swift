public import LifelineCore

/// The messages of a supervised link that one reader has asked for, in a bounded queue of its own.
///
/// They go on across reconnects, in order, and end when the link stops; a later run needs a new subscription. One that is let go ends,
/// and what it wanted reaches `messages` again. A slow reader delays nobody else; see ``WhenFull``. Several tasks may read: each message
/// goes to one of them.
public final class Subscription<C: Codec>: Sendable {
    /// What becomes of a message for which there is no room.
    public enum WhenFull: Sendable, Hashable {
        /// The subscription ends: behind the messages that are there its reader gets ``SocketError/Code/evicted``.
        case end
        /// The oldest message goes, and is counted.
        case dropOldest
    }

    /// How many unread messages one holds unless it is said: 256.
    public static var defaultLimit: Int { 256 }

    let mailbox: Mailbox<C.Decoder.Frame>
    private let codec: C

    init(_ mailbox: Mailbox<C.Decoder.Frame>, codec: C) {
        self.mailbox = mailbox
        self.codec = codec
    }

    deinit { mailbox.end(.closedHere) }

    /// How many messages had no room.
    public var dropped: Int { mailbox.dropped }

    /// The next message; nil once the link was stopped. A cancelled call loses nothing.
    ///
    /// - Throws: `CancellationError`; the error that stopped the link; ``SocketError/Code/evicted``; what the codec throws for a frame that
    ///   no message can be made of, in that one's place.
    public nonisolated(nonsending) func next() async throws -> C.Message? {
        guard let frame = try await mailbox.next() else { return nil }
        do {
            return try codec.message(from: frame)
        } catch {
            throw SocketError(decoding: error)
        }
    }

    /// The messages, to iterate with `for try await`. Ends as ``next()`` does, or when the iterating task is cancelled between two of them.
    public var messages: AsyncThrowingStream<C.Message, any Error> {
        AsyncThrowingStream { try await self.next() }
    }
}

/// A bounded queue of frames, filled on a loop.
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`; `isWanted` never changes.
final class Mailbox<Frame: Sendable>: @unchecked Sendable {
    private let isWanted: @Sendable (Frame) -> Bool
    private let limit: Int
    private let makesRoom: Bool

    private let lock = Lock()
    private var frames = FrameQueue<Frame>()
    private var reason: CloseReason?
    private var waiters: [OneShot<Void>] = []
    private var droppedSoFar = 0

    init(limit: Int, makesRoom: Bool, isWanted: @escaping @Sendable (Frame) -> Bool) {
        self.limit = max(1, limit)
        self.makesRoom = makesRoom
        self.isWanted = isWanted
    }

    var dropped: Int { lock.withLock { droppedSoFar } }
    var hasEnded: Bool { lock.withLock { reason != nil } }

    /// Takes the frame if it is wanted. One that can't be kept is taken all the same.
    func take(_ frame: Frame) -> Bool {
        guard isWanted(frame), !hasEnded else { return false }
        var oldest: Frame?
        lock.lock()
        if frames.count < limit {
            frames.append(frame)
        } else {
            droppedSoFar += 1
            if makesRoom {
                oldest = frames.popFirst()
                frames.append(frame)
            } else {
                reason = .failed(SocketError(.evicted, "the reader of a subscription has left \(limit) messages unread"))
            }
        }
        wakeAndUnlock()
        withExtendedLifetime(oldest) {}
        return true
    }

    /// No more frames come. The first reason stays.
    func end(_ reason: CloseReason) {
        lock.lock()
        if self.reason == nil { self.reason = reason }
        wakeAndUnlock()
    }

    private func wakeAndUnlock() {
        let woken = waiters
        waiters = []
        lock.unlock()
        for waiter in woken { waiter.succeed(()) }
    }

    nonisolated(nonsending) func next() async throws -> Frame? {
        while true {
            let news = OneShot<Void>()
            let (frame, reason): (Frame?, CloseReason?) = lock.withLock {
                if let frame = frames.popFirst() {
                    frames.recycle()
                    return (frame, nil)
                }
                if self.reason == nil { waiters.append(news) }
                return (nil, self.reason)
            }
            if let frame { return frame }
            if let reason {
                if let error = reason.error { throw error }
                return nil
            }
            do {
                try await news.value()
            } catch {
                lock.withLock { waiters.removeAll { $0 === news } }
                throw error
            }
        }
    }
}

/// Shows the frames of one connection to the subscriptions of its supervisor.
final class SubscriptionTaker<Frame: Sendable>: FrameTaker {
    private let list: MailboxList<Frame>
    init(_ list: MailboxList<Frame>) { self.list = list }

    func take(_ frame: Frame) -> Bool { list.take(frame) }
    func noMoreFrames(_ reason: CloseReason) {}
}

/// The subscriptions of a supervisor, in the order in which they came. They go with their readers.
///
/// The proof behind `@unchecked`: what changes is guarded by `lock`.
final class MailboxList<Frame: Sendable>: @unchecked Sendable {
    private struct Entry { weak var mailbox: Mailbox<Frame>? }

    private let lock = Lock()
    private var entries: [Entry] = []
    /// Whether there were any when it was last looked.
    private var hasEntries = false

    deinit { for entry in entries { entry.mailbox?.end(.closedHere) } }

    private var mailboxes: [Mailbox<Frame>] { lock.withLock { entries.compactMap(\.mailbox) } }

    func add(_ mailbox: Mailbox<Frame>) {
        lock.withLock {
            entries.removeAll { $0.mailbox == nil }
            entries.append(Entry(mailbox: mailbox))
            hasEntries = true
        }
    }

    /// Gives the frame to each that wants it.
    func take(_ frame: Frame) -> Bool {
        // Each frame of each link comes by.
        guard lock.withLock({ hasEntries }) else { return false }
        var isTaken = false
        for mailbox in mailboxes where mailbox.take(frame) { isTaken = true }
        return isTaken
    }

    /// No more frames come for those that are there.
    func end(_ reason: CloseReason) {
        let ended = lock.withLock {
            defer {
                entries = []
                hasEntries = false
            }
            return entries.compactMap(\.mailbox)
        }
        for mailbox in ended { mailbox.end(reason) }
    }
}
