import LifelineCore
import Testing

private typealias Table = RequestTable<UInt8, String>
private typealias OrderedTable = RequestTable<UInt64, String>

private func table(atMost maximum: Int = 10, remembering remembered: Int = 10, first: UInt64 = 1) -> Table {
    RequestTable(atMost: maximum, remembering: remembered, first: first) { UInt8(truncatingIfNeeded: ($0 - 1) % 255) + 1 }
}

private func orderedTable(atMost maximum: Int = 10) -> OrderedTable {
    RequestTable(atMost: maximum, remembering: nil) { $0 }
}

extension RequestTable.Answer where Waiter == String {
    /// In a word.
    fileprivate var text: String {
        switch self {
        case .due(let waiter): "for \(waiter)"
        case .late: "late"
        case .unknown: "unknown"
        }
    }
}

/// The kind of error that `body` throws.
private func code<R>(of body: () throws(SocketError) -> R) -> SocketError.Code? {
    do throws(SocketError) {
        _ = try body()
        return nil
    } catch {
        return error.code
    }
}

@Suite("The table of requests whose answers are due")
struct RequestTableTests {
    private let ended = SocketError(.closed, "over")

    @Test("none - begin - due - answered - none")
    func answered() throws {
        var table = table()
        #expect(try table.begin("a", until: nil).id == 1)
        #expect(try table.begin("b", until: nil).id == 2)
        #expect(table.counts.due == 2)
        #expect(table.answered(2).text == "for b")
        #expect(table.answered(1).text == "for a")
        #expect(table.counts == RequestCounts(due: 0, givenUp: 0, answered: 2, late: 0, unknown: 0))
    }

    @Test("due - withdraw - none: what was never sent has no answer")
    func withdrawn() throws {
        var table = table()
        let ticket = try table.begin("a", until: nil)
        table.withdraw(ticket)
        #expect(table.counts == RequestCounts(due: 0, givenUp: 0, answered: 0, late: 0, unknown: 0))
        #expect(table.answered(ticket.id).text == "unknown")
    }

    @Test("due - cancel - given up - answered - none")
    func cancelled() throws {
        var table = table()
        let ticket = try table.begin("a", until: nil)
        table.cancel(ticket)
        #expect(table.counts == RequestCounts(due: 0, givenUp: 1, answered: 0, late: 0, unknown: 0))
        #expect(table.answered(ticket.id).text == "late")
        #expect(table.counts == RequestCounts(due: 0, givenUp: 0, answered: 0, late: 1, unknown: 0))
    }

    @Test("due - expire - given up: at its time, the earliest first, nobody twice")
    func expired() throws {
        var table = table()
        #expect(table.nextDeadline == nil)
        for (name, limit) in [("d", 40), ("b", 20), ("never", nil), ("a", 10), ("c", 20)] {
            _ = try table.begin(name, until: limit.map { .milliseconds($0) })
        }
        #expect(table.nextDeadline == .milliseconds(10))
        #expect(table.expire(.milliseconds(9)) == [])
        #expect(table.expire(.milliseconds(20)) == ["a", "b", "c"])
        #expect(table.expire(.milliseconds(20)) == [])
        #expect(table.nextDeadline == .milliseconds(40))
        #expect(table.counts.due == 2 && table.counts.givenUp == 3)
        #expect(table.expire(.seconds(1)) == ["d"])
        #expect(table.nextDeadline == nil)
    }

    @Test("due - end - none: everybody is told, in order, and nobody may begin")
    func ends() throws {
        var table = table()
        for name in ["a", "b", "c", "d"] { _ = try table.begin(name, until: .seconds(1)) }
        _ = table.answered(1)
        table.cancel(try table.begin("gone", until: nil))
        #expect(table.end(ended) == ["b", "c", "d"])
        #expect(table.end(SocketError(.misuse, "again")) == [])
        #expect(table.nextDeadline == nil)
        #expect(table.expire(.seconds(9)) == [])
        #expect(table.counts.due == 0 && table.counts.givenUp == 0)
        #expect(code { () throws(SocketError) in try table.begin("e", until: nil) } == .closed)
    }

    @Test("given up - forget - none: the oldest first, however many were answered in between")
    func forgotten() throws {
        var table = table(remembering: 2)
        let tickets = try (0..<4).map { try table.begin("\($0)", until: nil) }
        for ticket in tickets.prefix(2) { table.cancel(ticket) }
        #expect(table.answered(1).text == "late")
        for ticket in tickets.suffix(2) { table.cancel(ticket) }
        #expect(table.counts.givenUp == 2)
        #expect(table.answered(2).text == "unknown")
        #expect(table.answered(3).text == "late")
        #expect(table.answered(4).text == "late")
    }

