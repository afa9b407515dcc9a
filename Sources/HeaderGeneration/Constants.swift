/// The names that stand for whole numbers: `#define`s and the cases of enums.
struct Constants: Sendable {
    var macros = Macro.ofCompilers
    var cases: [String: Decided<Int128>] = [:]

    /// The value of a constant expression: numbers, names, parentheses and `+ - * / << >>`.
    ///
    /// - Throws: where something else stands, or the number is too large for 64 bits.
    func value(of tokens: [Token], at position: Position, depth: Int = 0) throws(HeaderError) -> Int128 {
        // A macro that names itself in a circle.
        guard depth < 16 else { throw HeaderError(position, "this constant is made of too many others; write the number") }
        var parser = ExpressionParser(constants: self, tokens: tokens, start: position, depth: depth)
        let value = try parser.readSum()
        if parser.index < tokens.count { throw parser.unexpected() }
        return value
    }

    /// The value of a name; nil if it has none that is a number.
    ///
    /// - Throws: also where the value depends on a condition that can't be decided.
    func value(named name: String, at position: Position, depth: Int = 0) throws(HeaderError) -> Int128? {
        if let value = cases[name] { return try value.value(for: "`\(name)`", at: position) }
        guard case .tokens(let tokens)? = try macros[name]?.value(for: "`\(name)`", at: position), !tokens.isEmpty else { return nil }
        return try value(of: tokens, at: position, depth: depth + 1)
    }

    /// The number that C writes so; nil if it isn't a whole number of at most 64 bits.
    static func number(_ text: String) -> Int128? {
        var digits = Substring(text.lowercased())
        while let last = digits.last, last == "u" || last == "l" { digits.removeLast() }
        let value: UInt64? =
            if digits.hasPrefix("0x") {
                UInt64(digits.dropFirst(2), radix: 16)
            } else if digits.hasPrefix("0b") {
                UInt64(digits.dropFirst(2), radix: 2)
            } else if digits.hasPrefix("0"), digits.count > 1 {
                UInt64(digits.dropFirst(), radix: 8)
            } else {
                UInt64(digits)
            }
        return value.map { Int128($0) }
    }
}

/// Reads a constant expression by precedence.
private struct ExpressionParser {
    let constants: Constants
    let tokens: [Token]
    let start: Position
    let depth: Int
    var index = 0
    var nesting = 0

    func unexpected() -> HeaderError {
        guard index < tokens.count else { return HeaderError(tokens.last?.position ?? start, "a number is missing here") }
        let quoted = tokens[index].quoted
        return HeaderError(
            tokens[index].position, "\(quoted) isn't a constant of this file that the generator can work out; write the number")
    }

    private mutating func take(_ operators: String...) -> Token? {
        guard index < tokens.count, tokens[index].kind == .punctuator, operators.contains(tokens[index].text) else { return nil }
        index += 1
        return tokens[index - 1]
    }

    mutating func readSum() throws(HeaderError) -> Int128 {
        var value = try readTerm()
        while let sign = take("+", "-") {
            let next = try readTerm()
            value = try limited(sign.text == "+" ? value + next : value - next, at: sign)
        }
        if let shift = take("<<", ">>") {
            let count = try readTerm()
            guard (0...63).contains(count) else { throw HeaderError(shift.position, "a shift by \(count) can't be meant") }
            let factor: Int128 = 1 << count
            value = try shift.text == "<<" ? product(value, factor, at: shift) : value >> count
        }
        return value
    }

    private mutating func readTerm() throws(HeaderError) -> Int128 {
        var value = try readFactor()
        while let sign = take("*", "/") {
            let next = try readFactor()
            if sign.text == "/", next == 0 { throw HeaderError(sign.position, "a division by zero") }
            value = try sign.text == "*" ? product(value, next, at: sign) : value / next
        }
        return value
    }

    private mutating func readFactor() throws(HeaderError) -> Int128 {
        guard nesting < 64 else { throw HeaderError(start, "this expression is nested too deeply") }
        nesting += 1
        defer { nesting -= 1 }
        if take("-") != nil { return try -readFactor() }
        if take("+") != nil { return try readFactor() }
        if take("(") != nil {
            let value = try readSum()
            guard take(")") != nil else { throw unexpected() }
            return value
        }
        guard index < tokens.count else { throw unexpected() }
        let token = tokens[index]
        switch token.kind {
        case .number:
            guard let value = Constants.number(token.text) else { throw unexpected() }
            index += 1
            return value
        case .name:
            guard let value = try constants.value(named: token.text, at: token.position, depth: depth) else { throw unexpected() }
            index += 1
            return value
        default: throw unexpected()
        }
    }

    private func product(_ left: Int128, _ right: Int128, at token: Token) throws(HeaderError) -> Int128 {
        let (product, isTooLarge) = left.multipliedReportingOverflow(by: right)
        return try limited(isTooLarge ? .max : product, at: token)
    }

    private func limited(_ value: Int128, at token: Token) throws(HeaderError) -> Int128 {
        guard value >= Int128(Int64.min), value <= Int128(UInt64.max) else {
            throw HeaderError(token.position, "this number has more than 64 bits")
        }
        return value
    }
}
