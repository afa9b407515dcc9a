import LifelineCore
import Testing

private typealias Answered = Packet<RequestHeader, Bytes>

/// The ids that a pairing gives to requests which are answered at once.
private func ids<Rule: PairingRule>(_ count: Int, _ rule: Rule) throws -> [Rule.ID] {
    var table = rule.makeTable(for: Int.self)
    return try (0..<count).map { number in
        let ticket = try table.begin(number, until: nil)
        _ = table.answered(ticket.id)
        return ticket.id
    }
}

@Suite("What pairs answers with requests")
struct PairingTests {
    @Test("serials begin at 1 and go on behind the largest with 1")
    func serials() throws {
        let pairing = Pairing<RequestHeaderCodec>.serial(startingAt: .max - 1)
        #expect(try ids(4, pairing.rule) as? [Int32] == [.max - 1, .max, 1, 2])
        #expect(try ids(2, Pairing<RequestHeaderCodec>.serial().rule) as? [Int32] == [1, 2])
    }

    @Test("ids of any width wrap, and are never 0 nor negative")
    func widths() throws {
        func check<ID: FixedWidthInteger & Sendable>(_ type: ID.Type) throws {
            let pairing = Pairing<RawCodec>.byNumber(startingAt: ID.max - 1, assign: { _, _ in }, idOf: { _ -> ID? in nil })
            #expect(try ids(4, pairing.rule) as? [ID] == [.max - 1, .max, 1, 2])
        }
        try check(Int8.self)
        try check(UInt8.self)
        try check(UInt16.self)
        try check(Int32.self)
        try check(Int64.self)
    }

    @Test("ids of a type of your own are made of running numbers")
    func made() throws {
        let pairing = Pairing<RawCodec>.byID(making: { "request-\($0)" }, assign: { _, _ in }, idOf: { String($0) })
        #expect(try ids(2, pairing.rule) as? [String] == ["request-1", "request-2"])
    }

    @Test("the serial is put into what is sent; pushes and negative serials aren't answers")
    func packets() throws {
        try check(Pairing<RequestHeaderCodec>.serial().rule)

        func check<Rule: PairingRule<RequestHeaderCodec>>(_ rule: Rule) throws {
            var table = rule.makeTable(for: String.self)
            let ticket = try table.begin("a", until: nil)
            var packet = Answered(header: RequestHeader(serial: 99, command: 7, code: 3), body: Bytes("x"))
            rule.assign(ticket.id, to: &packet)
            #expect(packet == Answered(header: RequestHeader(serial: 1, command: 7, code: 3), body: Bytes("x")))
            for serial: Int32 in [0, -1, .min] {
                #expect(rule.answer(Answered(header: RequestHeader(serial: serial, command: 7), body: Bytes()), in: &table) == nil)
            }
            guard case .unknown = rule.answer(Answered(header: RequestHeader(serial: 999, command: 7), body: Bytes()), in: &table) else {
                Issue.record("an answer to nobody")
                return
            }
            guard case .due("a") = rule.answer(packet, in: &table) else {
                Issue.record("the answer")
                return
            }
        }
    }

    @Test("in order, each frame is an answer while one is due, or what is said to be one")
    func inOrder() throws {
        try check(Pairing<LineCodec>.inOrder().rule, push: "push", whenDue: true)
        try check(Pairing<LineCodec>.inOrder { !$0.hasPrefix("push") }.rule, push: "push", whenDue: false)

        func check<Rule: PairingRule<LineCodec>>(_ rule: Rule, push: String, whenDue: Bool) throws {
            var table = rule.makeTable(for: String.self)
            #expect(rule.answer(push, in: &table) == nil)
            _ = try table.begin("a", until: nil)
            #expect((rule.answer(push, in: &table) != nil) == whenDue)
        }
    }
}
