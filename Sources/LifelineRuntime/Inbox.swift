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

    @usableFromInline let isTaking = Atomic<Bool>(false)
    /// A look at it saves the lock: false while nothing has arrived since the last fetching.
    @usableFromInline let hasNews = Atomic<Bool>(true)
    private let watchedTask = Atomic<UInt>(0)
    /// Guarded by the lock.
    @exclusivity(unchecked) private var isWatchedTaskCancelled = false
    @exclusivity(unchecked) @usableFromInline var front = FrameQueue<Frame>()

    private let lock = Lock()
    @exclusivity(unchecked) private var back = FrameQueue<Frame>()
    @exclusivity(unchecked) private var frontBytes = 0
    @exclusivity(unchecked) private var backBytes = 0
    @exclusivity(unchecked) private var frontCount = 0
    @exclusivity(unchecked) private var pause: InboxPause?
    @exclusivity(unchecked) private var end: CloseReason?
    /// What the reader itself found wrong; it comes before `end`.
    @exclusivity(unchecked) private var failure: SocketError?
    @exclusivity(unchecked) private var waiter: InboxWaiter?
    private let waiterIDs = Atomic<UInt64>(0)
    /// Frames that were added so far.
    @exclusivity(unchecked) private var added: UInt64 = 0
    /// A reader was told the end.
    @exclusivity(unchecked) private var isEndTold = false

    private let marks: Marks
    package let maximumCount: Int
    /// Told, outside the lock and on any thread, when decoding may go on. Set once, before the object is shared.
    /// Who reads holds the connection, and so this. (A weak reference costs a block.)
    @exclusivity(unchecked) package unowned var producer: (any InboxProducer)?

    package init(marks: Marks, frames: Int) {
        self.marks = marks
        self.maximumCount = max(1, frames)
    }

    /// Why no more frames come, once no more do. Never changes once set, and is set before a reader is told.
    package var reason: CloseReason? { lock.withLock { end } }

    /// Whether nothing more is to be added for now.
    package var isPaused: Bool { lock.withLock { pause != nil } }

    /// Whether no decoded frame waits.
    package var isEmpty: Bool { lock.withLock { back.isEmpty } && withFront { $0.isEmpty } ?? false }

    /// Bounds for frames that are to follow these: what is left of its own, and at least one frame.
    package var room: (marks: Marks, frames: Int) {
        lock.withLock {
            (Marks(high: marks.high - frontBytes - backBytes), max(1, maximumCount - frontCount - back.count))
        }
    }

    /// Whether a reader was told the end.
    package var hasToldEnd: Bool { lock.withLock { isEndTold } }

    /// Frames that were added so far.
    package var addedFrames: UInt64 { lock.withLock { added } }

    /// Frames that were added and taken so far. For the reader whose turn it is.
    package var takenFrames: UInt64 {
        let left = withFront { $0.count } ?? 0
        return lock.withLock { added &- UInt64(left + back.count) }
    }

    /// Takes out all that is there, for another inbox. Nothing is added meanwhile.
    package func drain(into frames: inout FrameQueue<Frame>) -> (bytes: Int, isMarked: Bool) {
        // Who is at it takes a frame, which is done at once.
        while isTaking.exchange(true, ordering: .acquiring) {}
        defer { isTaking.store(false, ordering: .releasing) }
        frames.append(contentsOf: &front)
        lock.lock()
        defer { lock.unlock() }
        frames.append(contentsOf: &back)
        let bytes = frontBytes + backBytes
        frontBytes = 0
        frontCount = 0
        backBytes = 0
        return (bytes, pause == .marked)
    }

    private func withFront<R>(_ body: (inout FrameQueue<Frame>) -> R) -> R? {
        guard !isTaking.exchange(true, ordering: .acquiring) else { return nil }
        defer { isTaking.store(false, ordering: .releasing) }
        return body(&front)
    }
}

