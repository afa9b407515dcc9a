/// The command line can't be understood. The command's help says what can.
struct UsageError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// The words of a command line behind the command, taken one by one.
struct Arguments {
    enum Argument {
        case option(String)
        case operand(String)
    }

    private var rest: ArraySlice<String>
    /// The value of `--name=value`, until it is asked for.
    private var attached: (option: String, value: String)?
    private var onlyOperands = false

    init(_ words: some Sequence<String>) { rest = Array(words)[...] }

    /// The next option or operand; nil at the end.
    ///
    /// - Throws: if the option before was given a value and takes none.
    mutating func next() throws(UsageError) -> Argument? {
        if let attached { throw UsageError("\(attached.option) takes no value") }
        guard let word = rest.popFirst() else { return nil }
        if onlyOperands || word == "-" || !word.hasPrefix("-") { return .operand(word) }
        if word == "--" {
            onlyOperands = true
            return try next()
        }
        if word.hasPrefix("--"), let mark = word.firstIndex(of: "=") {
            let option = String(word[..<mark])
            attached = (option, String(word[word.index(after: mark)...]))
            return .option(option)
        }
        return .option(word)
    }

    /// The value of the option that was taken last: behind `=`, or the next word.
    mutating func value(of option: String) throws(UsageError) -> String {
        if let attached {
            self.attached = nil
            return attached.value
        }
        guard let word = rest.popFirst() else { throw UsageError("\(option) needs a value") }
        return word
    }

    /// The value of the option that was taken last, if one stands behind its `=`.
    mutating func attachedValue() -> String? {
        defer { attached = nil }
        return attached?.value
    }
}

extension Duration {
    /// The time that a number of seconds stands for, such as `5`, `0.5` or `5s`; nil if it is none.
    init?(seconds text: some StringProtocol) {
        guard let seconds = Double(text.hasSuffix("s") ? String(text.dropLast()) : String(text)), seconds >= 0, seconds <= 1_000_000 else {
            return nil
        }
        self = .seconds(seconds)
    }
}
