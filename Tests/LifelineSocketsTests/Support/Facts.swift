import Dispatch
import LifelineCore
import LifelineRuntime
import LifelineSockets

/// How long a test waits for a fact at most.
let outerLimit = Duration.seconds(120)

/// A loop that carries the tests' own time limits.
let referee: any EventLoop = refereeGroup.next()

private let refereeGroup = EventLoops(count: 1)

/// What a test waits for: values from callbacks, in order.
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

    /// The next value; throws when there is none within the outer limit.
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

    var count: Int { lock.withLock { values.count } }
    var all: [Value] { lock.withLock { values } }
}

extension EventLoop {
    /// Runs `body` on the loop and gives its result.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let shot = OneShot<Value>(timeOut: SocketError(timedOut: .read, after: outerLimit, detail: "the test's own limit"))
        run { shot.finish(Result { try body() }) }
        return try await shot.value(within: outerLimit, on: referee)
    }
}

/// A timer with a closure.
final class ClosureTimer: LoopTimerTarget, @unchecked Sendable {  // Touched on its loop only.
    private let body: () -> Void
    private(set) var timer: LoopTimer!

    init(_ body: @escaping () -> Void) {
        self.body = body
        timer = LoopTimer(self)
    }

    func timerFired(_ timer: LoopTimer) { body() }
}

/// Waits until `fact` holds, asked again each millisecond of the referee's clock.
func eventually(_ fact: @escaping @Sendable () -> Bool) async throws {
    let done = OneShot<Void>(timeOut: SocketError(timedOut: .read, after: outerLimit, detail: "the fact never held"))
    let poll = Poll(fact, done)
    referee.submit { poll.ask() }
    try await done.value(within: outerLimit, on: referee)
    withExtendedLifetime(poll) {}
}

private final class Poll: LoopTimerTarget, @unchecked Sendable {  // Touched on the referee's loop only.
    private let fact: @Sendable () -> Bool
    private let done: OneShot<Void>
    private var timer: LoopTimer?

    init(_ fact: @escaping @Sendable () -> Bool, _ done: OneShot<Void>) {
        self.fact = fact
        self.done = done
    }

    func ask() {
        if fact() {
            done.succeed(())
            return
        }
        let timer = timer ?? LoopTimer(self)
        self.timer = timer
        referee.arm(timer, at: referee.now.advanced(by: .milliseconds(1)))
    }

    func timerFired(_ timer: LoopTimer) { ask() }
}

/// Has Swift's pool of threads open the descriptors that it otherwise opens when it gets busy. Where it can't then, for they have run
/// out, it ends the process.
func openThePoolsDescriptors() async throws {
    let fired = OneShot<Void>(timeOut: SocketError(timedOut: .read, after: outerLimit, detail: "the pool's timer"))
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { fired.succeed(()) }
    timer.schedule(deadline: .now())
    timer.resume()
    try await fired.value(within: outerLimit, on: referee)
    timer.cancel()
}
