import LifelineCore

/// Attempts to reconnect that several supervisors of a process share, so that they don't storm a server that comes back: so many at once,
/// and then one per period. Who comes later waits longer; nobody gives up for it. It is asked when the schedule's delay is over.
///
/// The proof behind `@unchecked`: `bucket` is guarded by `lock`.
public final class RetryBudget: @unchecked Sendable {
    private let lock = Lock()
    private var bucket: RetryBucket

    /// - Parameters:
    ///   - burst: attempts that may be made at once; fewer than 1 is taken as 1.
    ///   - period: the time in which one is regained; a negative one is taken as zero.
    public init(burst: Int, every period: Duration) { bucket = RetryBucket(burst: burst, every: period) }

    /// Takes an attempt and returns how long it has to wait.
    func reserve(at now: Duration) -> Duration { lock.withLock { bucket.reserve(at: now) } }
}
