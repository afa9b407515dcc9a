/// Finds where code starts a task outside the task tree: `Task { }`, `Task(priority:)`, `Task<Void, Never> { }`, `Task.init`,
/// `Task.immediate`. Types (`var task: Task<Void, Never>?`) and `extension Task` are no starts.
enum UnstructuredTasks {
    static func lines(in tokens: [Token]) -> [Int] {
        tokens.indices.filter { starts(tokens, at: $0) }.map { tokens[$0].line }
    }

    private static func starts(_ tokens: [Token], at index: Int) -> Bool {
        guard tokens[index].text == "Task" else { return false }
        let before = index > 0 ? tokens[index - 1].text : ""
        if before == "extension" || before == "->" { return false }
        // `Other.Task` is another type, unless the standard module's name stands before it.
        if before == ".", index < 2 || tokens[index - 2].text != "_Concurrency" { return false }
        let next = afterGenericArguments(tokens, from: index + 1)
        switch text(tokens, next) {
        case "(": return true
        case "{": return !(next > index + 1 && isAnnotation(tokens, at: index))
        case ".": return ["init", "immediate"].contains(text(tokens, next + 1))
        default: return false
        }
    }

    private static func text(_ tokens: [Token], _ index: Int) -> String {
        tokens.indices.contains(index) ? tokens[index].text : ""
    }

    /// `var name: Task<…> {` declares a computed property.
    private static func isAnnotation(_ tokens: [Token], at index: Int) -> Bool {
        text(tokens, index - 1) == ":" && text(tokens, index - 3) == "var"
    }

    private static func afterGenericArguments(_ tokens: [Token], from start: Int) -> Int {
        guard text(tokens, start) == "<" else { return start }
        var depth = 0
        for index in start..<tokens.count {
            switch tokens[index].text {
            case "<": depth += 1
            case ">": depth -= 1
            case "{", "}", ";": return start
            default: break
            }
            if depth == 0 { return index + 1 }
        }
        return start
    }
}
