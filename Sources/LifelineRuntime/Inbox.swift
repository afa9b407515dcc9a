public import LifelineCore
public import Synchronization

/// Who fills an inbox.
package protocol InboxProducer: AnyObject, Sendable {
    /// The reader has made room. Called on any thread.
    func inboxHasRoom()
}

/// The decoded frames that wait for their reader. Two queues: the loop fills `back` under the lock; a reader empties `front` without
/// it, holding `isTaking`, and fetches the whole `back` when that is empty. What was fetched counts as waiting until all of it is taken.
///
/// The proof behind `@unchecked`: `front` belongs to whoever set `isTaking`; everything else that changes is guarded by `lock`.
@usableFromInline
package final class Inbox<Frame: Sendable>: @unchecked Sendable {
    @usableFromInline
    package enum Taken {
        case frame(Frame)
        case nothing
        case ended(CloseReason)
        /// Another call is at it.
        case busy
    }

    /// Why the loop doesn't decode on.
    package enum Pause {
        /// The high mark is reached; decoding goes on at the low mark.
        case full
        /// The decoder marked the last frame; decoding goes on when the reader asks for the next.
        case marked
    }

    @usableFromInline let isTaking = Atomic<Bool>(false)
    @exclusivity(unchecked) @usableFromInline var front = FrameQueue<Frame>()

    private let lock = Lock()
    private var back = FrameQueue<Frame>()
    private var frontBytes = 0
    private var backBytes = 0
    private var frontCount = 0
    private var pause: Pause?
    private var end: CloseReason?
    private var waiter: (id: UInt64, continuation: UnsafeContinuation<Frame?, any Error>)?
    private let waiterIDs = Atomic<UInt64>(0)

    private let marks: Marks
    private let maximumCount: Int
    /// Told, outside the lock and on any thread, when decoding may go on. Set once, before the object is shared.
    package weak var producer: (any InboxProducer)?

    package init(marks: Marks, frames: Int) {
        self.marks = marks
        self.maximumCount = max(1, frames)
    }

    /// Why no more frames come, once no more do. Never changes once set, and is set before a reader is told.
    package var reason: CloseReason? { lock.withLock { end } }

    /// Whether no decoded frame waits.
    package var isEmpty: Bool { lock.withLock { back.isEmpty } && withFront { $0.isEmpty } ?? false }

    /// How many frames may be added now.
    package var room: Int { lock.withLock { max(0, maximumCount - back.count - frontCount) } }

    private func withFront<R>(_ body: (inout FrameQueue<Frame>) -> R) -> R? {
        guard !isTaking.exchange(true, ordering: .acquiring) else { return nil }
        defer { isTaking.store(false, ordering: .releasing) }
        return body(&front)
    }
}

// The loop's side.
extension Inbox {
    /// Adds what was decoded from `bytes` bytes, hands the first frame to a reader that waits, and says whether decoding must pause.
    ///
    /// Behind the end nothing is added: then `frames` keeps what it has.
    ///
    /// - Parameter marked: the decoder has marked the last frame.
    package func add(_ frames: inout FrameQueue<Frame>, bytes: Int, marked: Bool) -> Bool {
        lock.lock()
        if end != nil {
            lock.unlock()
            return false
        }
        if back.isEmpty { swap(&back, &frames) } else { back.append(contentsOf: &frames) }
        backBytes += bytes
        var handOver: (UnsafeContinuation<Frame?, any Error>, Frame)?
        if let waiter, let frame = back.popFirst() {
            self.waiter = nil
            if back.isEmpty { backBytes = 0 }
            back.recycle()
            handOver = (waiter.continuation, frame)
        }
        if marked {
            pause = .marked
        } else if frontBytes + backBytes >= marks.high || frontCount + back.count >= maximumCount {
            pause = .full
        }
        let isPaused = pause != nil
        lock.unlock()
        if let (continuation, frame) = handOver { continuation.resume(returning: frame) }
        return isPaused
    }

    /// No more frames come. The first reason stays.
    package func end(_ reason: CloseReason) {
        lock.lock()
        if end == nil { end = reason }
        let waiter = self.waiter
        self.waiter = nil
        lock.unlock()
        guard let waiter else { return }
        if let error = reason.error {
            waiter.continuation.resume(throwing: error)
        } else {
            waiter.continuation.resume(returning: nil)
        }
    }
}

