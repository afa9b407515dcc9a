import Lifeline

/// Prints the demo's lines in columns: milliseconds, who, what, and the rest. Only the task of the scenario prints.
struct DemoLog: Sendable {
    private let start = ContinuousClock.now
    private let hasColours = System.wantsColours

    /// Time since the start.
    var now: Duration { start.duration(to: .now) }

    /// The title of a part.
    func heading(_ text: String) {
        Console.say("\n\(coloured(text, "1"))")
    }

    /// One event.
    func line(_ who: String, _ what: String, _ text: String, at time: Duration? = nil) {
        let colour = what == "gets" || what == "reads" ? "32" : what == "ends" ? "33" : "36"
        Console.say("\(coloured(milliseconds(time ?? now), "2"))  \(column(who, 7)) \(coloured(column(what, 9), colour)) \(text)")
    }

    /// An expectation that was not met.
    func complaint(_ text: String) {
        Console.say("\(column("", 8))  \(coloured("NOT SO", "31"))  \(text)")
    }

    /// Such as `12.3`, eight columns wide.
    private func milliseconds(_ time: Duration) -> String {
        let tenths = time / Duration.microseconds(100)
        let whole = Int(tenths)
        let text = "\(whole / 10).\(whole % 10)"
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }

    private func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private func coloured(_ text: String, _ code: String) -> String {
        hasColours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension Bytes {
    /// In hexadecimal, with spaces.
    var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(separator: " ")
    }

    /// As text where it is plain ASCII, else escaped: `one\ntw`, `gr\xC3`.
    var escaped: String {
        map { byte in
            switch byte {
            case 0x0A: "\\n"
            case 0x0D: "\\r"
            case 0x20...0x7E: String(UnicodeScalar(byte))
            default: "\\x" + (String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)).uppercased()
            }
        }.joined()
    }
}
