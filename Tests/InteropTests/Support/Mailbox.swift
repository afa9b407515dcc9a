import LifelineCore
import LifelineRuntime
import LifelineSockets

/// How long a test waits for a fact at most. A peer that starts while all other tests run needs a good part of it.
let outerLimit = Duration.seconds(60)

/// A loop that carries the tests' own time limits.
let referee: any EventLoop = refereeLoops.next()

private let refereeLoops = EventLoops(count: 1)

/// What a test waits for: values that others put in, in order, with the test's outer limit.
///
/// The proof behind `@unchecked`: all state is guarded by `lock`.
final class Mailbox<Value: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var values: [Value] = []
    private var waiting: [OneShot<Value>] = []

    func put(_ value: Value) {
        while true {
            let first: OneShot<Value>? = lock.withLock {
                if waiting.isEmpty {
                    values.append(value)
                    return nil
                }
                return waiting.removeFirst()
            }
            guard let first else { return }
            if first.succeed(value) { return }
        }
    }

    func next() async throws -> Value {
        let shot = OneShot<Value>(timeOut: SocketError(timedOut: .read, after: outerLimit, detail: "the test's own limit"))
        let ready: Value? = lock.withLock {
            if values.isEmpty {
                waiting.append(shot)
                return nil
            }
            return values.removeFirst()
        }
        if let ready { return ready }
        return try await shot.value(within: outerLimit, on: referee)
    }
}

/// Waits until `fact` holds, asking again each millisecond.
func eventually(_ fact: () async -> Bool) async throws {
    let start = referee.now
    while await !fact() {
        if start.duration(to: referee.now) > outerLimit {
            throw SocketError(timedOut: .read, after: outerLimit, detail: "the fact never held")
        }
        let tick = OneShot<Void>(timeOut: SocketError(.timedOut, "time to ask again"))
        _ = try? await tick.value(within: .milliseconds(1), on: referee)
        try Task.checkCancellation()
    }
}
