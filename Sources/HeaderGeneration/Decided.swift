/// What is known of something that may stand behind an `#if`.
enum Decided<Value: Sendable>: Sendable {
    case known(Value)
    /// It depends on this `#if`, which can't be decided here.
    case depends(on: Position)

    /// The value.
    ///
    /// - Throws: if there is no telling; `what`, at `place`, is what needs it.
    func value(for what: String, at place: Position) throws(HeaderError) -> Value {
        switch self {
        case .known(let value): return value
        case .depends(let condition): throw HeaderError(undecided: condition, for: what, at: place)
        }
    }

    /// The `#if` that it depends on.
    var condition: Position? {
        if case .depends(let condition) = self { condition } else { nil }
    }
}

extension Decided: Equatable where Value: Equatable {}

extension HeaderError {
    /// `what`, at `place`, is needed, and the `#if` at `condition` can't be decided.
    init(undecided condition: Position, for what: String, at place: Position) {
        self.init(
            condition,
            "the generator can't tell whether this condition holds, and \(what) in line \(place.line) depends on it; take the condition out"
        )
    }
}
