import LifelineCore

/// A reconnect policy, and in other words what it promises.
struct Schedule: Sendable {
    var policy: ReconnectPolicy
    /// Between what the delay behind so many earlier ones lies; nil if there are no more.
    let delay: @Sendable (Int) -> ClosedRange<Duration>?
    var attempts: Int?
    var within: Duration?
    var stableAfter = Duration.seconds(10)
    var spacing = Duration.zero
    var isNever = false
    /// Attempts are shared with others, so delays may be longer.
    var isShared = false
    /// The longest delay.
    let longest: Duration

    static func random(using dice: inout some RandomNumberGenerator) -> Schedule {
        var schedule: Schedule
        switch Int.random(in: 0..<10, using: &dice) {
        case 0, 1, 2: schedule = exponential(.full, using: &dice)
        case 3: schedule = exponential(.equal, using: &dice)
        case 4: schedule = exponential(.none, using: &dice)
        case 5, 6: schedule = list([[0, 2, 4], [0, 2, 6], [0, 1, 3]].randomElement(using: &dice)!)
        case 7: schedule = period(.seconds(Int.random(in: 1...5, using: &dice)))
        case 8: schedule = atOnce()
        default: schedule = Bool.random(using: &dice) ? never() : period(.milliseconds(500))
        }
        schedule.stableAfter = [.zero, .seconds(2), .seconds(10), .seconds(10)].randomElement(using: &dice)!
        schedule.policy.stableAfter = schedule.stableAfter
        return schedule
    }

    private static func exponential(_ jitter: ReconnectPolicy.Jitter, using dice: inout some RandomNumberGenerator) -> Schedule {
        let cap = [3, 8, 30].randomElement(using: &dice)!
        let attempts = Int.random(in: 0..<4, using: &dice) == 0 ? Int.random(in: 1...5, using: &dice) : nil
        let within: Duration? = Int.random(in: 0..<4, using: &dice) == 0 ? .seconds(Int.random(in: 5...40, using: &dice)) : nil
        let policy = ReconnectPolicy.exponential(cap: .seconds(cap), jitter: jitter, attempts: attempts, within: within)
        return Schedule(
            policy: policy,
            delay: { index in
                let full = Duration.seconds(min(cap, 1 << min(index, 10)))
                return switch jitter {
                case .none: full...full
                case .equal: full / 2...full
                case .full: .nanoseconds(1)...full
                }
            },
            attempts: attempts, within: within, longest: .seconds(cap))
    }

    private static func list(_ seconds: [Int]) -> Schedule {
        Schedule(
            policy: .delays(seconds.map { .seconds($0) }),
            delay: { $0 < seconds.count ? .seconds(seconds[$0])...(.seconds(seconds[$0])) : nil },
            longest: .seconds(seconds.max() ?? 0))
    }

    private static func period(_ delay: Duration) -> Schedule {
        Schedule(policy: .every(delay), delay: { _ in delay...delay }, longest: delay)
    }

    private static func atOnce() -> Schedule {
        Schedule(policy: .atOnce(), delay: { _ in .zero ... .zero }, spacing: .milliseconds(100), longest: .milliseconds(100))
    }

    private static func never() -> Schedule {
        Schedule(policy: .never, delay: { _ in nil }, isNever: true, longest: .zero)
    }
}

/// Follows the statuses of one link and says what is wrong with them: steps that aren't drawn, delays and moments that the schedule
/// doesn't give, an end or a retry that the reason doesn't call for.
struct StatusAuditor {
    /// What is known of the hint that the next end obeys.
    enum Hint {
        case none
        case certain(ReconnectHint)
        /// It may have come too late.
        case possible(ReconnectHint)
    }

    let schedule: Schedule
    /// So long an attempt takes, with its registration.
    let longestAttempt: Duration
    private(set) var status: LinkStatus?
    private var since = Duration.zero
    private var attempts = 0
    private var delaysUsed = 0
    private var changes = 0
    private var outageBegan = Duration.zero
    private var dialBegan = Duration.zero

    /// Told by the client before it does so.
    var hint = Hint.none
    var mayHurry = false
    var mayStop = false
    var hasRefused = false
    var hasRefusedServer = false

    init(_ schedule: Schedule, longestAttempt: Duration) {
        self.schedule = schedule
        self.longestAttempt = longestAttempt
    }

