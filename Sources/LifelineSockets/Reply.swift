import LifelineRuntime

/// What work on a loop answers to the task that asked for it. Unlike a `OneShot` it can't be given up: the work is short, and what it
/// gives back must not be lost.
///
/// The work is submitted before the task waits. The other way round, resuming from inside the wait's own closure, the loop often
/// answers before the task has suspended; that is allowed, but the thread sanitizer can't see that it is.
///
/// The proof behind `@unchecked`: `state` is guarded by `lock`, and the continuation is resumed outside of it.
final class Reply<Value: Sendable>: @unchecked Sendable {
    private enum State {
        case empty
        case waiting(UnsafeContinuation<Value, Never>)
        case done(Value)
    }

    private let lock = Lock()
    private var state = State.empty

    /// Runs `work` on `loop` and gives what it returns.
    static func from(_ loop: PollingEventLoop, _ work: @escaping @Sendable () -> Value) async -> Value {
        let reply = Reply()
        loop.run { reply.give(work()) }
        return await reply.value()
    }

    /// Returns when everything that other threads have submitted to `loop` so far has run.
    static func behindAll(on loop: PollingEventLoop) async where Value == Void {
        let reply = Reply()
        // On the loop itself the first comes before what others have submitted, the second behind it.
        loop.submit { loop.submit { reply.give(()) } }
        await reply.value()
    }

    private func give(_ value: Value) {
        lock.lock()
        guard case .waiting(let continuation) = state else {
            state = .done(value)
            lock.unlock()
            return
        }
        lock.unlock()
        continuation.resume(returning: value)
    }

    private func value() async -> Value {
        await withUnsafeContinuation { continuation in
            lock.lock()
            if case .done(let value) = state {
                lock.unlock()
                continuation.resume(returning: value)
            } else {
                state = .waiting(continuation)
                lock.unlock()
            }
        }
    }
}
