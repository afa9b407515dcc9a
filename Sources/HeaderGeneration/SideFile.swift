/// Annotations that stand apart from the C file, for those who get it anew with each release of the server.
///
/// A file of comments only: each annotation begins with the name of its struct, as in `// lifeline: chat_header: big-endian`.
struct SideFile: Sendable {
    private(set) var clauses: [String: [Clause]] = [:]
    private var places: [(name: String, position: Position)] = []

    init(_ source: Generation.Source, constants: Constants) throws(HeaderError) {
        for element in try Lexer.elements(of: source.text, file: source.path) {
            switch element {
            case .token(let token):
                throw HeaderError(token.position, "\(token.quoted) doesn't belong here: this file holds comments with annotations only")
            case .directive: break
            case .comment(let comment):
                for (text, position) in comment.annotations { try read(text, at: position, constants: constants) }
            }
        }
    }

    private mutating func read(_ text: String, at position: Position, constants: Constants) throws(HeaderError) {
        guard let colon = text.firstIndex(of: ":") else {
            throw HeaderError(position, "the struct's name and a colon are missing, as in `lifeline: chat_header: big-endian`")
        }
        let name = text[..<colon].trimmed(\.isWhitespace)
        let rest = text[text.index(after: colon)...]
        let start = Position(
            file: position.file, line: position.line, column: position.column + text[...colon].utf8.count)
        clauses[name, default: []] += try ClauseParser.clauses(in: String(rest), at: start, constants: constants)
        places.append((name, position))
    }

    /// What is said of a struct that isn't there would be lost.
    func checkAllUsed(_ structs: [CStruct]) throws(HeaderError) {
        for (name, position) in places where !structs.contains(where: { $0.tag == name || $0.alias == name }) {
            throw HeaderError(position, "the C file has no struct `\(name)`")
        }
    }
}
