/// A piece of C outside comments.
struct Token: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case name, number, string, character, punctuator
    }

    var kind: Kind
    /// As it stands in the file; of a string or character literal, what stands between the quotes.
    var text: String
    var position: Position
    /// What `#pragma pack` says here; nil for the layout that the C ABI has.
    var packing: Decided<Int?> = .known(nil)
    /// The `#if` around it, or around the macro of its name, that can't be decided here.
    var condition: Position?

    func isPunctuator(_ text: String) -> Bool { kind == .punctuator && self.text == text }
    func isName(_ text: String) -> Bool { kind == .name && self.text == text }

    /// How it is quoted in an error.
    var quoted: String { kind == .string ? "\"\(text)\"" : "`\(text)`" }
}

/// A comment of either kind.
struct CComment: Sendable, Equatable {
    /// What stands between its marks, line by line.
    var lines: [String]
    /// Where the text of the first line begins.
    var position: Position
    /// Whether it stands in a part that the preprocessor leaves out.
    var isLeftOut = false

    var lastLine: Int { position.line + lines.count - 1 }

    /// Where a byte of one of its lines stands.
    func position(line: Int, byte: Int) -> Position {
        Position(file: position.file, line: position.line + line, column: (line == 0 ? position.column : 1) + byte)
    }
}

/// What a file consists of, in its order.
enum Element: Sendable, Equatable {
    case token(Token)
    case comment(CComment)
    /// A line that begins with `#`: its name and what follows.
    case directive(name: String, [Token], Position)
}
