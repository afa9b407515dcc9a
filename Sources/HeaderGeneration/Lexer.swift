/// Cuts C into tokens, comments and directives.
struct Lexer {
    private let bytes: [UInt8]
    private let file: String
    private var index = 0
    private var line = 1
    private var lineStart = 0
    /// Whether only white space and comments have been seen on the line.
    private var isLineFresh = true
    private var elements: [Element] = []

    static func elements(of text: String, file: String) throws(HeaderError) -> [Element] {
        var lexer = Lexer(text, file: file)
        try lexer.readAll()
        return lexer.elements
    }

    private init(_ text: String, file: String) {
        bytes = Array(text.utf8)
        self.file = file
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        lineStart = index
    }

    private var position: Position { Position(file: file, line: line, column: index - lineStart + 1) }

    private func peek(_ offset: Int = 0) -> UInt8 { index + offset < bytes.count ? bytes[index + offset] : 0 }

    private func looks(at text: StaticString) -> Bool {
        for offset in 0..<text.utf8CodeUnitCount where peek(offset) != text.utf8Start[offset] { return false }
        return true
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where index < bytes.count {
            index += 1
            if bytes[index - 1] == UInt8(ascii: "\n") {
                line += 1
                lineStart = index
                isLineFresh = true
            }
        }
    }

    private mutating func readAll() throws(HeaderError) {
        while index < bytes.count {
            if try skipBlank(stopAtLineEnd: false) { continue }
            if peek() == UInt8(ascii: "#"), isLineFresh {
                try readDirective()
            } else {
                isLineFresh = false
                elements.append(.token(try readToken()))
            }
        }
    }

    /// Skips what separates tokens, and takes comments along; false if there is nothing of the kind.
    private mutating func skipBlank(stopAtLineEnd: Bool) throws(HeaderError) -> Bool {
        if looks(at: "//") {
            readLineComment()
        } else if looks(at: "/*") {
            try readBlockComment()
        } else if let count = splice {
            // A line that goes on in the next one.
            let wasFresh = isLineFresh
            advance(count)
            isLineFresh = wasFresh
        } else if index < bytes.count, peek() <= UInt8(ascii: " "), !(stopAtLineEnd && peek() == UInt8(ascii: "\n")) {
            advance()
        } else {
            return false
        }
        return true
    }

    /// The length of a `\` and the line's end behind it.
    private var splice: Int? {
        looks(at: "\\\n") ? 2 : looks(at: "\\\r\n") ? 3 : nil
    }

    private mutating func readLineComment() {
        advance(2)
        var lines: [String] = []
        let start = position
        var first = index
        while index < bytes.count, peek() != UInt8(ascii: "\n") {
            if let count = splice {
                lines.append(text(from: first))
                advance(count)
                first = index
            } else {
                advance()
            }
        }
        lines.append(text(from: first))
        elements.append(.comment(CComment(lines: lines, position: start)))
    }

    private mutating func readBlockComment() throws(HeaderError) {
        let opening = position
        advance(2)
        let start = position
        var lines: [String] = []
        var first = index
        while !looks(at: "*/") {
            if index >= bytes.count { throw HeaderError(opening, "this comment doesn't end") }
            if peek() == UInt8(ascii: "\n") {
                lines.append(text(from: first))
                first = index + 1
            }
            advance()
        }
        lines.append(text(from: first))
        advance(2)
        elements.append(.comment(CComment(lines: lines, position: start)))
    }

    private func text(from first: Int) -> String { String(decoding: bytes[first..<index], as: UTF8.self) }

    private mutating func readDirective() throws(HeaderError) {
        let start = position
        advance()
        var tokens: [Token] = []
        while index < bytes.count, peek() != UInt8(ascii: "\n") {
            if try skipBlank(stopAtLineEnd: true) { continue }
            // What isn't C, such as an apostrophe in an `#error`, is nobody's business here.
            if peek() == UInt8(ascii: "'") || peek() == UInt8(ascii: "\"") {
                tokens.append(readRough())
            } else {
                tokens.append(try readToken())
            }
        }
        let name = tokens.first?.text ?? ""
        elements.append(.directive(name: name, Array(tokens.dropFirst()), start))
    }

    /// One character of a directive.
    private mutating func readRough() -> Token {
        let token = Token(kind: .punctuator, text: String(UnicodeScalar(peek())), position: position)
        advance()
        return token
    }

    private mutating func readToken() throws(HeaderError) -> Token {
        let start = position
        let first = index
        if isLetter(peek()) {
            while isLetter(peek()) || isDigit(peek()) { advance() }
            return Token(kind: .name, text: text(from: first), position: start)
        }
        if isDigit(peek()) {
            // The dots of a range aren't part of it.
            while isLetter(peek()) || isDigit(peek()) || (peek() == UInt8(ascii: ".") && isDigit(peek(1))) { advance() }
            return Token(kind: .number, text: text(from: first), position: start)
        }
        if peek() == UInt8(ascii: "\"") || peek() == UInt8(ascii: "'") { return try readLiteral(at: start) }
        if looks(at: "...") {
            advance(3)
        } else if looks(at: "<<") || looks(at: ">>") || looks(at: "##") {
            advance(2)
        } else {
            // All bytes of a character that isn't ASCII.
            repeat { advance() } while peek() & 0xC0 == 0x80
        }
        return Token(kind: .punctuator, text: text(from: first), position: start)
    }

    private mutating func readLiteral(at start: Position) throws(HeaderError) -> Token {
        let quote = peek()
        advance()
        let first = index
        while peek() != quote {
            if index >= bytes.count || peek() == UInt8(ascii: "\n") { throw HeaderError(start, "this literal doesn't end") }
            advance(peek() == UInt8(ascii: "\\") ? 2 : 1)
        }
        let content = text(from: first)
        advance()
        return Token(kind: quote == UInt8(ascii: "\"") ? .string : .character, text: content, position: start)
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