// The reader's side.
extension Inbox {
    /// The next frame, if one is there. The fast path takes no lock.
    @inlinable
    package func take() -> Taken {
        if isTaking.exchange(true, ordering: .acquiring) { return .busy }
        if let frame = front.popFirst() {
            isTaking.store(false, ordering: .releasing)
            return .frame(frame)
        }
        let taken = refill()
        isTaking.store(false, ordering: .releasing)
        return taken
    }

    /// Fetches what has arrived. The caller holds `isTaking`.
    @usableFromInline
    func refill() -> Taken {
        front.recycle()
        lock.lock()
        if waiter != nil {
            // Another call waits, so both queues are empty; what arrives next is its.
            lock.unlock()
            return .busy
        }
        swap(&front, &back)
        frontBytes = backBytes
        frontCount = front.count
        backBytes = 0
        let hasRoom: Bool =
            switch pause {
            case .full: frontBytes <= marks.low && frontCount <= maximumCount / 2
            case .marked: frontCount == 0 && end == nil
            case nil: false
            }
        if hasRoom { pause = nil }
        let end = self.end
        lock.unlock()
        if hasRoom { producer?.inboxHasRoom() }
        if let frame = front.popFirst() { return .frame(frame) }
        return end.map { .ended($0) } ?? .nothing
    }

    /// Everything that is there, in one array.
    package func takeAll() -> (frames: [Frame], taken: Taken) {
        if isTaking.exchange(true, ordering: .acquiring) { return ([], .busy) }
        defer { isTaking.store(false, ordering: .releasing) }
        if !front.isEmpty { return (front.takeAll(), .nothing) }
        switch refill() {
        case .frame(let first):
            return ([first] + front.takeAll(), .nothing)
        case let other:
            return ([], other)
        }
    }

    /// A name for the next wait, so that a cancellation meets only its own.
    @usableFromInline
    func newWaiterID() -> UInt64 { waiterIDs.add(1, ordering: .relaxed).newValue }

    /// Waits in `continuation`, unless there is something to say at once.
    ///
    /// `isTaking` is held meanwhile: another call may have fetched frames since this one found none. It is let go of before anybody can
    /// resume the continuation, so that the caller's next call doesn't meet it.
    @usableFromInline
    func park(_ id: UInt64, _ continuation: UnsafeContinuation<Frame?, any Error>) {
        if isTaking.exchange(true, ordering: .acquiring) {
            continuation.resume(throwing: Self.secondReader)
            return
        }
        if let frame = front.popFirst() {
            isTaking.store(false, ordering: .releasing)
            continuation.resume(returning: frame)
            return
        }
        var answer: Result<Frame?, any Error>?
        lock.lock()
        if waiter != nil {
            answer = .failure(Self.secondReader)
        } else if !back.isEmpty {
            answer = .success(back.popFirst())
            if back.isEmpty { backBytes = 0 }
            back.recycle()
        } else if let end {
            answer = end.error.map { .failure($0) } ?? .success(nil)
        } else if withUnsafeCurrentTask(body: { $0?.isCancelled ?? false }) {
            answer = .failure(CancellationError())
        } else {
            waiter = (id, continuation)
        }
        isTaking.store(false, ordering: .releasing)
        lock.unlock()
        if let answer { continuation.resume(with: answer) }
    }

    /// Ends the wait called `id` with `error`, if it still waits.
    @usableFromInline
    func unpark(_ id: UInt64, throwing error: any Error) {
        lock.lock()
        guard let waiter, waiter.id == id else {
            lock.unlock()
            return
        }
        self.waiter = nil
        lock.unlock()
        waiter.continuation.resume(throwing: error)
    }

    /// The next frame, waiting for it; nil after a clean end.
    @inlinable
    package nonisolated(nonsending) func next() async throws -> Frame? {
        switch take() {
        case .frame(let frame): return frame
        case .nothing: return try await wait(newWaiterID())
        case .ended(let reason):
            if let error = reason.error { throw error }
            return nil
        case .busy: throw Self.secondReader
        }
    }

    @inlinable
    nonisolated(nonsending) func wait(_ id: UInt64) async throws -> Frame? {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { park(id, $0) }
        } onCancel: {
            unpark(id, throwing: CancellationError())
        }
    }

    @usableFromInline
    static var secondReader: SocketError {
        SocketError(.misuse, "a second call waits for a frame of the same connection: one reader at a time")
    }
}
