import LifelineCore
import Testing

/// A table that does everything the slow way.
private struct Model {
    struct Entry {
        var name: Int
        var deadline: Int?
        var isDue = true
    }

    var entries: [UInt8: Entry] = [:]
    /// Given up, the oldest first.
    var old: [UInt8] = []
    let remembered: Int

    var due: [UInt8] { entries.filter(\.value.isDue).keys.sorted { entries[$0]!.name < entries[$1]!.name } }

    func rank(_ id: UInt8) -> (Int, Int) { (entries[id]?.deadline ?? .max, entries[id]?.name ?? 0) }

    mutating func giveUp(_ id: UInt8) {
        entries[id]?.isDue = false
        old.append(id)
        if old.count > remembered { entries[old.removeFirst()] = nil }
    }

    mutating func remove(_ id: UInt8) {
        entries[id] = nil
        old.removeAll { $0 == id }
    }
}

@Suite("The table of requests against a model")
struct RequestTableModelTests {
    @Test("everybody gets the own answer, at most once, whatever happens in whatever order", arguments: [1, 7, 120])
    func model(remembered: Int) throws {
        var random = Generator(state: UInt64(remembered))
        var table = RequestTable<UInt8, Int>(atMost: 100, remembering: remembered, first: 1) {
            UInt8(truncatingIfNeeded: ($0 - 1) % 255) + 1
        }
        var model = Model(remembered: remembered)
        var tickets: [UInt8: RequestTable<UInt8, Int>.Ticket] = [:]
        var now = 0
        for step in 0..<20_000 {
            now += random.below(3)
            let picked = model.due.isEmpty ? nil : model.due[random.below(model.due.count)]
            switch random.below(8) {
            case 0...2:
                guard model.due.count < 100, model.entries.count < 255 else { continue }
                let deadline = random.below(4) == 0 ? nil : now + random.below(200)
                let ticket = try table.begin(step, until: deadline.map { .milliseconds($0) })
                #expect(model.entries[ticket.id] == nil)
                model.entries[ticket.id] = Model.Entry(name: step, deadline: deadline)
                tickets[ticket.id] = ticket
            case 3:
                guard let picked, let ticket = tickets[picked] else { continue }
                table.cancel(ticket)
                model.giveUp(picked)
            case 4:
                guard let picked, let ticket = tickets[picked] else { continue }
                table.withdraw(ticket)
                model.remove(picked)
            case 5...6:
                let id = picked ?? UInt8(random.below(256))
                answer(random.below(2) == 0 ? id : UInt8(random.below(256)), &table, &model)
            default:
                let over = model.due.filter { model.entries[$0]!.deadline.map { $0 <= now } ?? false }
                    .sorted { model.rank($0) < model.rank($1) }
                #expect(table.expire(.milliseconds(now)) == over.map { model.entries[$0]!.name })
                for id in over { model.giveUp(id) }
            }
            #expect(table.counts.due == model.due.count)
            #expect(table.counts.givenUp == model.old.count)
        }
        let left = model.due.map { model.entries[$0]!.name }
        #expect(table.end(SocketError(.closed, "over")) == left)
    }

    private func answer(_ id: UInt8, _ table: inout RequestTable<UInt8, Int>, _ model: inout Model) {
        switch (table.answered(id), model.entries[id]) {
        case (.due(let name), let entry?): #expect(entry.isDue && entry.name == name)
        case (.late, let entry?): #expect(!entry.isDue)
        case (.unknown, nil): break
        case (let answer, let entry): Issue.record("\(answer) for \(String(describing: entry))")
        }
        model.remove(id)
    }
}

private struct Generator {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
