import Lifeline

/// Standard output, written on a thread of its own: who reads it slowly makes the network wait, and no event loop.
actor Output {
    private nonisolated let thread = OwnThread()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Writes `frames` with what stands before and behind each.
    func write(_ frames: [Bytes], before prefix: String = "", behind suffix: String = "") throws {
        var text: [UInt8] = []
        text.reserveCapacity(frames.reduce(0) { $0 + $1.count + prefix.utf8.count + suffix.utf8.count })
        for frame in frames {
            text.append(contentsOf: prefix.utf8)
            frame.withUnsafeBytes { text.append(contentsOf: $0) }
            text.append(contentsOf: suffix.utf8)
        }
        try text.withUnsafeBytes { try System.write($0, to: System.standardOutput) }
    }
}

/// Lines for people.
enum Console {
    /// On standard output.
    static func say(_ text: String) { write(text, to: System.standardOutput) }

    /// On standard error.
    static func note(_ text: String) { write(text, to: System.standardError) }

    private static func write(_ text: String, to descriptor: Int32) {
        var line = text + "\n"
        // There is nowhere to complain about a complaint.
        try? line.withUTF8 { try System.write(UnsafeRawBufferPointer($0), to: descriptor) }
    }
}

extension Endpoint {
    /// The address without the scheme of TCP, which goes without saying.
    var short: String {
        let text = description
        return text.hasPrefix("tcp://") ? String(text.dropFirst("tcp://".count)) : text
    }
}

extension ConnectionInfo {
    /// What has passed, in words.
    var counts: String {
        "in \(Self.count(framesReceived, "frame")), \(Self.count(bytesReceived, "byte"));"
            + " out \(Self.count(framesSent, "frame")), \(Self.count(bytesSent, "byte"))"
    }

    private static func count(_ number: UInt64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
