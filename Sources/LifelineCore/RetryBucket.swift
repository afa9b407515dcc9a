/// Attempts that several links may make together: so many at once, and then one per period. A value; see `RetryBudget`.
package struct RetryBucket: Sendable {
    private let burst: Int64
    private let period: Int64
    /// The moment at which the bucket would be full again, in nanoseconds.
    private var full: Int64?

    /// - Parameters:
    ///   - burst: attempts that may be made at once; fewer than 1 is taken as 1, and at most 2²⁰ count.
    ///   - period: the time in which one attempt is regained; a negative one is taken as zero, and at
    ///     most 73 minutes count.
    package init(burst: Int, every period: Duration) {
        self.burst = Int64(Swift.max(1, Swift.min(burst, 1 << 20)))
        self.period = Swift.max(0, Swift.min(period.clampedNanoseconds, Int64.max >> 21))
    }

    /// Takes an attempt and returns how long it has to wait for its turn. First come, first served.
    package mutating func reserve(at now: Duration) -> Duration {
        let now = now.clampedNanoseconds
        let (next, overflow) = Swift.max(full ?? now, now).addingReportingOverflow(period)
        full = overflow ? .max : next
        let early = (full ?? now).subtractingReportingOverflow(now)
        let wait = early.overflow ? Int64.max : early.partialValue - burst * period
        return .nanoseconds(Swift.max(0, wait))
    }
}
