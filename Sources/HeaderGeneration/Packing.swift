/// What `#pragma pack` has said so far.
struct Packing: Sendable, Equatable {
    /// The most that a field is aligned to; nil for the layout that the C ABI has.
    private(set) var limit: Decided<Int?> = .known(nil)
    private var saved: [Decided<Int?>] = []
    /// The `#if` on which it depends what was saved before all that `saved` has.
    private var doubt: Position?

    /// Takes in that it may also be as `other` says, depending on the `#if` at `condition`.
    mutating func join(_ other: Packing, at condition: Position) {
        if limit != other.limit { limit = .depends(on: condition) }
        if saved != other.saved || doubt != other.doubt {
            saved = []
            doubt = condition
        }
    }

    /// Obeys `pack(n)`, `pack()`, `pack(push)`, `pack(push, n)` or `pack(pop)`.
    mutating func obey(_ tokens: [Token], at position: Position) throws(HeaderError) {
        var words = tokens.map(\.text)
        guard words.first == "(", words.last == ")" else { throw HeaderError(position, "`#pragma pack` needs parentheses") }
        words = words.dropFirst().dropLast().filter { $0 != "," }
        if words.first == "pop" {
            guard words.count == 1 else { throw HeaderError(position, "only `#pragma pack(pop)` is supported") }
            guard let last = saved.popLast() ?? doubt.map({ .depends(on: $0) }) else {
                throw HeaderError(position, "`#pragma pack(pop)` without a push")
            }
            limit = last
            return
        }
        let isPush = words.first == "push"
        if isPush {
            saved.append(limit)
            words.removeFirst()
        }
        guard let word = words.first else {
            if !isPush { limit = .known(nil) }
            return
        }
        guard words.count == 1, let number = Constants.number(word), [1, 2, 4, 8, 16].contains(number) else {
            throw HeaderError(position, "`#pragma pack` takes 1, 2, 4, 8 or 16, alone or behind `push`")
        }
        limit = .known(Int(number))
    }
}
