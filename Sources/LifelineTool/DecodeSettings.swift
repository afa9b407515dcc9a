import Lifeline

/// What `decode` was asked to do.
struct DecodeSettings {
    let framing: Framing
    /// `-` is standard input.
    let path: String
    var isFull = false

    /// The settings that `arguments` ask for; nil if they ask for help.
    init?(_ arguments: some Sequence<String>) throws(UsageError) {
        var arguments = Arguments(arguments)
        var path: String?
        var codec = "line"
        var options = FramingOptions.forCaptures
        while let argument = try arguments.next() {
            switch argument {
            case .option("--help"), .option("-h"): return nil
            case .option("--codec"): codec = try arguments.value(of: "--codec")
            case .option("--full"): isFull = true
            case .option(let name):
                let isKnown = Self.isForLines(name) ? false : try options.take(name, from: &arguments)
                if !isKnown { throw UsageError("unknown option \(name)") }
            case .operand(let text):
                if path != nil { throw UsageError("one file is enough: \(text) is one too many") }
                path = text
            }
        }
        guard let path else { throw UsageError("no file: name one, or - for standard input") }
        self.path = path
        framing = try Framing(codec: codec, options: options)
    }

    /// What says how lines are read means nothing here; and overlong frames are dropped anyway.
    private static func isForLines(_ option: String) -> Bool { option == "--header" || option == "--drop" }
}
