import Lifeline

/// The status of a link in words.
extension LinkStatus {
    /// Such as `waiting 1.5 s: refused: …`.
    var words: String {
        switch self {
        case .idle: "not started"
        case .connecting(1): "connecting"
        case .connecting(let attempt): "connecting, attempt \(attempt)"
        case .connected: "connected"
        case .waiting(let delay, let why): "waiting \(delay.words): \(why)"
        case .stopped(let why): "stopped: \(why)"
        case .skipped(let count): "(\(count) changes not shown)"
        }
    }

    var isWaiting: Bool { if case .waiting = self { true } else { false } }
    var isStopped: Bool { if case .stopped = self { true } else { false } }
}

extension Duration {
    /// In seconds to the millisecond, or in milliseconds if it is less than one: `1.5 s`, `12 ms`, `0.3 ms`.
    var words: String {
        let milliseconds = Int64(self / .milliseconds(1))
        if milliseconds < 10, self != .milliseconds(milliseconds) {
            return "\(milliseconds).\(Int64(self / .microseconds(100)) - 10 * milliseconds) ms"
        }
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        let rest = String(1000 + milliseconds % 1000).dropFirst()
        let digits = String(rest.reversed().drop { $0 == "0" }.reversed())
        return "\(milliseconds / 1000)\(digits.isEmpty ? "" : ".\(digits)") s"
    }
}
