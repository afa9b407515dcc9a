import Lifeline

/// Standard output, written on a thread of its own: who reads it slowly makes the network wait, and no event loop.
actor Output {
    private nonisolated let thread = OwnThread()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Writes the lines of `frames`, with `prefix` before each.
    func write(_ frames: [ShellFrame], as lines: LineNotation, behind prefix: String = "") throws {
        var text: [UInt8] = []
        text.reserveCapacity(frames.reduce(0) { $0 + $1.body.count + prefix.utf8.count + 1 })
        for frame in frames {
            text.append(contentsOf: prefix.utf8)
            lines.append(frame, to: &text)
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

    /// What is wrong with frames that arrived whole, on standard error.
    static func noteFaults(of frames: [ShellFrame], behind prefix: String = "") {
        for case let fault? in frames.map(\.fault) { note("\(prefix)\(fault)") }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var line = text + "\n"
        // There is nowhere to complain about a complaint.
        try? line.withUTF8 { try System.write(UnsafeRawBufferPointer($0), to: descriptor) }
    }
}

extension Endpoint {
    /// The address without the scheme of TCP, which goes without saying, and of TLS, of which more is told.
    var short: String {
        let text = description
        return text.hasPrefix("tcp://") || text.hasPrefix("tls://") ? String(text.dropFirst("tcp://".count)) : text
    }
}

/// Such as "1 frame" or "2 frames".
func count(_ number: some BinaryInteger, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

extension ConnectionInfo {
    /// From where to where, and what was agreed on by TLS.
    var way: String {
        let addresses = [local, remote].compactMap { $0?.short }.joined(separator: " to ")
        return tls.map { "\(addresses); \($0.words)" } ?? addresses
    }

    /// What has passed, in words.
    var counts: String {
        "in \(count(framesReceived, "frame")), \(count(bytesReceived, "byte"));"
            + " out \(count(framesSent, "frame")), \(count(bytesSent, "byte"))"
    }
}

extension Finding {
    /// The kind and the number of bytes, in words.
    var words: String { "\(kind): \(count(byteCount, "byte"))" }
}
