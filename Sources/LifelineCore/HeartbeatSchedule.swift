/// When a heartbeat beats and what it expects, without what it sends.
package struct HeartbeatSchedule: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        /// Beats, and expects nothing.
        case oneWay
        /// Each beat is a ping that has to be answered.
        case pingPong
        /// No beats of its own: what the user sends has to be answered.
        case answeredSends
    }

    package var kind: Kind
    package var every: Duration
    package var isAtOnce = false
    package var answerWithin = Duration.zero
    /// Unanswered pings in a row that end the connection.
    package var misses = 1
    /// By which part of the period a beat may come earlier.
    package var jitter = 0.0
    package var anyByteCounts = true

    package init(
        _ kind: Kind, every: Duration = .zero, isAtOnce: Bool = false, answerWithin: Duration = .zero, misses: Int = 1, jitter: Double = 0,
        anyByteCounts: Bool = true
    ) {
        self.kind = kind
        self.every = every
        self.isAtOnce = isAtOnce
        self.answerWithin = answerWithin
        self.misses = max(1, misses)
        self.jitter = jitter > 0 ? min(jitter, 0.9) : 0
        self.anyByteCounts = anyByteCounts
    }

    /// What is wrong with it, in words; nil if nothing is.
    package var fault: String? {
        if kind != .answeredSends, every <= .zero { return "a heartbeat's period must be longer than \(every)" }
        if kind != .oneWay, answerWithin <= .zero { return "the limit for a heartbeat's answer must be longer than \(answerWithin)" }
        return nil
    }

    /// The time from one beat to the next: never longer than the period.
    func interval(using generator: inout some RandomNumberGenerator) -> Duration {
        if jitter == 0 { return every }
        let share = Double(generator.next() >> 11) * 0x1p-53
        return every * (1 - jitter * share)
    }
}
