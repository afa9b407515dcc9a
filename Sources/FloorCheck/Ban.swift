/// One forbidden piece of code, matched token by token, so that spaces, line breaks, comments and literals don't matter.
///
/// `Task.sleep` matches these three tokens, `.random(` only a call on something, `epoll_*` every name that starts so.
struct Ban: Sendable, ExpressibleByStringLiteral {
    let code: String
    /// Matches a call of a free function only: not `clock.sleep(`, not `func sleep(`, but `Glibc.sleep(`.
    let isFree: Bool
    /// A call with this argument label is allowed: `.random(in: …, using: &generator)`.
    let unlessLabel: String?

    private let tokens: [String]
    private let prefix: String?
    /// Where in `tokens` the first name stands.
    private let anchor: Int

    init(_ code: String, isFree: Bool = false, unlessLabel: String? = nil) {
        self.code = code
        self.isFree = isFree
        self.unlessLabel = unlessLabel
        self.prefix = code.hasSuffix("*") ? String(code.dropLast()) : nil
        self.tokens = Lexer.read(code).tokens.map(\.text)
        self.anchor = code.hasPrefix(".") ? 1 : 0
    }

    init(stringLiteral code: String) {
        self.init(code)
    }

    static func free(_ code: String) -> Ban {
        Ban(code, isFree: true)
    }

    /// Code that the ban must find: for the self-test.
    var sample: String { prefix.map { $0 + "x" } ?? code }

    /// Where the ban's first name stands, given the places of all names.
    func candidates(in positions: [String: [Int]]) -> [Int] {
        guard let prefix else { return positions[tokens[anchor]] ?? [] }
        return positions.filter { $0.key.hasPrefix(prefix) }.flatMap(\.value)
    }

    /// Whether the ban's first name stands at `index` and the rest around it.
    func matches(_ source: [Token], at index: Int) -> Bool {
        if let prefix { return source[index].text.hasPrefix(prefix) }
        guard source[index].text == tokens[anchor] else { return false }
        let start = index - anchor
        guard start >= 0, start + tokens.count <= source.count else { return false }
        for offset in tokens.indices where source[start + offset].text != tokens[offset] { return false }
        if isFree, !isFreeName(source, at: index) { return false }
        if let unlessLabel, hasLabel(unlessLabel, source, from: start + tokens.count) { return false }
        return true
    }

    private func isFreeName(_ source: [Token], at index: Int) -> Bool {
        guard index > 0 else { return true }
        switch source[index - 1].text {
        case "func": return false
        case ".": return index > 1 && Rules.cLibraryNames.contains(source[index - 2].text)
        default: return true
        }
    }

    /// Whether the argument list that was opened just before `start` has `label:` at its own level.
    private func hasLabel(_ label: String, _ source: [Token], from start: Int) -> Bool {
        var depth = 1
        var index = start
        while index + 1 < source.count {
            switch source[index].text {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            case label where depth == 1 && source[index + 1].text == ":": return true
            default: break
            }
            if depth == 0 { return false }
            index += 1
        }
        return false
    }
}