    /// What is wrong with this one, in words.
    mutating func follow(_ next: LinkStatus, at now: Duration) -> String? {
        defer {
            if next != .connected {
                if case .connecting = next {} else { (hint, hasRefused, hasRefusedServer) = (.none, false, false) }
            }
            mayHurry = false
            status = next
            since = now
        }
        if case .connecting = status, now - since > longestAttempt { return "an attempt took \(now - since)" }
        guard let status else { return next == .idle ? nil : "the first status was \(next)" }
        switch (status, next) {
        case (.idle, .connecting(let attempt)), (.stopped, .connecting(let attempt)):
            startOver(now)
            changes = 0
            return begin(attempt, now)
        case (.waiting(let delay, _), .connecting(let attempt)):
            let planned = since + delay
            if now > planned || now < planned && !mayHurry { return "an attempt began at \(now), and was due at \(planned)" }
            return begin(attempt, now)
        case (.connecting, .connected): return nil
        case (.waiting(let delay, _), .waiting(let more, _)):
            let planned = since + delay
            if !schedule.isShared { return "\(next) behind \(status)" }
            if now > planned || now < planned && !mayHurry { return "the budget was asked at \(now), and was due at \(planned)" }
            if let within = schedule.within, now + more > outageBegan + within { return "it waits \(more), which is beyond \(within)" }
            return more > .zero ? nil : "it waits \(more) for the budget"
        case (.connecting, .waiting(let delay, let why)): return lost(delay, why, now)
        case (.connected, .waiting(let delay, let why)):
            if now - since >= schedule.stableAfter { startOver(now) }
            return lost(delay, why, now)
        case (.connecting, .stopped(let why)), (.waiting, .stopped(let why)): return stopped(why, now)
        case (.connected, .stopped(let why)):
            if now - since >= schedule.stableAfter { startOver(now) }
            return stopped(why, now)
        default: return "\(next) behind \(status)"
        }
    }

    private mutating func startOver(_ now: Duration) {
        attempts = 0
        delaysUsed = 0
        changes = 0
        outageBegan = now
    }

    private mutating func begin(_ attempt: Int, _ now: Duration) -> String? {
        attempts += 1
        dialBegan = now
        return attempt == attempts ? nil : "attempt \(attempt), and it is the \(attempts)."
    }

    private mutating func lost(_ delay: Duration, _ why: OfflineReason, _ now: Duration) -> String? {
        let hinted: ReconnectHint? =
            switch hint {
            case .none: nil
            case .certain(let hint): hint
            case .possible(let hint): if case .after(delay, _) = hint { hint } else { nil }
            }
        if hinted == nil, !why.mayRetry { return "it goes on after \(why)" }
        if schedule.isNever { return "it goes on, and never should" }
        if attempts >= schedule.attempts ?? .max { return "it goes on after \(attempts) attempts" }
        var range: ClosedRange<Duration>?
        switch hinted {
        case .after(let time, let spread)?: range = time...(time + spread)
        case .elsewhere(_, let time)?:
            range = time.map { $0...$0 } ?? (changes == 0 ? .zero ... .zero : nil)
            changes += 1
        case .never?: return "it goes on, and was told not to"
        case nil: break
        }
        if range == nil {
            range = schedule.delay(delaysUsed)
            delaysUsed += 1
        }
        guard let range else { return "it goes on after \(delaysUsed - 1) delays" }
        let earliest = max(range.lowerBound, dialBegan + schedule.spacing - now)
        let latest = max(range.upperBound, earliest)
        if delay < earliest || delay > latest { return "it waits \(delay), and should wait \(earliest) to \(latest): \(why)" }
        if let within = schedule.within, now + delay > outageBegan + within { return "it waits \(delay), which is beyond \(within)" }
        return nil
    }

    private func stopped(_ why: OfflineReason, _ now: Duration) -> String? {
        switch why {
        case .byUser: return mayStop ? nil : "nobody has stopped it: \(why)"
        case .gaveUp(let number, let last):
            if number != attempts { return "it says to have made \(number) attempts, not \(attempts)" }
            let range = schedule.delay(delaysUsed)
            let isExhausted = range == nil || attempts >= schedule.attempts ?? .max
            let isLate =
                schedule.within.map { schedule.isShared || isHinted || now + (range?.upperBound ?? .zero) > outageBegan + $0 } ?? false
            return isExhausted || isLate ? nil : "it gave up too early: \(last)"
        case .kicked: if case .certain(.never) = hint { return nil }
        case .loginRefused: if hasRefused { return nil }
        case .tls(let error) where error.code == .certificateRefused: if hasRefusedServer { return nil }
        default: break
        }
        return schedule.isNever ? nil : "it has stopped for \(why)"
    }

    private var isHinted: Bool { if case .none = hint { false } else { true } }
}
