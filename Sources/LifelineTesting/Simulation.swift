internal import LifelineCore
internal import LifelineRuntime

/// Runs `body` in a world of its own, where time is virtual and every choice comes from `seed`; returns what it returns.
///
/// The world has a thread of its own with `loops` event loops. The body's task prefers the first of them, as do its child tasks; it sees
/// the caller's task-local values, so a test's `#expect` works inside. When several loops have something to do, the seed picks which goes
/// next. The clock moves only when nothing can run, and then at once to the next timer. Everything has to stay inside: a job that
/// leaves for another queue, or arrives from another thread, is a failure, for its order would be no longer the seed's.
///
/// When the body is done, what is left on the loops runs without the clock moving. On cancellation the body's task is cancelled.
///
///     let answer = try await simulate(seed: 7) { world in
///         try await world.clock.sleep(for: .seconds(3600))    // takes no time
///         return world.now
///     }
///
/// - Parameters:
///   - seed: what decides; a failing run is repeated with the same seed.
///   - loops: how many event loops there are.
///   - limit: how far the virtual clock may go.
/// - Throws: ``SimulationError`` when the simulation gets stuck, is left, or passes a bound; else what the body throws.
public func simulate<R: Sendable>(
    seed: UInt64 = 1,
    loops: Int = 2,
    limit: Duration = .seconds(86_400),
    fileID: String = #fileID,
    line: Int = #line,
    _ body: @escaping @Sendable (World) async throws -> R
) async throws -> R {
    try await simulate(seed: seed, loops: loops, bounds: .init(limit: limit), place: "\(fileID):\(line)", body)
}

/// As above, with all bounds.
func simulate<R: Sendable>(
    seed: UInt64, loops: Int, bounds: VirtualScheduler.Bounds, place: String, _ body: @escaping @Sendable (World) async throws -> R
) async throws -> R {
    let scheduler = VirtualScheduler(seed: seed, loops: loops, bounds: bounds, place: place)
    let outcome = Outcome<R>()
    let task = startBody(in: World(scheduler), outcome, body)
    return try await withTaskCancellationHandler {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<R, any Error>) in
            let didStart = scheduler.start(
                cancel: { task.cancel() },
                end: { error in
                    if let error {
                        continuation.resume(throwing: error)
                    } else {
                        continuation.resume(with: outcome.take())
                    }
                })
            if !didStart {
                continuation.resume(throwing: SocketError(.resourcesExhausted, "no thread for a simulation"))
            }
        }
    } onCancel: {
        scheduler.requestCancel()
    }
}

/// The world belongs to the body's task alone, so that it goes when the body does.
private func startBody<R: Sendable>(
    in world: World, _ outcome: Outcome<R>, _ body: @escaping @Sendable (World) async throws -> R
) -> Task<Void, Never> {
    Task(executorPreference: world.loops[0].tasks) {
        do {
            outcome.set(.success(try await body(world)))
        } catch {
            outcome.set(.failure(error))
        }
        world.scheduler.bodyIsDone()
    }
}

/// What the body came to.
///
/// The proof behind `@unchecked`: the state is guarded by `lock`.
private final class Outcome<R: Sendable>: @unchecked Sendable {
    private let lock = Lock()
    private var result: Result<R, any Error>?

    func set(_ result: Result<R, any Error>) { lock.withLock { self.result = result } }

    func take() -> Result<R, any Error> {
        lock.withLock {
            guard let taken = result else { preconditionFailure("a simulation ended without failure before its body") }
            result = nil
            return taken
        }
    }
}
