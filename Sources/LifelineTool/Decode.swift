import Lifeline

/// `lifeline decode`: shows the frames and the faults of a captured stream.
struct Decode {
    let settings: DecodeSettings

    /// Returns the exit status: 0 if there is no fault in the stream.
    func run() throws -> Int32 { try run(settings.framing.codec) }

    private func run(_ codec: some ShellCodec) throws -> Int32 {
        var stream = try CapturedStream(settings.path)
        var dissector = Dissector(codec)
        var transcript = Transcript(isHexadecimal: settings.framing.lines.isHexadecimal, isFull: settings.isFull)
        while try stream.read({ chunk in for piece in dissector.feed(chunk) { transcript.append(piece) } }) {
            try print(&transcript)
        }
        for piece in dissector.end() { transcript.append(piece) }
        if let stop = dissector.stop { transcript.append(undecoded: stream.count - stop, at: stop) }
        try print(&transcript)
        Console.note(
            "\(count(transcript.frames, "frame")), \(count(stream.count, "byte")), \(count(transcript.faults, "fault"))"
                + (dissector.stop.map { "; not decoded from \($0) on" } ?? ""))
        return transcript.faults == 0 ? 0 : 1
    }

    private func print(_ transcript: inout Transcript) throws {
        try transcript.takeText().withUnsafeBytes { try System.write($0, to: System.standardOutput) }
    }
}