// The loop's side.
extension Inbox {
    /// Adds what was decoded from `bytes` bytes, and wakes a reader that waits. Behind the end nothing is added: then `frames` keeps what
    /// it has.
    ///
    /// - Parameter marked: the decoder has marked the last frame.
    package func add(_ frames: inout FrameQueue<Frame>, bytes: Int, marked: Bool) -> InboxAdded {
        lock.lock()
        if end != nil {
            lock.unlock()
            return InboxAdded(isPaused: false, room: maximumCount)
        }
        added &+= UInt64(frames.count)
        if back.isEmpty { back.exchange(with: &frames) } else { back.append(contentsOf: &frames) }
        backBytes += bytes
        hasNews.store(true, ordering: .releasing)
        let waking = waiter?.continuation
        waiter?.continuation = nil
        let count = frontCount + back.count
        if marked {
            pause = .marked
        } else if frontBytes + backBytes >= marks.high || count >= maximumCount {
            pause = .full
        }
        let added = InboxAdded(isPaused: pause != nil, room: max(1, maximumCount - count))
        lock.unlock()
        waking?.resume()
        return added
    }

    /// No more frames come. The first reason stays.
    package func end(_ reason: CloseReason) {
        lock.lock()
        if end == nil { end = reason }
        hasNews.store(true, ordering: .releasing)
        let waking = waiter?.continuation
        waiter?.continuation = nil
        lock.unlock()
        waking?.resume()
    }
}

// The reader's side.
extension Inbox {
    /// The next frame, if one is there. The fast path takes no lock.
    ///
    /// - Parameter waiter: the call, if it has waited.
    @inlinable @inline(__always)
    package func take(for waiter: UInt64 = 0) -> Taken {
        if isTaking.exchange(true, ordering: .acquiring) { return .busy }
        defer { isTaking.store(false, ordering: .releasing) }
        if let frame = front.popFirst() {
            if waiter != 0 { hasTaken(waiter) }
            return .frame(frame)
        }
        if waiter == 0, !hasNews.load(ordering: .acquiring) { return .nothing }
        switch refill(for: waiter) {
        case .filled: return front.popFirst().map { .frame($0) } ?? .nothing
        case .nothing: return .nothing
        case .ended(let reason): return .ended(reason)
        case .busy: return .busy
        }
    }

    /// Everything that is there, in one array; empty if the other result says why.
    package func takeAll(for waiter: UInt64 = 0) -> (frames: [Frame], taken: Taken) {
        if isTaking.exchange(true, ordering: .acquiring) { return ([], .busy) }
        defer { isTaking.store(false, ordering: .releasing) }
        if !front.isEmpty {
            if waiter != 0 { hasTaken(waiter) }
            return (front.takeAll(), .nothing)
        }
        switch refill(for: waiter) {
        case .filled: return (front.takeAll(), .nothing)
        case .nothing: return ([], .nothing)
        case .ended(let reason): return ([], .ended(reason))
        case .busy: return ([], .busy)
        }
    }

    /// The call that waited has met frames that another call had fetched.
    @usableFromInline
    func hasTaken(_ id: UInt64) {
        lock.withLock { if waiter?.id == id { waiter = nil } }
    }

    /// Fetches what has arrived. The caller holds `isTaking`, and `front` is empty.
    @usableFromInline
    func refill(for caller: UInt64) -> InboxRefill {
        front.recycle()
        lock.lock()
        if let waiter {
            if waiter.id != caller {
                // Another call waits, or was woken and is on its way: what is there is its.
                lock.unlock()
                return .busy
            }
            self.waiter = nil
        }
        front.exchange(with: &back)
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
        let isFilled = frontCount > 0
        let end = isFilled ? nil : failure.map { .failed($0) } ?? self.end
        if end != nil { isEndTold = true }
        // What was fetched goes on counting as waiting until the next fetching, so that isn't left out after many frames.
        if pause == nil, self.end == nil, frontCount <= 16, frontBytes <= marks.high / 4 { hasNews.store(false, ordering: .releasing) }
        lock.unlock()
        if hasRoom { producer?.inboxHasRoom() }
        if isFilled { return .filled }
        return end.map { .ended($0) } ?? .nothing
    }

    /// The reader can't make use of what came: it gets `error` from now on, and nothing of what is there. For the reader whose turn it is.
    package func fail(_ error: SocketError) {
        var dropped = FrameQueue<Frame>()
        // Whoever else is at it, against the rules, is through with it in a moment.
        while withFront({ $0.exchange(with: &dropped) }) == nil {}
        lock.lock()
        failure = error
        if end == nil { end = .failed(error) }
        var later = FrameQueue<Frame>()
        back.exchange(with: &later)
        frontBytes = 0
        frontCount = 0
        backBytes = 0
        hasNews.store(true, ordering: .releasing)
        lock.unlock()
    }

    /// A name for the next wait, so that a cancellation meets only its own.
    @usableFromInline
    func newWaiterID() -> UInt64 { waiterIDs.add(1, ordering: .relaxed).newValue }