    @Test("what is done with twice, or too late, changes nothing")
    func stale() throws {
        var table = table()
        let first = try table.begin("first", until: .milliseconds(10))
        #expect(table.answered(first.id).text == "for first")
        // 254 others, and then the same id again.
        for number in 2...255 { #expect(table.answered(try table.begin("other", until: nil).id).text == "for other", "\(number)") }
        let second = try table.begin("second", until: .milliseconds(30))
        #expect(second.id == first.id)
        table.cancel(first)
        table.withdraw(first)
        #expect(table.expire(.milliseconds(20)) == [])
        #expect(table.answered(second.id).text == "for second")
        #expect(table.answered(second.id).text == "unknown")
        #expect(table.answered(200).text == "unknown")
        #expect(table.counts.unknown == 2)
    }

    @Test("an answer whose requester has just gone counts as late")
    func answerWasLate() throws {
        var table = table()
        _ = table.answered(try table.begin("a", until: nil).id)
        table.answerWasLate()
        #expect(table.counts == RequestCounts(due: 0, givenUp: 0, answered: 0, late: 1, unknown: 0))
    }

    @Test("ids wrap, and those of due and of given up requests are left out")
    func wrapping() throws {
        var table = table(first: 253)
        let ids = try (0..<5).map { try table.begin("\($0)", until: nil).id }
        #expect(ids == [253, 254, 255, 1, 2])
        for id: UInt8 in [254, 2] { _ = table.answered(id) }
        table.cancel(try table.begin("gone", until: nil))  // 3
        for _ in 4...252 { _ = table.answered(try table.begin("x", until: nil).id) }
        #expect(try table.begin("again", until: nil).id == 254)
        #expect(try table.begin("again", until: nil).id == 2)
        #expect(try table.begin("again", until: nil).id == 4)
    }

    @Test("as many as may be: an error, and room again after an answer")
    func bound() throws {
        var table = table(atMost: 2)
        _ = try table.begin("a", until: nil)
        let second = try table.begin("b", until: nil)
        #expect(code { () throws(SocketError) in try table.begin("c", until: nil) } == .tooManyRequests)
        table.cancel(second)
        _ = try table.begin("c", until: nil)
        #expect(code { () throws(SocketError) in try table.begin("d", until: nil) } == .tooManyRequests)
        _ = table.answered(1)
        _ = try table.begin("d", until: nil)
    }

    @Test("no id is free: an error")
    func noFreeID() throws {
        var table = table(atMost: 1000)
        for _ in 1...255 { _ = try table.begin("a", until: nil) }
        #expect(code { () throws(SocketError) in try table.begin("b", until: nil) } == .tooManyRequests)
        _ = table.answered(77)
        #expect(try table.begin("b", until: nil).id == 77)
        var stubborn = RequestTable<String, String>(atMost: 10, remembering: 10) { _ in "same" }
        _ = try stubborn.begin("a", until: nil)
        #expect(code { () throws(SocketError) in try stubborn.begin("b", until: nil) } == .tooManyRequests)
        _ = stubborn.answered("same")
        _ = try stubborn.begin("b", until: nil)
    }

    @Test("C82: 10,000 rounds with a late answer each leave nothing behind")
    func lateRounds() throws {
        var table = table()
        var now = Duration.zero
        for _ in 1...10_000 {
            let first = try table.begin("a", until: now + .milliseconds(50))
            now += .milliseconds(60)
            #expect(table.expire(now) == ["a"])
            let second = try table.begin("b", until: now + .milliseconds(100))
            #expect(second.id != first.id)
            #expect(table.answered(first.id).text == "late")
            #expect(table.answered(second.id).text == "for b")
        }
        #expect(table.counts == RequestCounts(due: 0, givenUp: 0, answered: 10_000, late: 10_000, unknown: 0))
        #expect(table.nextDeadline == nil)
    }
}

@Suite("The table of requests whose answers come in order")
struct OrderedRequestTableTests {
    @Test("answers go to the oldest request")
    func order() throws {
        var table = orderedTable()
        #expect(!table.isAnswerDue)
        #expect(table.answeredNext().text == "unknown")
        for name in ["a", "b"] { _ = try table.begin(name, until: nil) }
        #expect(table.answeredNext().text == "for a")
        _ = try table.begin("c", until: nil)
        #expect(table.answeredNext().text == "for b")
        #expect(table.isAnswerDue)
        #expect(table.answeredNext().text == "for c")
        #expect(!table.isAnswerDue)
        #expect(table.answeredNext().text == "unknown")
    }

    @Test("C48: a request that was given up keeps its place, and counts, until its answer has come")
    func cancelled() throws {
        var table = orderedTable(atMost: 3)
        let first = try table.begin("a", until: nil)
        _ = try table.begin("b", until: .milliseconds(5))
        _ = try table.begin("c", until: nil)
        table.cancel(first)
        #expect(table.expire(.milliseconds(5)) == ["b"])
        #expect(code { () throws(SocketError) in try table.begin("d", until: nil) } == .tooManyRequests)
        #expect(table.answeredNext().text == "late")
        #expect(table.answeredNext().text == "late")
        #expect(table.answeredNext().text == "for c")
        #expect(table.counts == RequestCounts(due: 0, givenUp: 0, answered: 1, late: 2, unknown: 0))
    }

    @Test("a request that wasn't sent leaves no place behind, and no deadline")
    func withdrawn() throws {
        var table = orderedTable()
        _ = try table.begin("a", until: nil)
        table.withdraw(try table.begin("b", until: .milliseconds(10)))
        _ = try table.begin("c", until: .milliseconds(20))
        #expect(table.expire(.milliseconds(10)) == [])
        #expect(table.answeredNext().text == "for a")
        #expect(table.answeredNext().text == "for c")
        #expect(!table.isAnswerDue)
    }
}
