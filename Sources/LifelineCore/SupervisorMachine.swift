/// The life of a link that is kept up, over all of its connections. A value: events go in, what to do comes out.
///
/// ```
///          start                dialed                registered
///   idle ────────▶ connecting ──────────▶ registering ──────────▶ connected
///                   ▲       │                  │                      │
///            waited,│       │ lost             │ lost                 │ lost
///             hurry │       ▼                  ▼                      ▼
///                   └──── waiting ◀───────────────────────────────────┘
///
///   waited, and others' turn first:  waiting ──▶ waiting
///   lost, and no further attempt:  connecting, registering, connected ───────────────────────▶ stopped ── start ──▶ connecting
///   stop:                          connecting, registering, connected, waiting ──▶ stopping ──▶ stopped
///                                                                             over, or any event
/// ```
///
/// Each attempt, each wait and so each connection has a number, ``generation``. What happens to an older one is ignored.
package struct SupervisorMachine: Sendable {
    package enum Phase: Sendable, Equatable {
        case idle
        case connecting
        case registering
        case connected(since: Duration)
        case waiting(Duration, why: OfflineReason)
        /// What was under way is being given back.
        case stopping(OfflineReason)
        case stopped(OfflineReason)
    }

    /// What the shell has to do.
    package enum Action: Sendable, Equatable {
        /// Nothing: the event is not, or no longer, of interest. What came with it is to be given back.
        case ignore
        /// Dial and tell ``SupervisorMachine/dialed(_:)`` or ``SupervisorMachine/lost(_:_:now:using:)``.
        case dial(Endpoint)
        /// Run the registration on what was dialed and tell ``SupervisorMachine/registered(_:now:)`` or `lost`.
        case register
        /// Let messages flow, and tell `lost` when the connection has ended.
        case open
        /// Tell ``SupervisorMachine/waited(_:now:reserving:)`` after this time.
        case wait(Duration)
        /// End what is under way.
        case interrupt
        /// It is over: nothing is under way any more.
        case end(OfflineReason)
    }

    package let policy: ReconnectPolicy
    package let endpoint: Endpoint

    package private(set) var phase = Phase.idle
    /// The number of what is under way.
    package private(set) var generation: UInt64 = 0
    /// Attempts since the start, or since the last stable connection.
    package private(set) var attempt = 0

    /// Delays of the schedule that were used up.
    private var delaysUsed = 0
    private var changesOfEndpoint = 0
    private var outageBegan = Duration.zero
    private var dialBegan = Duration.zero
    private var elsewhere: Endpoint?
    /// The attempt that is waited for has its part of the budget.
    private var hasReserved = false
    private var hint: ReconnectHint?
    private var goAway: GoAway?

    package init(endpoint: Endpoint, policy: ReconnectPolicy) {
        self.endpoint = endpoint
        self.policy = policy
    }

    package var isRunning: Bool {
        switch phase {
        case .idle, .stopped: false
        default: true
        }
    }

    /// What the application sees; while what was under way is being given back, nil: what it saw before.
    package var status: LinkStatus? {
        switch phase {
        case .idle: .idle
        case .connecting, .registering: .connecting(attempt: attempt)
        case .connected: .connected
        case .waiting(let delay, let why): .waiting(for: delay, why: why)
        case .stopping: nil
        case .stopped(let why): .stopped(why: why)
        }
    }
}

// Events.
extension SupervisorMachine {
    package mutating func start(now: Duration) -> Action {
        guard !isRunning else { return .ignore }
        startOver(now)
        elsewhere = nil
        hint = nil
        goAway = nil
        return dial(now)
    }

    /// The attempt has a connection.
    package mutating func dialed(_ generation: UInt64) -> Action {
        guard generation == self.generation else { return .ignore }
        if let over = stopIfStopping() { return over }
        guard phase == .connecting else { return .ignore }
        phase = .registering
        return .register
    }

    /// The server knows this client.
    package mutating func registered(_ generation: UInt64, now: Duration) -> Action {
        guard generation == self.generation else { return .ignore }
        if let over = stopIfStopping() { return over }
        guard phase == .registering else { return .ignore }
        phase = .connected(since: now)
        return .open
    }

    /// The attempt has failed, or the connection has ended.
    package mutating func lost(
        _ generation: UInt64, _ why: OfflineReason, now: Duration, using generator: inout some RandomNumberGenerator
    ) -> Action {
        guard generation == self.generation else { return .ignore }
        if let over = stopIfStopping() { return over }
        switch phase {
        case .connecting, .registering: break
        case .connected(let since): if now - since >= policy.stableAfter { startOver(now) }
        default: return .ignore
        }
        elsewhere = nil
        let why = goAway?.reason ?? why
        let hint = hint ?? goAway?.hint
        self.hint = nil
        goAway = nil
        switch plan(for: why, hint, now, using: &generator) {
        case .stop(let why): return end(why)
        case .wait(let delay):
            hasReserved = false
            return wait(delay, why, now)
        }
    }

