/// C without its directives.
struct Preprocessed: Sendable {
    var tokens: [Token] = []
    /// Each comment, with the index of the token that follows it.
    var comments: [(comment: CComment, next: Int)] = []
    var constants = Constants()
}

/// Obeys the directives that can change a struct's layout and drops the others.
struct Preprocessor {
    /// What is known about the lines behind an `#if`.
    private enum Branch {
        case taken
        case skipped
        /// One branch was taken; all others are skipped.
        case over
        /// It depends on what the generator can't see; the place of the `#if`.
        case unknown(Position)
    }

    private var result = Preprocessed()
    private var branches: [(branch: Branch, opening: Position)] = []
    private var packing: Int?
    private var packings: [Int?] = []
    /// Bounds what macros of macros can grow to.
    private var room = 100_000

    static func run(_ elements: [Element]) throws(HeaderError) -> Preprocessed {
        var preprocessor = Preprocessor()
        for element in elements { try preprocessor.take(element) }
        if let open = preprocessor.branches.last { throw HeaderError(open.opening, "this condition has no `#endif`") }
        return preprocessor.result
    }

    private var isSkipping: Bool {
        branches.contains {
            switch $0.branch {
            case .skipped, .over: true
            case .taken, .unknown: false
            }
        }
    }

    private var condition: Position? {
        for case (.unknown(let position), _) in branches { return position }
        return nil
    }

    private mutating func take(_ element: Element) throws(HeaderError) {
        switch element {
        case .comment(var comment):
            comment.isLeftOut = isSkipping
            result.comments.append((comment, result.tokens.count))
        case .token(let token):
            if !isSkipping { try append(token, position: token.position, within: []) }
        case .directive(let name, let tokens, let position):
            try obey(name, tokens, position)
        }
    }

    /// Appends a token, or what the macro of its name stands for.
    private mutating func append(_ token: Token, position: Position, within names: Set<String>) throws(HeaderError) {
        if token.kind == .name, !names.contains(token.text), let macro = result.constants.macros[token.text] {
            for part in macro { try append(part, position: position, within: names.union([token.text])) }
            return
        }
        room -= 1
        guard room > 0 else { throw HeaderError(position, "these macros grow too large") }
        var token = token
        token.position = position
        token.packing = packing
        token.condition = condition
        result.tokens.append(token)
    }

    private mutating func obey(_ name: String, _ tokens: [Token], _ position: Position) throws(HeaderError) {
        switch name {
        case "if", "ifdef", "ifndef": branches.append((branch(name, tokens, position), position))
        case "else", "elif":
            guard let last = branches.popLast() else { throw HeaderError(position, "`#\(name)` without an `#if`") }
            branches.append((next(after: last.branch, isElse: name == "else"), last.opening))
        case "endif":
            if branches.popLast() == nil { throw HeaderError(position, "`#endif` without an `#if`") }
        case _ where isSkipping: break
        case "define":
            guard let macro = tokens.first, macro.kind == .name else { return }
            result.constants.macros[macro.text] = isFunction(tokens) ? nil : Array(tokens.dropFirst())
        case "undef":
            if let macro = tokens.first { result.constants.macros[macro.text] = nil }
        case "pragma":
            if tokens.first?.text == "pack" { try pack(Array(tokens.dropFirst()), position) }
            if tokens.first?.text == "scalar_storage_order" {
                throw HeaderError(position, "`#pragma scalar_storage_order` isn't supported; write `lifeline: big-endian` above the struct")
            }
        default: break
        }
    }

    /// A macro with arguments has its `(` right behind the name.
    private func isFunction(_ tokens: [Token]) -> Bool {
        guard tokens.count > 1, tokens[1].isPunctuator("(") else { return false }
        return tokens[1].position.line == tokens[0].position.line
            && tokens[1].position.column == tokens[0].position.column + tokens[0].text.utf8.count
    }

    private func branch(_ name: String, _ tokens: [Token], _ position: Position) -> Branch {
        let words = tokens.map(\.text)
        if name == "if" {
            if words == ["0"] || words == ["defined", "(", "__cplusplus", ")"] || words == ["defined", "__cplusplus"] { return .skipped }
            return words == ["1"] ? .taken : .unknown(position)
        }
        let isDefined = result.constants.macros[words.first ?? ""] != nil
        // What a header defines unless it is defined already, such as the mark of an include guard.
        if name == "ifndef" { return isDefined ? .skipped : .taken }
        if words.first == "__cplusplus" { return .skipped }
        return isDefined ? .taken : .unknown(position)
    }

    private func next(after branch: Branch, isElse: Bool) -> Branch {
        switch branch {
        case .taken, .over: .over
        case .skipped: isElse ? .taken : .over
        case .unknown(let position): .unknown(position)
        }
    }

    /// `pack(n)`, `pack()`, `pack(push)`, `pack(push, n)` and `pack(pop)`.
    private mutating func pack(_ tokens: [Token], _ position: Position) throws(HeaderError) {
        var words = tokens.map(\.text)
        guard words.first == "(", words.last == ")" else { throw HeaderError(position, "`#pragma pack` needs parentheses") }
        words = words.dropFirst().dropLast().filter { $0 != "," }
        if words.first == "pop" {
            guard words.count == 1 else { throw HeaderError(position, "only `#pragma pack(pop)` is supported") }
            guard let last = packings.popLast() else { throw HeaderError(position, "`#pragma pack(pop)` without a push") }
            packing = last
            return
        }
        let isPush = words.first == "push"
        if isPush {
            packings.append(packing)
            words.removeFirst()
        }
        guard let word = words.first else {
            if !isPush { packing = nil }
            return
        }
        guard words.count == 1, let number = Constants.number(word), [1, 2, 4, 8, 16].contains(number) else {
            throw HeaderError(position, "`#pragma pack` takes 1, 2, 4, 8 or 16, alone or behind `push`")
        }
        packing = Int(number)
    }
}
