/// When a link that was lost, or that couldn't be had, is tried again, and when it isn't.
///
/// ```swift
/// .exponential(first: .seconds(1), multiplier: 2, cap: .seconds(30), jitter: .full)
/// .delays([.zero, .seconds(2), .seconds(4)])      // then it gives up
/// .every(.seconds(50))
/// .atOnce()
/// .never
/// ```
///
/// The schedule's delays are used up one by one, one for each attempt that failed and each connection that was lost; each is counted from
/// that moment. The first attempt after a start needs none. The schedule, the counter of attempts and the total time start over once a
/// connection has been up for ``stableAfter``, and with each start: a connection that drops at once doesn't count as a success.
public struct ReconnectPolicy: Sendable {
    /// How chance changes a delay, so that clients that lost the same server don't come back at the same moment. A delay never becomes
    /// longer than the schedule's, so never longer than its cap, and zero only if the schedule's is.
    public enum Jitter: Sendable, Hashable, CaseIterable {
        /// Not at all.
        case none
        /// Between half the delay and the whole.
        case equal
        /// Anything up to the delay.
        case full
    }

    /// What to do after a failure.
    public enum Decision: Sendable, Hashable {
        /// Try again by the schedule.
        case retry
        /// Try again after this time.
        case retryAfter(Duration)
        /// Try another endpoint; see ``ReconnectHint/elsewhere(_:after:)``.
        case goTo(Endpoint, after: Duration? = nil)
        /// Stop.
        case stop
    }

    package enum Schedule: Sendable, Hashable {
        case exponential(first: Duration, multiplier: Double, cap: Duration)
        case list([Duration])
        case every(Duration)
        case never
    }

    package let schedule: Schedule
    /// How chance changes the schedule's delays.
    public var jitter: Jitter
    /// How many attempts may be made, from the start or from the loss of a stable connection on, until the link gives up. Default nil: as
    /// many as the schedule has. Fewer than 1 is taken as 1.
    public var attempts: Int?
    /// No attempt begins later than this after the start or the loss of a stable connection: the link gives up instead, and at once when
    /// the next attempt would be too late. Default nil: no limit.
    public var within: Duration?
    /// A connection that was up for this long was a success. Default 10 s. A negative time is taken as zero: every connection is.
    public var stableAfter: Duration = .seconds(10)
    /// Attempts begin at least this far apart, however short the schedule's delay is. Default zero, but 100 ms for ``atOnce(spacing:)``.
    public var spacing: Duration = .zero
    /// Asked for each reason: nil leaves it to ``OfflineReason/mayRetry``. Called on the link's event loop; it must be quick. A hint from
    /// the server goes before it. Default nil.
    public var decide: (@Sendable (OfflineReason) -> Decision?)?

    package init(_ schedule: Schedule, jitter: Jitter = .none, attempts: Int? = nil, within: Duration? = nil) {
        self.schedule = schedule
        self.jitter = jitter
        self.attempts = attempts
        self.within = within
    }
}

// The schedules.
extension ReconnectPolicy {
    /// Delays that grow by a factor up to a cap: by default 1, 2, 4, 8, 16, 30, 30, … seconds, each with full jitter.
    ///
    /// - Parameters:
    ///   - first: the first delay. Default 1 s; a negative one is taken as zero.
    ///   - multiplier: the factor. Default 2; less than 1 (or no number) is taken as 1.
    ///   - cap: no delay is ever longer, jitter included. Default 30 s; less than `first` cuts that, too.
    ///   - jitter: default ``Jitter/full``.
    ///   - attempts: see ``attempts``; default nil.
    ///   - within: see ``within``; default nil.
    public static func exponential(
        first: Duration = .seconds(1), multiplier: Double = 2, cap: Duration = .seconds(30), jitter: Jitter = .full,
        attempts: Int? = nil, within: Duration? = nil
    ) -> Self {
        let schedule = Schedule.exponential(first: first, multiplier: multiplier >= 1 ? multiplier : 1, cap: cap)
        return Self(schedule, jitter: jitter, attempts: attempts, within: within)
    }

    /// These delays, one after the other; then the link gives up, with ``OfflineReason/gaveUp(attempts:last:)``. Negative ones are taken
    /// as zero. Without jitter unless it is given.
    public static func delays(_ delays: [Duration], jitter: Jitter = .none) -> Self { Self(.list(delays), jitter: jitter) }

    /// The same delay each time, for ever unless `attempts` or `within` says otherwise. A negative one is taken as zero. Without jitter
    /// unless it is given.
    public static func every(_ delay: Duration, jitter: Jitter = .none, attempts: Int? = nil, within: Duration? = nil) -> Self {
        Self(.every(delay), jitter: jitter, attempts: attempts, within: within)
    }

    /// At once, for ever. Attempts that fail at once begin `spacing` apart, so that a port that refuses isn't hammered; zero is possible.
    public static func atOnce(spacing: Duration = .milliseconds(100)) -> Self {
        var policy = Self(.every(.zero))
        policy.spacing = spacing
        return policy
    }

    /// Never: the first failure and the first loss stop the link. Hints and ``decide`` don't change that.
    public static var never: Self { Self(.never) }
}

extension ReconnectPolicy {
    /// The delay behind `index` earlier ones, before chance has changed it; nil if the schedule has no more.
    package func delay(_ index: Int) -> Duration? {
        let delay: Duration
        switch schedule {
        case .never: return nil
        case .list(let delays):
            guard delays.indices.contains(index) else { return nil }
            delay = delays[index]
        case .every(let period): delay = period
        case .exponential(let first, let multiplier, let cap): delay = Self.power(first, multiplier, index, cap)
        }
        return Swift.max(.zero, delay)
    }

    /// As ``delay(_:)``, changed by chance.
    package func delay(_ index: Int, using generator: inout some RandomNumberGenerator) -> Duration? {
        guard let delay = delay(index) else { return nil }
        let longest = delay.clampedNanoseconds
        guard longest > 0 else { return .zero }
        switch jitter {
        case .none: return delay
        case .equal: return .nanoseconds(Int64.random(in: (longest - longest / 2)...longest, using: &generator))
        case .full: return .nanoseconds(Int64.random(in: 1...longest, using: &generator))
        }
    }

    /// `first` times `multiplier` to the power of `exponent`, at most `cap`, and at least a nanosecond if both are more than nothing.
    private static func power(_ first: Duration, _ multiplier: Double, _ exponent: Int, _ cap: Duration) -> Duration {
        guard first > .zero, cap > .zero else { return .zero }
        let base = Swift.max(1, first.clampedNanoseconds)
        let most = Swift.max(1, cap.clampedNanoseconds)
        var result = Double(base)
        var factor = multiplier
        var left = exponent
        while left > 0, result < Double(most) {
            if left & 1 == 1 { result *= factor }
            factor *= factor
            left >>= 1
        }
        // Infinity is above every cap. Without a conversion that could trap, then.
        guard result < Double(most) else { return .nanoseconds(most) }
        return .nanoseconds(Swift.min(most, Int64(result)))
    }

    package var mostAttempts: Int { attempts.map { Swift.max(1, $0) } ?? .max }
}
