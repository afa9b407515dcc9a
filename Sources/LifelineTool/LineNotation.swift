import Lifeline

/// How frames stand on the lines of standard input and output: `BODY`, or `HEADER<TAB>BODY` where frames have headers. What is printed is
/// what would have to be typed to send the same.
struct LineNotation: Sendable {
    /// Takes standard input apart; nil where it is passed on as it comes.
    let splitter: DelimiterCodec?
    /// The header of a line without one; nil where frames have none.
    let header: String?
    /// Whether bodies are in hexadecimal.
    let isHexadecimal: Bool
    /// What typed bodies have to be.
    let check: BodyCheck?
    /// The header as received ones are printed, of one that was typed; nil if it is none.
    var canonical: @Sendable (String) -> String? = { $0 }
    /// How frames are numbered; nil where they aren't.
    var numbering: Numbering?

    /// The frame that a line stands for.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` for a body that isn't what it has to be.
    func frame(of line: Bytes) throws(SocketError) -> ShellFrame {
        var frame = ShellFrame(header: header, body: line)
        if header != nil, let tab = line.firstIndex(of: UInt8(ascii: "\t")) {
            frame.header = String(line.slice(0..<tab))
            frame.body = line.slice(tab + 1..<line.count)
        }
        if isHexadecimal {
            guard let bytes = Hexadecimal.bytes(of: frame.body) else {
                throw SocketError(
                    .unencodable,
                    "“\(String(frame.body.slice(0..<min(40, frame.body.count))))” isn't hexadecimal: write two digits for each byte")
            }
            frame.body = bytes
        }
        if let fault = check?(frame.body) { throw SocketError(.unencodable, fault.message) }
        return frame
    }

    /// The frame that a word of the command line stands for, in which bytes may be escaped.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` for one that can't be understood.
    func frame(ofWord word: some StringProtocol) throws(SocketError) -> ShellFrame {
        guard let bytes = Escapes.bytes(of: word) else { throw SocketError(.unencodable, "unknown escape in “\(word)”") }
        var frame = try frame(of: Bytes(bytes))
        frame.header = frame.header.map { canonical($0) ?? $0 }
        return frame
    }

    /// The line of a frame for people, cut off if it is long.
    func excerpt(_ frame: ShellFrame) -> String {
        var line: [UInt8] = []
        append(frame, to: &line)
        if splitter != nil { line.removeLast() }
        let text = String(decoding: line.prefix(200), as: UTF8.self)
        return "“\(text.prefix(40))\(line.count > 200 || text.count > 40 ? "…" : "")”"
    }

    /// Appends the line of a frame.
    func append(_ frame: ShellFrame, to text: inout [UInt8]) {
        if let header = frame.header {
            text.append(contentsOf: header.utf8)
            text.append(UInt8(ascii: "\t"))
        }
        if isHexadecimal {
            Hexadecimal.append(frame.body, to: &text)
        } else {
            frame.body.withUnsafeBytes { text.append(contentsOf: $0) }
        }
        if splitter != nil { text.append(UInt8(ascii: "\n")) }
    }
}