    /// The wait is over.
    ///
    /// - Parameter reserving: how much longer it has to be, where several links share a budget. Asked once for each attempt, and only now:
    ///   what is reserved ahead would be used up by the time at which the attempt is made.
    package mutating func waited(_ generation: UInt64, now: Duration, reserving: () -> Duration = { .zero }) -> Action {
        guard generation == self.generation else { return .ignore }
        if let over = stopIfStopping() { return over }
        guard case .waiting(_, let why) = phase else { return .ignore }
        if !hasReserved {
            hasReserved = true
            let delay = reserving()
            if delay > .zero { return wait(delay, why, now) }
        }
        return dial(now)
    }

    /// The application has learnt that the network is back: true if a wait is to be cut short.
    package var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    /// The server wants this when the present connection ends.
    package mutating func obey(_ hint: ReconnectHint) {
        switch phase {
        case .registering, .connected: self.hint = hint
        default: break
        }
    }

    /// The server lets this client go. When the present connection ends, or its registration fails, that is why; a hint that the
    /// application was given goes before the one that comes with it.
    package mutating func letGo(_ goAway: GoAway) {
        switch phase {
        case .registering, .connected: self.goAway = goAway
        default: break
        }
    }

    /// Ends everything, whatever is under way.
    package mutating func stop(because reason: StopReason) -> Action {
        switch phase {
        case .idle, .stopped, .stopping: return .ignore
        case .connecting, .registering, .connected, .waiting:
            phase = .stopping(.byUser(reason))
            return .interrupt
        }
    }

    /// Nothing is under way any more.
    package mutating func over() -> Action { stopIfStopping() ?? .ignore }
}

extension SupervisorMachine {
    private enum Plan {
        case wait(Duration)
        case stop(OfflineReason)
    }

    /// What the hint, the application and the schedule say, in this order.
    private mutating func plan(
        for why: OfflineReason, _ hint: ReconnectHint?, _ now: Duration, using generator: inout some RandomNumberGenerator
    ) -> Plan {
        if policy.schedule == .never { return .stop(why) }
        let decision: ReconnectPolicy.Decision
        switch hint {
        case .after(let delay, let spread): decision = .retryAfter(Self.spread(delay, by: spread, using: &generator))
        case .elsewhere(let endpoint, let delay): decision = .goTo(endpoint, after: delay)
        case .never:
            if case .kicked = why { return .stop(why) }
            return .stop(.kicked(SocketError(.kicked, "the server told this client not to come back", cause: why.error)))
        case nil: decision = policy.decide?(why) ?? (why.mayRetry ? .retry : .stop)
        }
        if decision == .stop { return .stop(why) }
        let exhausted = Plan.stop(.gaveUp(attempts: attempt, last: why))
        guard attempt < policy.mostAttempts else { return exhausted }
        var delay: Duration?
        switch decision {
        case .stop, .retry: break
        case .retryAfter(let time): delay = max(.zero, time)
        case .goTo(let endpoint, let time):
            elsewhere = endpoint
            delay = time.map { max(.zero, $0) } ?? (changesOfEndpoint == 0 ? .zero : nil)
            changesOfEndpoint += 1
        }
        if delay == nil {
            delay = policy.delay(delaysUsed, using: &generator)
            delaysUsed += 1
        }
        guard let delay else { return exhausted }
        return .wait(max(delay, dialBegan.addingClamped(policy.spacing) - now))
    }

    private static func spread(_ delay: Duration, by spread: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        let most = spread.clampedNanoseconds
        return most > 0 ? delay.addingClamped(.nanoseconds(Int64.random(in: 0...most, using: &generator))) : delay
    }

    private mutating func wait(_ delay: Duration, _ why: OfflineReason, _ now: Duration) -> Action {
        if let within = policy.within, now.addingClamped(delay) > outageBegan.addingClamped(within) {
            return end(.gaveUp(attempts: attempt, last: why))
        }
        generation += 1
        phase = .waiting(delay, why: why)
        return .wait(delay)
    }

    private mutating func dial(_ now: Duration) -> Action {
        generation += 1
        attempt += 1
        dialBegan = now
        phase = .connecting
        return .dial(elsewhere ?? endpoint)
    }

    private mutating func startOver(_ now: Duration) {
        attempt = 0
        delaysUsed = 0
        changesOfEndpoint = 0
        outageBegan = now
    }

    private mutating func end(_ why: OfflineReason) -> Action {
        phase = .stopped(why)
        return .end(why)
    }

    private mutating func stopIfStopping() -> Action? {
        guard case .stopping(let why) = phase else { return nil }
        return end(why)
    }
}
