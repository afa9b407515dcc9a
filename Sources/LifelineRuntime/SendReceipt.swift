public import LifelineCore

/// What became of a message.
public enum SendOutcome: Sendable, Equatable {
    /// The kernel has taken all of it. Whether the peer has read it only an answer can tell.
    case written
    /// It wasn't sent, or not all of it, so the peer can't have it; the error says why. It never will be.
    case neverSent(SocketError)
}

/// Follows one message that was handed over with ``Supervisor/post(_:timeToLive:)``. It may be let go: the message goes its way.
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`.
public final class SendReceipt: FlushObserver, @unchecked Sendable {
    private enum State {
        case waiting
        /// Encoded for a connection.
        case accepted
        case done(SendOutcome)
    }

    private struct Waiter {
        let id: UInt64
        let wantsOutcome: Bool
        let continuation: UnsafeContinuation<Void, any Error>
    }

    private let lock = Lock()
    private var state = State.waiting
    private var waiters: [Waiter] = []
    private var waiterIDs: UInt64 = 0
    /// Ends its wait in the queue; false if it doesn't wait there any more.
    private var recall: (@Sendable (SocketError) -> Bool)?
    private var timer: (loop: any EventLoop, timer: LoopConfined<LoopTimer>)?

    init() {}

    /// What became of it; nil while that isn't known.
    public var settled: SendOutcome? {
        lock.withLock { if case .done(let outcome) = state { outcome } else { nil } }
    }

    /// What becomes of it, waiting for that.
    ///
    /// - Throws: `CancellationError` when the asking task is cancelled; the message goes its way all the same.
    public var outcome: SendOutcome {
        get async throws {
            try await wait(forOutcome: true)
            return settled ?? .neverSent(SocketError(.closed, "the link has gone"))
        }
    }

    /// Takes the message back, if it waits unencoded in the supervisor's queue; then it is never sent. False if it is too late for that.
    @discardableResult
    public func cancel() -> Bool {
        let recall = lock.withLock { self.recall }
        return recall?(SocketError(.withdrawn, "the message was cancelled while it waited")) ?? false
    }
}

extension SendReceipt: LoopTimerTarget {
    /// It waits in a queue, which `recall` takes it out of, for at most `limit`.
    func waits(within limit: Duration?, on loop: any EventLoop, recall: @escaping @Sendable (SocketError) -> Bool) {
        let timer = limit.map { _ in LoopTimer(self) }
        lock.withLock {
            guard case .waiting = state else { return }
            self.recall = recall
            if let timer { self.timer = (loop, LoopConfined(timer)) }
        }
        guard let limit, let timer else { return }
        loop.armFromAnywhere(timer, after: limit)
        // Its wait may have ended before there was a timer to disarm.
        if lock.withLock({ self.timer == nil }) { loop.disarmFromAnywhere(timer) }
    }

    package func timerFired(_ timer: LoopTimer) {
        let recall = lock.withLock { self.recall }
        _ = recall?(SocketError(.expired, "the message waited for longer than it was good for"))
    }

    /// It was encoded for a connection.
    func accept() {
        advance { state in if case .waiting = state { state = .accepted } }
    }

    func finish(_ outcome: SendOutcome) {
        advance { state in
            if case .done = state { return }
            state = .done(outcome)
        }
    }

    package func kernelHasAll() { finish(.written) }

    package func isLost(_ error: SocketError) { finish(.neverSent(error)) }

    private func advance(_ change: (inout State) -> Void) {
        lock.lock()
        change(&state)
        let isDone = if case .done = state { true } else { false }
        let woken = waiters.filter { isDone || !$0.wantsOutcome }
        waiters.removeAll { isDone || !$0.wantsOutcome }
        let timer = self.timer
        self.timer = nil
        let recall = self.recall
        self.recall = nil
        lock.unlock()
        if let timer { timer.loop.disarmFromAnywhere(timer.timer.value) }
        for waiter in woken { waiter.continuation.resume() }
        withExtendedLifetime(recall) {}
    }

    /// Waits until it is encoded, or never sent.
    ///
    /// - Throws: what it wasn't sent for; `CancellationError` if it could still be taken back when the task was cancelled.
    nonisolated(nonsending) func accepted() async throws {
        do {
            try await wait(forOutcome: false)
        } catch {
            if cancel() { throw error }
            // It is just being encoded, or was: that is settled in a moment.
            try await withUnsafeThrowingContinuation { park(0, forOutcome: false, $0) }
        }
        if case .neverSent(let error) = settled {
            if error.code == .withdrawn, Task.isCancelled { throw CancellationError() }
            throw error
        }
    }

    private nonisolated(nonsending) func wait(forOutcome: Bool) async throws {
        let id = lock.withLock {
            waiterIDs += 1
            return waiterIDs
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { park(id, forOutcome: forOutcome, $0) }
        } onCancel: {
            unpark(id)
        }
    }

    private func park(_ id: UInt64, forOutcome: Bool, _ continuation: UnsafeContinuation<Void, any Error>) {
        lock.lock()
        let isReady =
            switch state {
            case .waiting: false
            case .accepted: !forOutcome
            case .done: true
            }
        let isCancelled = id != 0 && withUnsafeCurrentTask { $0?.isCancelled ?? false }
        if !isReady, !isCancelled { waiters.append(Waiter(id: id, wantsOutcome: forOutcome, continuation: continuation)) }
        lock.unlock()
        if isReady {
            continuation.resume()
        } else if isCancelled {
            continuation.resume(throwing: CancellationError())
        }
    }

    private func unpark(_ id: UInt64) {
        lock.lock()
        let place = waiters.firstIndex { $0.id == id }
        let waiter = place.map { waiters.remove(at: $0) }
        lock.unlock()
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
