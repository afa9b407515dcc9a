/// The requests of one connection whose answers are still to come. A value: events go in, whom to tell comes out.
///
/// ```
///          begin          answered
///   none ────────▶ due ─────────────────▶ none     the requester gets the answer
///                   ├──── withdraw ─────▶ none     it was never sent
///                   ├──── end ──────────▶ none     the requester gets the reason
///                   │ cancel, expire
///                   ▼     answered
///               given up ───────────────▶ none     late: counted and dropped
///                   └──── forget, end ──▶ none
/// ```
///
/// A request that is given up keeps its id while its answer may come: nobody else gets that answer. Where answers come in order (ids are
/// the running numbers then), it keeps its place until they do. Where they have ids of their own, only so many are remembered, for an
/// answer may never come; the oldest is forgotten first.
package struct RequestTable<ID: Hashable & Sendable, Waiter: Sendable>: Sendable {
    /// One request: the id of its answer, which others may have later, and its place among all that ever began.
    package struct Ticket: Sendable, Equatable {
        package let id: ID
        fileprivate let place: UInt64
    }

    /// What a frame that is an answer comes to.
    package enum Answer {
        /// It is for this requester, who isn't due any more.
        case due(Waiter)
        /// The request was given up.
        case late
        /// No such request: it was answered before, was forgotten, or never made.
        case unknown
    }

    private enum State {
        case due(Waiter)
        case givenUp
    }

    private struct Entry {
        let place: UInt64
        var state: State
    }

    private let makeID: @Sendable (UInt64) -> ID
    private let maximum: Int
    private let remembered: Int?
    private var begun: UInt64 = 0
    private var nextNumber: UInt64
    private var nextAnswer: UInt64

    private var entries: [ID: Entry] = [:]
    private var due = 0
    private var deadlines = DeadlineHeap<Duration, Ticket>()
    /// In the order in which they were given up; those that were answered since are passed over.
    private var givenUp: [Ticket] = []
    private var forgotten = 0
    private var end: SocketError?

    private var answers: UInt64 = 0
    private var late: UInt64 = 0
    private var unknown: UInt64 = 0

    /// A table of at most `maximum` requests that are due.
    ///
    /// - Parameters:
    ///   - remembered: how many requests that were given up it keeps. Nil for all; they count as due then.
    ///   - first: the first running number.
    ///   - makeID: the id for a running number. It may give one again, late.
    package init(atMost maximum: Int, remembering remembered: Int?, first: UInt64 = 0, makeID: @escaping @Sendable (UInt64) -> ID) {
        self.maximum = Swift.max(1, maximum)
        self.remembered = remembered.map { Swift.max(0, $0) }
        self.makeID = makeID
        nextNumber = first
        nextAnswer = first
    }

    /// How things stand.
    package var counts: RequestCounts {
        RequestCounts(due: due, givenUp: entries.count - due, answered: answers, late: late, unknown: unknown)
    }

    /// When to call ``expire(_:)``. It may be too early, when what had that deadline is answered already.
    package var nextDeadline: Duration? { deadlines.earliest }

    /// A request is about to be sent; `waiter` is to get its answer. On a clock of the caller's, its time is over at `deadline`.
    ///
    /// - Throws: what it has ended with; ``SocketError/Code/tooManyRequests`` if as many are due as may be or no id is free.
    package mutating func begin(_ waiter: Waiter, until deadline: Duration?) throws(SocketError) -> Ticket {
        if let end { throw end }
        guard (remembered == nil ? entries.count : due) < maximum else {
            throw SocketError(.tooManyRequests, "\(entries.count) requests wait for their answers: as many as may be")
        }
        // Of so many different ids one is free.
        for _ in 0...entries.count {
            let number = nextNumber
            nextNumber &+= 1
            let id = makeID(number)
            if entries[id] != nil { continue }
            begun &+= 1
            let ticket = Ticket(id: id, place: begun)
            entries[id] = Entry(place: begun, state: .due(waiter))
            due += 1
            if let deadline { add(deadline, of: ticket) }
            return ticket
        }
        throw SocketError(.tooManyRequests, "no id is free: \(due) requests are due and \(entries.count - due) were given up")
    }

    /// The request was not sent and won't be: no answer is due. Where answers come in order it must be the last that began.
    package mutating func withdraw(_ ticket: Ticket) {
        guard let entry = entries[ticket.id], entry.place == ticket.place else { return }
        if case .due = entry.state { due -= 1 }
        if remembered == nil { nextNumber &-= 1 }
        remove(ticket.id)
    }

    /// The requester has gone.
    package mutating func cancel(_ ticket: Ticket) {
        _ = giveUp(ticket)
    }

    /// Gives up what has had its time, and returns who is to be told so, the earliest first.
    package mutating func expire(_ now: Duration) -> [Waiter] {
        var late: [Waiter] = []
        while let ticket = deadlines.popDue(now) {
            if let waiter = giveUp(ticket) { late.append(waiter) }
        }
        return late
    }

    /// Gives up all that are due, and returns who is to be told so, in the order of their requests.
    package mutating func giveUpAll() -> [Waiter] {
        let all = entries.map { Ticket(id: $0.key, place: $0.value.place) }.sorted { $0.place < $1.place }
        return all.compactMap { giveUp($0) }
    }

    /// An answer with this id has arrived.
    package mutating func answered(_ id: ID) -> Answer {
        guard let entry = entries[id] else {
            unknown &+= 1
            return .unknown
        }
        switch entry.state {
        case .due(let waiter):
            due -= 1
            answers &+= 1
            remove(id)
            return .due(waiter)
        case .givenUp:
            late &+= 1
            remove(id)
            return .late
        }
    }

    /// An answer that was handed out has met a requester who had just gone.
    package mutating func answerWasLate() {
        answers &-= 1
        late &+= 1
    }

    /// No more answers come, and no more requests may begin: they throw `error`. Returns who is to be told so, in the order of their
    /// requests.
    package mutating func end(_ error: SocketError) -> [Waiter] {
        if end == nil { end = error }
        let left = entries.values.sorted { $0.place < $1.place }
        entries = [:]
        due = 0
        tidy()
        return left.compactMap { entry in
            if case .due(let waiter) = entry.state { waiter } else { nil }
        }
    }
}

