package import LifelineCore

/// A result that one task waits for and that the first of several parties gives: the work, a time limit, a cancellation, an end.
///
/// The proof behind `@unchecked`: all state is guarded by `lock`, and the continuation is resumed outside of it.
package final class OneShot<Value: Sendable>: @unchecked Sendable, LoopTimerTarget {
    private enum State {
        case empty
        case waiting(UnsafeContinuation<Value, any Error>)
        case done(Result<Value, any Error>)
        case taken
    }

    private let lock = Lock()
    private var state = State.empty
    private let timeOut: SocketError?

    /// - Parameter timeOut: what the waiter gets when a timer that targets this fires.
    package init(timeOut: SocketError? = nil) { self.timeOut = timeOut }

    /// Whether there is a result, taken or not.
    package var isFinished: Bool {
        lock.withLock {
            switch state {
            case .empty, .waiting: false
            case .done, .taken: true
            }
        }
    }

    /// Gives the result; false if there is one already.
    @discardableResult
    package func finish(_ result: Result<Value, any Error>) -> Bool {
        lock.lock()
        switch state {
        case .empty:
            state = .done(result)
            lock.unlock()
            return true
        case .waiting(let continuation):
            state = .taken
            lock.unlock()
            continuation.resume(with: result)
            return true
        case .done, .taken:
            lock.unlock()
            return false
        }
    }

    @discardableResult
    package func succeed(_ value: Value) -> Bool { finish(.success(value)) }

    @discardableResult
    package func fail(_ error: any Error) -> Bool { finish(.failure(error)) }

    package func timerFired(_ timer: LoopTimer) {
        if let timeOut { fail(timeOut) }
    }

    /// Waits for the result; throws `CancellationError` when the task is cancelled first. To be called once.
    package nonisolated(nonsending) func value() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                lock.lock()
                if case .done(let result) = state {
                    state = .taken
                    lock.unlock()
                    continuation.resume(with: result)
                } else {
                    state = .waiting(continuation)
                    lock.unlock()
                }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    /// As ``value()``, with a time limit on `loop`; `timeOut` says what is thrown at the limit.
    package nonisolated(nonsending) func value(within limit: Duration?, on loop: any EventLoop) async throws -> Value {
        guard let limit, limit.clampedNanoseconds < .max else { return try await value() }
        let timer = LoopTimer(self)
        loop.armFromAnywhere(timer, after: limit)
        defer { loop.disarmFromAnywhere(timer) }
        return try await value()
    }
}
