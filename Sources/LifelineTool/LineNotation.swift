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