// Answers in order.
extension RequestTable where ID == UInt64 {
    /// Whether any answer is to come.
    package var isAnswerDue: Bool { nextAnswer != nextNumber }

    /// An answer has arrived: it is that of the oldest request.
    package mutating func answeredNext() -> Answer {
        let answer = answered(nextAnswer)
        if isAnswerDue { nextAnswer &+= 1 }
        return answer
    }
}

// Keeping house. What is passed over later is never more than what matters, but for a few.
extension RequestTable {
    private mutating func add(_ deadline: Duration, of ticket: Ticket) {
        deadlines.add(ticket, at: deadline)
        guard deadlines.count > 2 * due + 16 else { return }
        let entries = entries
        deadlines.removeAll { ticket in
            guard let entry = entries[ticket.id], entry.place == ticket.place, case .due = entry.state else { return true }
            return false
        }
    }

    private mutating func giveUp(_ ticket: Ticket) -> Waiter? {
        guard let entry = entries[ticket.id], entry.place == ticket.place, case .due(let waiter) = entry.state else { return nil }
        entries[ticket.id] = Entry(place: ticket.place, state: .givenUp)
        due -= 1
        guard let remembered else { return waiter }
        givenUp.append(ticket)
        while entries.count - due > remembered { forgetOldest() }
        if givenUp.count > 2 * (entries.count - due) + 16 {
            let entries = entries
            givenUp = givenUp[forgotten...].filter { entries[$0.id]?.place == $0.place }
            forgotten = 0
        }
        return waiter
    }

    private mutating func forgetOldest() {
        let ticket = givenUp[forgotten]
        forgotten += 1
        if entries[ticket.id]?.place == ticket.place { remove(ticket.id) }
    }

    private mutating func remove(_ id: ID) {
        entries[id] = nil
        if entries.isEmpty { tidy() }
    }

    /// Nothing is left to wait for.
    private mutating func tidy() {
        deadlines.removeAll()
        givenUp = []
        forgotten = 0
    }
}
