/// A piece of code outside comments and literals: a name, a number, `->` or one other character.
///
/// A string or regex literal leaves the token `"`; a name in backticks keeps them, so it matches no rule.
struct Token: Sendable {
    let text: String
    let line: Int
}

/// A Swift file as the check sees it.
struct Lexed: Sendable {
    var tokens: [Token] = []
    /// The lines on which a comment stands or goes on.
    var commented: Set<Int> = []
}

/// Cuts Swift into tokens and drops comments and literals; code in an interpolation is code.
struct Lexer {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var result = Lexed()

    static func read(_ text: String) -> Lexed {
        var lexer = Lexer(bytes: Array(text.utf8))
        lexer.readCode(inInterpolation: false)
        return lexer.result
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private func peek(_ offset: Int = 0) -> UInt8 {
        position + offset < bytes.count ? bytes[position + offset] : 0
    }

    private func looks(at text: StaticString) -> Bool {
        for offset in 0..<text.utf8CodeUnitCount where peek(offset) != text.utf8Start[offset] { return false }
        return true
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func add(_ text: String, at line: Int) {
        result.tokens.append(Token(text: text, line: line))
    }

    /// Reads to the end of the file, or past the `)` that closes an interpolation.
    private mutating func readCode(inInterpolation: Bool) {
        var depth = 0
        while position < bytes.count {
            let byte = peek()
            if isName(byte) {
                readName()
            } else if looks(at: "//") {
                result.commented.insert(line)
                while position < bytes.count, peek() != UInt8(ascii: "\n") { advance() }
            } else if looks(at: "/*") {
                skipBlockComment()
            } else if byte == UInt8(ascii: "`") {
                readEscapedName()
            } else if let hashes = literalHashes() {
                readLiteral(hashes: hashes)
            } else if looks(at: "->") {
                add("->", at: line)
                advance(2)
            } else if byte <= UInt8(ascii: " ") {
                advance()
            } else {
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                if inInterpolation, depth < 0 { return advance() }
                add(String(UnicodeScalar(byte)), at: line)
                advance()
            }
        }
    }

    private func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    private mutating func readName() {
        let start = position
        while isName(peek()) { advance() }
        add(String(decoding: bytes[start..<position], as: UTF8.self), at: line)
    }

    private mutating func readEscapedName() {
        let start = position
        advance()
        while position < bytes.count, peek() != UInt8(ascii: "`"), peek() != UInt8(ascii: "\n") { advance() }
        advance()
        add(String(decoding: bytes[start..<position], as: UTF8.self), at: line)
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            result.commented.insert(line)
            if looks(at: "/*") {
                depth += 1
                advance(2)
            } else if looks(at: "*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && position < bytes.count
    }

    /// How many `#` stand before the literal that starts here; `nil` if none starts here.
    private func literalHashes() -> Int? {
        var hashes = 0
        while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
        if peek(hashes) == UInt8(ascii: "\"") { return hashes }
        guard peek(hashes) == UInt8(ascii: "/") else { return nil }
        return hashes > 0 || startsBareRegex() ? hashes : nil
    }

    /// A `/` is a regex literal, not an operator, where a value may begin and the line closes it.
    private func startsBareRegex() -> Bool {
        guard let last = result.tokens.last?.text, ["(", ",", "=", ":", "[", "{", "return", "in"].contains(last) else { return false }
        guard peek(1) > UInt8(ascii: " "), peek(1) != UInt8(ascii: ")") else { return false }
        var offset = 1
        while peek(offset) != 0, peek(offset) != UInt8(ascii: "\n") {
            if peek(offset) == UInt8(ascii: "/") { return true }
            offset += peek(offset) == UInt8(ascii: "\\") ? 2 : 1
        }
        return false
    }

    private mutating func readLiteral(hashes: Int) {
        add("\"", at: line)
        advance(hashes)
        let quote = peek()
        let isTriple = looks(at: "\"\"\"") && restOfLineIsBlank(from: 3)
        let isMultiline = isTriple || (quote == UInt8(ascii: "/") && hashes > 0)
        let quotes = isTriple ? 3 : 1
        advance(quotes)
        while position < bytes.count {
            if closes(quote, quotes: quotes, hashes: hashes) { return advance(quotes + hashes) }
            if peek() == UInt8(ascii: "\n"), !isMultiline { return }
            if peek() == UInt8(ascii: "\\"), followsHashes(hashes, from: 1) {
                let opensCode = peek(1 + hashes) == UInt8(ascii: "(") && quote == UInt8(ascii: "\"")
                advance(2 + hashes)
                if opensCode { readCode(inInterpolation: true) }
            } else {
                advance()
            }
        }
    }

    private func restOfLineIsBlank(from start: Int) -> Bool {
        var offset = start
        while peek(offset) == UInt8(ascii: " ") || peek(offset) == UInt8(ascii: "\t") || peek(offset) == UInt8(ascii: "\r") { offset += 1 }
        return peek(offset) == UInt8(ascii: "\n")
    }

    private func closes(_ quote: UInt8, quotes: Int, hashes: Int) -> Bool {
        for offset in 0..<quotes where peek(offset) != quote { return false }
        return followsHashes(hashes, from: quotes)
    }

    private func followsHashes(_ hashes: Int, from start: Int) -> Bool {
        for offset in 0..<hashes where peek(start + offset) != UInt8(ascii: "#") { return false }
        return true
    }
}
