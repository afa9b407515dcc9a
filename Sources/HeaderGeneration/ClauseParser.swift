/// Reads what stands behind `lifeline:`: clauses between commas or semicolons.
///
///     clause    = [field] predicate
///     predicate = "big-endian" | "little-endian" | "public" | "internal" | "as" name
///               | "counts" ("body" | "packet" | "rest")
///               | "==" (number | string) | "in" number ("..." | "..<") number
///               | ("<" | "<=" | ">" | ">=") number
struct ClauseParser {
    private let constants: Constants
    private let end: Position
    private var tokens: ArraySlice<Token>

    static func clauses(in text: String, at position: Position, constants: Constants) throws(HeaderError) -> [Clause] {
        var parser = try ClauseParser(text, at: position, constants: constants)
        return try parser.readAll()
    }

    private init(_ text: String, at position: Position, constants: Constants) throws(HeaderError) {
        var tokens: [Token] = []
        for case .token(var token) in try Self.lexed(text, at: position) {
            // A file of its own to the lexer; its first line begins where the comment has it.
            token.position.column += position.column - 1
            token.position.line = position.line
            tokens.append(token)
        }
        self.tokens = tokens[...]
        self.constants = constants
        end = Position(file: position.file, line: position.line, column: position.column + text.utf8.count)
    }

    private static func lexed(_ text: String, at position: Position) throws(HeaderError) -> [Element] {
        do {
            return try Lexer.elements(of: text, file: position.file)
        } catch {
            throw HeaderError(position, "in the annotation: \(error.message)")
        }
    }

    private mutating func readAll() throws(HeaderError) -> [Clause] {
        var clauses: [Clause] = []
        while true {
            while take(",") || take(";") {}
            guard let first = tokens.first else { break }
            clauses.append(try readClause(first))
            guard tokens.isEmpty || take(",") || take(";") else { throw unknown() }
        }
        if clauses.isEmpty { throw HeaderError(end, "an annotation is missing here: \(Self.known)") }
        return clauses
    }

    private mutating func readClause(_ first: Token) throws(HeaderError) -> Clause {
        if let predicate = try readPredicate() { return Clause(subject: nil, predicate: predicate, position: first.position) }
        guard first.kind == .name else { throw unknown() }
        tokens.removeFirst()
        guard let predicate = try readPredicate() else { throw HeaderError(first.position, "\(first.quoted) says nothing: \(Self.known)") }
        return Clause(subject: first.text, predicate: predicate, position: first.position)
    }

    static let known = """
        known are `big-endian`, `little-endian`, `public`, `internal`, `as NAME`, `counts body`, `counts packet`, `counts rest`, \
        `== N`, `in A...B`, `< N`, `<= N`, `> N` and `>= N`, with the field's name before where the comment stands at the struct
        """

    private func unknown() -> HeaderError {
        guard let token = tokens.first else { return HeaderError(end, "something is missing here: \(Self.known)") }
        return HeaderError(token.position, "\(token.quoted) isn't known here: \(Self.known)")
    }

    private mutating func take(_ text: String) -> Bool {
        guard let first = tokens.first, first.kind != .string, first.text == text else { return false }
        tokens.removeFirst()
        return true
    }

    /// Takes several tokens that belong together, such as `little - endian`, or none of them.
    private mutating func take(_ texts: String...) -> Bool {
        guard tokens.prefix(texts.count).map(\.text) == texts else { return false }
        tokens.removeFirst(texts.count)
        return true
    }

    private mutating func readPredicate() throws(HeaderError) -> Clause.Predicate? {
        let largest = Int128(UInt64.max)
        let smallest = Int128(Int64.min)
        if take("big", "-", "endian") { return .order(.big) }
        if take("little", "-", "endian") { return .order(.little) }
        if take("public") { return .isPublic(true) }
        if take("internal") { return .isPublic(false) }
        if take("as") { return .swiftName(try readName()) }
        if take("counts") { return .counts(try readCounted()) }
        if take("=", "=") {
            if let literal = tokens.first, literal.kind == .string {
                tokens.removeFirst()
                return .text(literal.text)
            }
            let value = try readNumber()
            return .range(value...value)
        }
        if take("<", "=") { return .range(try range(from: smallest, to: readNumber())) }
        if take(">", "=") { return .range(try range(from: readNumber(), to: largest)) }
        if take("<") { return .range(try range(from: smallest, to: readNumber() - 1)) }
        if take(">") { return .range(try range(from: readNumber() + 1, to: largest)) }
        if take("in") { return .range(try readRange()) }
        return nil
    }

    private mutating func readRange() throws(HeaderError) -> ClosedRange<Int128> {
        let lower = try readNumber()
        if take("...") { return try range(from: lower, to: readNumber()) }
        // `..<` in three pieces.
        if take(".", ".", "<") { return try range(from: lower, to: readNumber() - 1) }
        throw HeaderError(tokens.first?.position ?? end, "a range is written `A...B`, or `A..<B` without its end")
    }

    private func range(from lower: Int128, to upper: Int128) throws(HeaderError) -> ClosedRange<Int128> {
        guard lower <= upper else { throw HeaderError(tokens.first?.position ?? end, "this range is empty") }
        return lower...upper
    }

    private mutating func readName() throws(HeaderError) -> String {
        guard let token = tokens.first, token.kind == .name else {
            throw HeaderError(tokens.first?.position ?? end, "a name for Swift is missing here")
        }
        tokens.removeFirst()
        return token.text
    }

    private mutating func readCounted() throws(HeaderError) -> Clause.Counted {
        guard let token = tokens.first, let counted = Clause.Counted(rawValue: token.text) else {
            throw HeaderError(
                tokens.first?.position ?? end,
                "say what the length counts: `body`, `packet` (header and body) or `rest` (all that stands behind the field)")
        }
        tokens.removeFirst()
        return counted
    }

    private mutating func readNumber() throws(HeaderError) -> Int128 {
        let isNegative = take("-")
        guard let token = tokens.first else { throw HeaderError(end, "a number is missing here") }
        let value: Int128? =
            switch token.kind {
            case .number: Constants.number(token.text)
            case .name: try constants.value(named: token.text, at: token.position)
            default: nil
            }
        guard let value else { throw HeaderError(token.position, "\(token.quoted) isn't a whole number, a `#define` or an enum's case") }
        tokens.removeFirst()
        return isNegative ? -value : value
    }
}