    /// Waits in `continuation`, unless there is something to take at once.
    ///
    /// `isTaking` is held meanwhile: another call may have fetched frames since this one found none. It is let go of before anybody can
    /// resume the continuation, so that the caller's next call doesn't meet it.
    @usableFromInline
    func park(_ id: UInt64, isWatched: Bool = false, _ continuation: UnsafeContinuation<Void, any Error>) {
        if isTaking.exchange(true, ordering: .acquiring) {
            continuation.resume(throwing: Self.secondReader)
            return
        }
        let isFetched = !front.isEmpty
        var answer: Result<Void, any Error>?
        lock.lock()
        if waiter != nil {
            answer = .failure(Self.secondReader)
        } else if isFetched || !back.isEmpty || end != nil {
            waiter = InboxWaiter(id: id, isWatched: isWatched, continuation: nil)
            answer = .success(())
        } else if isWatched ? isWatchedTaskCancelled : withUnsafeCurrentTask(body: { $0?.isCancelled ?? false }) {
            answer = .failure(CancellationError())
        } else {
            waiter = InboxWaiter(id: id, isWatched: isWatched, continuation: continuation)
        }
        isTaking.store(false, ordering: .releasing)
        lock.unlock()
        if let answer { continuation.resume(with: answer) }
    }

    /// Ends the wait called `id` with `error`, if it still waits. One that was woken takes its frame.
    @usableFromInline
    func unpark(_ id: UInt64, throwing error: any Error) {
        lock.lock()
        guard let waiter, waiter.id == id, let continuation = waiter.continuation else {
            lock.unlock()
            return
        }
        self.waiter = nil
        lock.unlock()
        continuation.resume(throwing: error)
    }

    /// The next frame, waiting for it; nil after a clean end.
    @inlinable @inline(__always)
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
        if isWatchedTask {
            try await withUnsafeThrowingContinuation { park(id, isWatched: true, $0) }
        } else {
            try await pause(id)
        }
        switch take(for: id) {
        case .frame(let frame): return frame
        case .ended(let reason):
            if let error = reason.error { throw error }
            return nil
        case .nothing: throw Self.secondReader
        case .busy: return try await takeAgain(id)
        }
    }

    /// A second call was just finding out that it is one when this one came to take its frame.
    @usableFromInline @inline(never)
    nonisolated(nonsending) func takeAgain(_ id: UInt64) async throws -> Frame? {
        while true {
            await Task.yield()
            switch take(for: id) {
            case .frame(let frame): return frame
            case .ended(let reason):
                if let error = reason.error { throw error }
                return nil
            case .nothing: throw Self.secondReader
            case .busy: continue
            }
        }
    }

    /// Waits until there is something to take, or the task is cancelled.
    @usableFromInline
    nonisolated(nonsending) func pause(_ id: UInt64) async throws {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { park(id, $0) }
        } onCancel: {
            unpark(id, throwing: CancellationError())
        }
    }

    /// Says that whoever cancels the calling task also ends this inbox, until ``unwatchTask()``.
    ///
    /// A server does so with the tasks of its handlers. Their waits then need no cancellation handler: that saves an idle connection
    /// 300 bytes of its task's stack, and each wait a tenth of a microsecond.
    package func watchCurrentTask() { watchedTask.store(Self.currentTask, ordering: .relaxed) }

    /// Ends the wait of the watched task, which has been cancelled.
    package func cancelWatchedWait() {
        lock.lock()
        isWatchedTaskCancelled = true
        guard let waiter, waiter.isWatched, let continuation = waiter.continuation else {
            lock.unlock()
            return
        }
        self.waiter = nil
        lock.unlock()
        continuation.resume(throwing: CancellationError())
    }

    package func unwatchTask() { watchedTask.store(0, ordering: .relaxed) }

    @usableFromInline
    var isWatchedTask: Bool {
        let task = watchedTask.load(ordering: .relaxed)
        return task != 0 && task == Self.currentTask
    }

    /// The identity of the calling task, good for comparing while it lives.
    private static var currentTask: UInt { withUnsafeCurrentTask { task in task.map { unsafeBitCast($0, to: UInt.self) } ?? 0 } }

    @usableFromInline
    static var secondReader: SocketError {
        SocketError(.misuse, "a second call waits for a frame of the same connection: one reader at a time")
    }
}
