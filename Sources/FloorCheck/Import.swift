/// An `import` declaration: its module, and the tokens that it takes.
struct Import: Sendable {
    let module: String
    let line: Int
    let isExported: Bool
    let range: Range<Int>

    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let", "actor"]
    private static let levels: Set<String> = ["public", "package", "internal", "fileprivate", "private"]

    /// All imports of a file, also those under `#if`.
    static func all(in tokens: [Token]) -> [Import] {
        tokens.indices.compactMap { index in
            guard tokens[index].text == "import", index == 0 || tokens[index - 1].text != "." else { return nil }
            var end = index + 1
            if end < tokens.count, kinds.contains(tokens[end].text) { end += 1 }
            guard end < tokens.count else { return nil }
            let module = tokens[end].text
            end += 1
            while end + 1 < tokens.count, tokens[end].text == "." { end += 2 }
            let start = startOfModifiers(before: index, in: tokens)
            return Import(
                module: module, line: tokens[index].line,
                isExported: tokens[start..<index].contains { $0.text == "_exported" },
                range: start..<end)
        }
    }

    /// Walks back over access levels and attributes: `@_exported public`, `@_spi(Name)`, `@testable`.
    private static func startOfModifiers(before index: Int, in tokens: [Token]) -> Int {
        var start = index
        while start > 0 {
            if levels.contains(tokens[start - 1].text) {
                start -= 1
            } else if start > 1, tokens[start - 2].text == "@" {
                start -= 2
            } else if start > 4, tokens[start - 1].text == ")", tokens[start - 3].text == "(", tokens[start - 5].text == "@" {
                start -= 5
            } else {
                break
            }
        }
        return start
    }
}
