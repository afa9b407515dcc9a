import Lifeline

/// A codec by the name that `--codec` gives it.
struct CodecEntry: Sendable {
    /// What stands before the first colon of `--codec`.
    let name: String
    /// Whole values of `--codec` as help shows them, and what it says of each.
    let forms: KeyValuePairs<String, String>
    /// The options beside `--codec` that mean something with it.
    let options: Set<String>
    /// The framing for what stands behind the colon, nil if there is none; nil if it can't be understood.
    let make: @Sendable (String?, FramingOptions) throws(UsageError) -> Framing?
}

/// All codecs of the tool. What is understood and what help says both come from here.
enum CodecTable {
    static let entries =
        lineEntries + lengthEntries + headerEntries + [
            CodecEntry(name: "raw", forms: ["raw": "bytes as they come, without frames"], options: []) {
                (form, options) throws(UsageError) in
                guard form == nil else { return nil }
                return Framing(RawCodec(), splitting: options.isHexadecimal ? .lf : nil, max: .max, options)
            }
        ]

    /// - Throws: ``UsageError`` for a name that isn't known, or an option that means nothing with it.
    static func framing(_ name: String, _ options: FramingOptions) throws(UsageError) -> Framing {
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let entry = entries.first(where: { $0.name == parts.first }) else { throw UsageError("unknown codec \(name)") }
        for option in options.names where !entry.options.contains(option) {
            throw UsageError("\(option) means nothing with --codec \(name)")
        }
        guard let framing = try entry.make(parts.count > 1 ? parts[1] : nil, options) else {
            throw UsageError("unknown codec \(name): write it like \(entry.forms[0].key)")
        }
        return framing
    }

    /// A table of the examples with what help says of them.
    static var help: String {
        entries.flatMap(\.forms).map { example, text in
            let first = example + String(repeating: " ", count: max(1, width - example.count))
            return "  " + first + text.split(separator: "\n").joined(separator: "\n  " + String(repeating: " ", count: width))
        }.joined(separator: "\n")
    }

    private static let width = 19
}
