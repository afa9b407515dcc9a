/// Finds `@unchecked Sendable` and `nonisolated(unsafe)` that no comment explains: neither on their lines nor directly above the
/// declaration and its attributes.
enum UncheckedClaims {
    static func withoutComment(in source: Lexed) -> [Token] {
        let tokens = source.tokens
        let claims = tokens.indices.compactMap { index -> (claim: Token, first: Int)? in
            if spells(["@", "unchecked", "Sendable"], tokens, at: index) {
                return (Token(text: "@unchecked Sendable", line: tokens[index].line), startOfDeclaration(tokens, before: index))
            }
            if spells(["nonisolated", "(", "unsafe", ")"], tokens, at: index) {
                return (Token(text: "nonisolated(unsafe)", line: tokens[index].line), tokens[index].line)
            }
            return nil
        }
        return claims.filter { claim, first in
            let above = firstAttributeLine(tokens, above: first) - 1
            return !(above...claim.line).contains { source.commented.contains($0) }
        }.map(\.claim)
    }

    private static func spells(_ words: [String], _ tokens: [Token], at index: Int) -> Bool {
        index + words.count <= tokens.count && words.indices.allSatisfy { tokens[index + $0].text == words[$0] }
    }

    /// The line of the `class`, `struct` … whose inheritance clause goes on to `index`.
    private static func startOfDeclaration(_ tokens: [Token], before index: Int) -> Int {
        let keywords: Set<String> = ["class", "struct", "enum", "extension", "actor", "protocol"]
        var position = index
        while position > 0, !["{", "}", ";"].contains(tokens[position - 1].text) {
            position -= 1
            if keywords.contains(tokens[position].text) { return tokens[position].line }
        }
        return tokens[index].line
    }

    /// The topmost of the lines above `line` that hold only attributes of the same declaration.
    private static func firstAttributeLine(_ tokens: [Token], above line: Int) -> Int {
        var first = line
        while tokens.first(where: { $0.line == first - 1 })?.text == "@" { first -= 1 }
        return first
    }
}
