/// C without its directives.
struct Preprocessed: Sendable {
    var tokens: [Token] = []
    /// Each comment, with the index of the token that follows it.
    var comments: [(comment: CComment, next: Int)] = []
    /// Each `#include`, with the index of the token that follows it.
    var includes: [(position: Position, next: Int)] = []
    var constants = Constants()
}

/// Obeys the directives that can change a struct's layout and drops the others.
///
/// Where a condition depends on what the generator can't see, all branches are read, and what they say is marked with the condition's
/// place. It is an error only if a header needs it.
struct Preprocessor {
    /// What is known about the lines behind an `#if`, `#elif` or `#else`.
    private enum Branch {
        case taken
        case skipped
        /// One branch was taken; all others are skipped.
        case over
        /// It depends on what the generator can't see; the place of the condition.
        case unknown(Position)
    }

    /// An `#if` whose `#endif` is still to come.
    private struct Conditional {
        var opening: Position
        var branch: Branch
        /// What is said where the whole of it stands.
        var isSkippedAround: Bool
        var conditionAround: Position?
        /// What `#pragma pack` has said before, and what it may have said behind the branches so far.
        var before: Packing
        var after: Packing

        var isSkipping: Bool {
            switch branch {
            case .skipped, .over: true
            case .taken, .unknown: isSkippedAround
            }
        }

        var condition: Position? {
            if let conditionAround { return conditionAround }
            return if case .unknown(let position) = branch { position } else { nil }
        }
    }

    private let elements: [Element]
    private var result = Preprocessed()
    private var conditionals: [Conditional] = []
    private var packing = Packing()
    /// Bounds what macros of macros can grow to.
    private var room = 100_000

    static func run(_ elements: [Element]) throws(HeaderError) -> Preprocessed {
        var preprocessor = Preprocessor(elements: elements)
        for place in elements.indices { try preprocessor.take(place) }
        if let open = preprocessor.conditionals.last { throw HeaderError(open.opening, "this condition has no `#endif`") }
        return preprocessor.result
    }

    private init(elements: [Element]) { self.elements = elements }

    private var isSkipping: Bool { conditionals.last?.isSkipping ?? false }
    /// The `#if` around that can't be decided here.
    private var condition: Position? { conditionals.last?.condition }

    private mutating func take(_ place: Int) throws(HeaderError) {
        switch elements[place] {
        case .comment(var comment):
            comment.isLeftOut = isSkipping
            result.comments.append((comment, result.tokens.count))
        case .token(let token):
            if !isSkipping { try append(token, position: token.position, condition: condition, within: []) }
        case .directive(let name, let tokens, let position):
            switch name {
            case "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif":
                try branch(name, tokens, position, at: place)
            case _ where isSkipping: break
            default: try obey(name, tokens, position)
            }
        }
    }

    /// Appends a token, or what the macro of its name stands for.
    private mutating func append(
        _ token: Token, position: Position, condition: Position?, within names: Set<String>
    ) throws(HeaderError) {
        var condition = condition
        if token.kind == .name, !names.contains(token.text), let macro = result.constants.macros[token.text] {
            switch macro {
            case .known(.tokens(let parts)):
                for part in parts { try append(part, position: position, condition: condition, within: names.union([token.text])) }
                return
            case .known: break
            // The name stays, and whoever needs it finds the mark.
            case .depends(let place): condition = condition ?? place
            }
        }
        room -= 1
        guard room > 0 else { throw HeaderError(position, "these macros grow too large") }
        var token = token
        token.position = position
        token.packing = packing.limit
        token.condition = condition
        result.tokens.append(token)
    }

    private mutating func obey(_ name: String, _ tokens: [Token], _ position: Position) throws(HeaderError) {
        switch name {
        case "define": define(tokens.first, as: isFunction(tokens) ? .opaque : .tokens(Array(tokens.dropFirst())))
        case "undef": define(tokens.first, as: .undefined)
        case "include": result.includes.append((position, result.tokens.count))
        case "pragma":
            if tokens.first?.text == "pack" { try packing.obey(Array(tokens.dropFirst()), at: position) }
            if tokens.first?.text == "scalar_storage_order" {
                throw HeaderError(position, "`#pragma scalar_storage_order` isn't supported; write `lifeline: big-endian` above the struct")
            }
        default: break
        }
    }

    private mutating func define(_ name: Token?, as macro: Macro) {
        guard let name, name.kind == .name else { return }
        result.constants.macros[name.text] = condition.map { .depends(on: $0) } ?? .known(macro)
    }

    /// A macro with arguments has its `(` right behind the name.
    private func isFunction(_ tokens: [Token]) -> Bool {
        guard tokens.count > 1, tokens[1].isPunctuator("(") else { return false }
        return tokens[1].position.line == tokens[0].position.line
            && tokens[1].position.column == tokens[0].position.column + tokens[0].text.utf8.count
    }
}

// Conditions.
extension Preprocessor {
    private mutating func branch(_ name: String, _ tokens: [Token], _ position: Position, at place: Int) throws(HeaderError) {
        func decided() -> Branch { holds(name, tokens, at: place).map { $0 ? .taken : .skipped } ?? .unknown(position) }
        if name.hasPrefix("if") {
            conditionals.append(
                Conditional(
                    opening: position, branch: decided(), isSkippedAround: isSkipping, conditionAround: condition, before: packing,
                    after: packing))
            return
        }
        guard var last = conditionals.popLast() else { throw HeaderError(position, "`#\(name)` without an `#if`") }
        if case .unknown(let condition) = last.branch {
            // Each branch begins with what was said before all of them.
            last.after.join(packing, at: condition)
            packing = name == "endif" ? last.after : last.before
        }
        if name == "endif" { return }
        switch last.branch {
        case .taken, .over: last.branch = .over
        case .skipped: last.branch = name == "else" ? .taken : decided()
        case .unknown: break
        }
        conditionals.append(last)
    }

    /// Whether a condition holds; nil if there is no telling.
    private func holds(_ name: String, _ tokens: [Token], at place: Int) -> Bool? {
        let macros = result.constants.macros
        if name == "if" || name == "elif" {
            let words = tokens.map(\.text).filter { $0 != "(" && $0 != ")" }
            if words.count == 3, words[0] == "!", words[1] == "defined", isGuard(words[2], at: place) { return true }
            return ConditionParser.holds(tokens, macros)
        }
        let word = tokens.first?.text ?? ""
        let isDefined = ConditionParser.isDefined(word, macros)
        if name == "ifdef" || name == "elifdef" { return isDefined }
        return isGuard(word, at: place) ? true : isDefined.map { !$0 }
    }

    /// Whether the name is new and is defined right behind: the mark of an include guard, or a number with a default.
    private func isGuard(_ name: String, at place: Int) -> Bool {
        guard result.constants.macros[name] == nil else { return false }
        for element in elements[(place + 1)...] {
            switch element {
            case .comment: continue
            case .token: return false
            case .directive(let directive, let tokens, _): return directive == "define" && tokens.first?.text == name
            }
        }
        return false
    }
}
