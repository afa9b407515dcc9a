/// The beats of one connection. A value: events go in, what to do comes out.
///
/// ```
///              begin               fired: a beat                taken, one-way
///   held ────────────────▶ resting ─────────────▶ handed over ─────────────────▶ resting
///     │                      ▲  │ taken, of a send                 │ taken, of a ping
///     │ begin, at once       │  └──────────────▶ asking ◀──────────┘
///     └──▶ handed over       │                    │ answered; fired: something was heard, or misses are left
///                            └────────────────────┤
///                                                 │ fired: nothing was heard, once too often
///   any ── end ──▶ over  ◀────────────────────────┘
/// ```
///
/// A beat is handed over, and taken when the kernel has it. Until then no other follows and no time runs against the peer: whether the
/// outbox makes progress is another limit's business. There is one timer; after each input ``deadline`` says when it is to fire.
package struct HeartbeatMachine: Sendable {
    package enum State: Sendable, Equatable {
        case held
        /// Until the next beat is due; nil if there are none.
        case resting(until: Duration?)
        case handedOver(next: Duration)
        case asking(Question)
        case over
    }

    /// A ping, or a send, that an answer is due to.
    package struct Question: Sendable, Equatable {
        /// When the kernel had taken it.
        var asked: Duration
        var deadline: Duration
        /// Bytes heard until then.
        var heard: UInt64
        /// The next beat is due then.
        var next: Duration?
        /// The timer was late once already.
        var isExtended = false
        /// A send after the one that is asked about.
        var later: (asked: Duration, heard: UInt64)?

        package static func == (left: Question, right: Question) -> Bool {
            left.asked == right.asked && left.deadline == right.deadline && left.heard == right.heard && left.next == right.next
                && left.isExtended == right.isExtended && left.later?.asked == right.later?.asked && left.later?.heard == right.later?.heard
        }
    }

    /// What the shell has to do.
    package enum Action: Sendable, Equatable {
        case nothing
        /// Send the beat with this number, and tell ``HeartbeatMachine/taken(now:heard:)`` when the kernel has it.
        case beat(UInt32)
        /// The peer is dead: it didn't answer so many times.
        case fail(misses: Int)
    }

    /// Whether the peer can be heard.
    package enum Hearing: Sendable {
        case open
        /// Bytes wait to be read.
        case behind
        /// The user reads too slowly.
        case paused
    }

    package let schedule: HeartbeatSchedule
    package private(set) var state = State.held
    /// Of the latest beat. They begin at 1 and wrap.
    package private(set) var number: UInt32 = 0
    private var interval: Duration
    private var misses = 0
    /// Bytes heard when the latest question was asked.
    private var heardBefore: UInt64 = 0

    package init(_ schedule: HeartbeatSchedule) {
        self.schedule = schedule
        interval = schedule.every
    }

    /// When ``fired(now:heard:hearing:using:)`` has to be called next.
    package var deadline: Duration? {
        switch state {
        case .resting(let until): until
        case .asking(let question): question.deadline
        case .held, .handedOver, .over: nil
        }
    }

    /// The connection is ready for beats.
    package mutating func begin(now: Duration, using generator: inout some RandomNumberGenerator) -> Action {
        guard state == .held else { return .nothing }
        if schedule.kind == .answeredSends {
            state = .resting(until: nil)
            return .nothing
        }
        if schedule.isAtOnce { return beat(now: now, using: &generator) }
        state = .resting(until: now + schedule.interval(using: &generator))
        return .nothing
    }

    /// The timer has fired; `heard` bytes have been heard so far.
    package mutating func fired(
        now: Duration, heard: UInt64, hearing: Hearing, using generator: inout some RandomNumberGenerator
    ) -> Action {
        switch state {
        case .resting(let until?) where until <= now:
            if schedule.kind == .pingPong, hearing == .paused {
                // Its answer couldn't be heard.
                state = .resting(until: now + schedule.interval(using: &generator))
                return .nothing
            }
            if heard != heardBefore, schedule.anyByteCounts { misses = 0 }
            return beat(now: now, using: &generator)
        case .asking(let question) where question.deadline <= now:
            return limitReached(question, now: now, heard: heard, hearing: hearing)
        case .held, .resting, .handedOver, .asking, .over:
            return .nothing
        }
    }

    /// The kernel has taken the beat, or something that the user sent.
    package mutating func taken(now: Duration, heard: UInt64) {
        switch state {
        case .handedOver(let next) where schedule.kind == .oneWay:
            state = .resting(until: next > now ? next : now + interval)
        case .handedOver(let next):
            ask(now: now, heard: heard, next: next)
        case .resting where schedule.kind == .answeredSends:
            ask(now: now, heard: heard, next: nil)
        case .asking(var question) where schedule.kind == .answeredSends:
            question.later = (now, heard)
            state = .asking(question)
        case .held, .resting, .asking, .over:
            break
        }
    }

    /// A pong has come; `number` is that of its ping, if it tells. Returns the round-trip time if it answers the ping that is out.
    package mutating func answered(number answered: UInt32?, now: Duration) -> Duration? {
        guard schedule.kind == .pingPong, case .asking(let question) = state, answered ?? number == number else { return nil }
        misses = 0
        rest(after: question, now: now)
        return now - question.asked
    }

    /// The user reads again after a pause, in which the answer can't have been heard: it has its full time from now.
    package mutating func resumed(now: Duration) {
        guard case .asking(var question) = state else { return }
        question.deadline = max(question.deadline, now + schedule.answerWithin)
        state = .asking(question)
    }

    /// No more beats.
    package mutating func end() { state = .over }

    private mutating func beat(now: Duration, using generator: inout some RandomNumberGenerator) -> Action {
        number &+= 1
        interval = schedule.interval(using: &generator)
        state = .handedOver(next: now + interval)
        return .beat(number)
    }

    private mutating func ask(now: Duration, heard: UInt64, next: Duration?) {
        heardBefore = heard
        state = .asking(Question(asked: now, deadline: now + schedule.answerWithin, heard: heard, next: next))
    }

    private mutating func rest(after question: Question, now: Duration) {
        state = .resting(until: question.next.map { max($0, now) })
    }

    private mutating func limitReached(_ question: Question, now: Duration, heard: UInt64, hearing: Hearing) -> Action {
        var question = question
        if heard > question.heard, schedule.anyByteCounts {
            misses = 0
            if let later = question.later, later.heard == heard {
                // Nothing was heard since that send.
                state = .asking(
                    Question(asked: later.asked, deadline: later.asked + schedule.answerWithin, heard: later.heard, next: nil))
            } else {
                rest(after: question, now: now)
            }
            return .nothing
        }
        // A clock that jumped, or a process that slept, says nothing about the peer: once it gets its full time anew.
        let isLate = now - question.deadline > schedule.answerWithin / 4
        if hearing != .open || isLate && !question.isExtended {
            question.isExtended = question.isExtended || hearing == .open
            question.deadline = now + schedule.answerWithin
            state = .asking(question)
            return .nothing
        }
        misses += 1
        if misses >= schedule.misses {
            state = .over
            return .fail(misses: misses)
        }
        rest(after: question, now: now)
        return .nothing
    }
}
