/// Works out the expression of an `#if`: numbers, names, `defined`, parentheses, `!`, `&&`, `||` and comparisons.
struct ConditionParser {
    private let macros: [String: Decided<Macro>]
    private let tokens: [Token]
    private var index = 0
    private var depth: Int
    /// Whether nothing else was met so far.
    private var isUnderstood = true

    /// Whether the expression holds; nil where that depends on what can't be seen here, or isn't understood.
    static func holds(_ tokens: [Token], _ macros: [String: Decided<Macro>]) -> Bool? {
        value(of: tokens, macros, depth: 0).map { $0 != 0 }
    }

    /// Whether `name` is defined; nil if there is no telling.
    static func isDefined(_ name: String, _ macros: [String: Decided<Macro>]) -> Bool? {
        guard case .known(let macro)? = macros[name] else { return nil }
        if case .undefined = macro { return false }
        return true
    }

    private static func value(of tokens: [Token], _ macros: [String: Decided<Macro>], depth: Int) -> Int128? {
        var parser = ConditionParser(macros: macros, tokens: tokens, depth: depth)
        let value = parser.readAlternatives()
        return parser.isUnderstood && parser.index == tokens.count ? value : nil
    }

    private init(macros: [String: Decided<Macro>], tokens: [Token], depth: Int) {
        self.macros = macros
        self.tokens = tokens
        self.depth = depth
    }

    /// Takes an operator, which may be several tokens, or nothing.
    private mutating func take(_ parts: String...) -> Bool {
        guard tokens[index...].prefix(parts.count).map(\.text) == parts else { return false }
        index += parts.count
        return true
    }

    private mutating func misunderstood() -> Int128? {
        isUnderstood = false
        return nil
    }

    private mutating func readAlternatives() -> Int128? {
        var value = readConjunction()
        while take("|", "|") {
            let next = readConjunction()
            // One side that holds is enough, whatever the other is.
            value = isTrue(value) || isTrue(next) ? 1 : value == nil || next == nil ? nil : 0
        }
        return value
    }

    private mutating func readConjunction() -> Int128? {
        var value = readComparison()
        while take("&", "&") {
            let next = readComparison()
            value = value == 0 || next == 0 ? 0 : value == nil || next == nil ? nil : 1
        }
        return value
    }

    private func isTrue(_ value: Int128?) -> Bool { value.map { $0 != 0 } ?? false }

    private mutating func readComparison() -> Int128? {
        let left = readOperand()
        let holds: (Int128, Int128) -> Bool
        if take("=", "=") {
            holds = { $0 == $1 }
        } else if take("!", "=") {
            holds = { $0 != $1 }
        } else if take("<", "=") {
            holds = { $0 <= $1 }
        } else if take(">", "=") {
            holds = { $0 >= $1 }
        } else if take("<") {
            holds = { $0 < $1 }
        } else if take(">") {
            holds = { $0 > $1 }
        } else {
            return left
        }
        guard let right = readOperand(), let left else { return nil }
        return holds(left, right) ? 1 : 0
    }

    private mutating func readOperand() -> Int128? {
        guard depth < 64, index < tokens.count else { return misunderstood() }
        depth += 1
        defer { depth -= 1 }
        if take("!") { return readOperand().map { $0 == 0 ? 1 : 0 } }
        if take("(") {
            let value = readAlternatives()
            return take(")") ? value : misunderstood()
        }
        let token = tokens[index]
        index += 1
        if token.kind == .number { return Constants.number(token.text) ?? misunderstood() }
        guard token.kind == .name else { return misunderstood() }
        return token.text == "defined" ? readDefined() : value(of: token.text)
    }

    private mutating func readDefined() -> Int128? {
        let isOpen = take("(")
        guard index < tokens.count, tokens[index].kind == .name else { return misunderstood() }
        let isDefined = Self.isDefined(tokens[index].text, macros)
        index += 1
        if isOpen, !take(")") { return misunderstood() }
        return isDefined.map { $0 ? 1 : 0 }
    }

    private func value(of name: String) -> Int128? {
        guard case .known(let macro)? = macros[name] else { return nil }
        switch macro {
        case .undefined: return 0
        case .opaque: return nil
        case .tokens(let tokens):
            // More than a number or a name may bind less than what stands around it here.
            let isOne = tokens.count == 1 || (tokens.count == 3 && tokens[0].text == "(" && tokens[2].text == ")")
            return isOne ? Self.value(of: tokens, macros, depth: depth) : nil
        }
    }
}
