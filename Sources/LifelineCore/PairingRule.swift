/// What a ``Pairing`` does, for a type of id.
package protocol PairingRule<C>: Sendable {
    associatedtype C: Codec
    associatedtype ID: Hashable & Sendable

    /// Whether answers come in the order in which requests are encoded.
    var isOrdered: Bool { get }

    func makeTable<Waiter>(for waiter: Waiter.Type) -> RequestTable<ID, Waiter>

    /// Puts the id into what is sent.
    func assign(_ id: ID, to message: inout C.Outgoing)

    /// What `frame` comes to in `table`; nil if it isn't an answer.
    func answer<Waiter>(_ frame: C.Decoder.Frame, in table: inout RequestTable<ID, Waiter>) -> RequestTable<ID, Waiter>.Answer?
}

struct PairingByID<C: Codec, ID: Hashable & Sendable>: PairingRule {
    let maximum: Int
    let remembered: Int
    let first: UInt64
    let makeID: @Sendable (UInt64) -> ID
    let assign: @Sendable (inout C.Outgoing, ID) -> Void
    let idOf: @Sendable (C.Decoder.Frame) -> ID?

    var isOrdered: Bool { false }

    func makeTable<Waiter>(for waiter: Waiter.Type) -> RequestTable<ID, Waiter> {
        RequestTable(atMost: maximum, remembering: remembered, first: first, makeID: makeID)
    }

    func assign(_ id: ID, to message: inout C.Outgoing) { assign(&message, id) }

    func answer<Waiter>(_ frame: C.Decoder.Frame, in table: inout RequestTable<ID, Waiter>) -> RequestTable<ID, Waiter>.Answer? {
        idOf(frame).map { table.answered($0) }
    }
}

struct PairingInOrder<C: Codec>: PairingRule {
    let maximum: Int
    let isAnswer: (@Sendable (C.Decoder.Frame) -> Bool)?

    var isOrdered: Bool { true }

    func makeTable<Waiter>(for waiter: Waiter.Type) -> RequestTable<UInt64, Waiter> {
        RequestTable(atMost: maximum, remembering: nil, makeID: { $0 })
    }

    func assign(_ id: UInt64, to message: inout C.Outgoing) {}

    func answer<Waiter>(_ frame: C.Decoder.Frame, in table: inout RequestTable<UInt64, Waiter>) -> RequestTable<UInt64, Waiter>.Answer? {
        if let isAnswer {
            return isAnswer(frame) ? table.answeredNext() : nil
        }
        return table.isAnswerDue ? table.answeredNext() : nil
    }
}
