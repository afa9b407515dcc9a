// What the file gives names to: cases of enums and typedefs of integers.
extension CParser {
    /// The first `#if` that one of the tokens depends on and that can't be decided.
    private func condition(in tokens: some Sequence<Token>) -> Position? {
        for token in tokens {
            if let condition = token.condition { return condition }
            guard token.kind == .name else { continue }
            if let condition = aliases[token.text]?.condition ?? constants.cases[token.text]?.condition { return condition }
        }
        return nil
    }

    /// Takes `typedef TYPE NAME;` if the type is an integer.
    mutating func readAlias(from start: Int) {
        guard let end = tokens[start...].firstIndex(where: { $0.isPunctuator(";") }), let name = token(end - 1), name.kind == .name
        else { return }
        if let condition = condition(in: tokens[start...end]) {
            aliases[name.text] = .depends(on: condition)
        } else if let (type, _) = try? readType(), index == end - 1 {
            aliases[name.text] = .known(type)
        }
    }

    /// Takes the cases of an enum that are numbers; the rest of it is passed over.
    mutating func readEnum() {
        var place = index + 1
        while let token = token(place), token.kind == .name { place += 1 }
        guard token(place)?.isPunctuator("{") == true else { return }
        var next: Decided<Int128>? = .known(0)
        while let name = token(place + 1), name.kind == .name {
            place += 2
            if token(place)?.isPunctuator("=") == true {
                var value: [Token] = []
                while let part = token(place + 1), !part.isPunctuator(","), !part.isPunctuator("}") {
                    value.append(part)
                    place += 1
                }
                place += 1
                next = (try? constants.value(of: value, at: name.position)).map { .known($0) }
                if let condition = condition(in: value) { next = .depends(on: condition) }
            }
            if let condition = name.condition { next = .depends(on: condition) }
            constants.cases[name.text] = next
            if case .known(let value)? = next { next = .known(value + 1) }
            guard token(place)?.isPunctuator(",") == true else { return }
        }
    }
}
