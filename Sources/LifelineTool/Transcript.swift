import Lifeline

/// The lines that show the parts of a stream: `OFFSET+LENGTH`, and the frame or, behind a `!`, what is wrong.
struct Transcript {
    /// Whether all bodies are in hexadecimal.
    var isHexadecimal = false
    /// Whether bodies are shown to their end.
    var isFull = false

    /// The most characters of text and the most bytes in hexadecimal that are shown of a body.
    private static let mostCharacters = 100
    private static let mostBytes = 40

    private(set) var text: [UInt8] = []
    private(set) var frames = 0
    private(set) var faults = 0

    mutating func append(_ piece: Piece) {
        switch piece.content {
        case .frame(let frame):
            frames += 1
            startLine(piece.offset, piece.length, mark: " ")
            if let header = frame.header { append("[\(header)] ") }
            append(body: frame.body)
        case .fault(let words):
            faults += 1
            startLine(piece.offset, piece.length, mark: "!")
            append(words)
        }
        append("\n")
    }

    /// Adds that so many bytes were left undecoded.
    mutating func append(undecoded length: Int, at offset: Int) {
        startLine(offset, length, mark: "!")
        append("not decoded\n")
    }

    /// What was written since the last call.
    mutating func takeText() -> [UInt8] {
        defer { text.removeAll(keepingCapacity: true) }
        return text
    }

    private mutating func startLine(_ offset: Int, _ length: Int, mark: String) {
        let place = "\(offset)+\(length)"
        append(place + String(repeating: " ", count: max(1, 16 - place.utf8.count)) + mark + " ")
    }

    private mutating func append(_ words: String) { text.append(contentsOf: words.utf8) }

    private mutating func append(body: Bytes) {
        if !isHexadecimal, let string = String(validating: body) { return append(escaped: string, of: body.count) }
        let isCut = !isFull && body.count > Self.mostBytes
        append("<")
        Hexadecimal.append(body.prefix(isCut ? Self.mostBytes : body.count), to: &text, spaced: true)
        append(isCut ? "…> (\(count(body.count, "byte")))" : ">")
    }

    private mutating func append(escaped string: String, of size: Int) {
        var left = isFull ? Int.max : Self.mostCharacters
        for scalar in string.unicodeScalars {
            if left == 0 { return append("… (\(count(size, "byte")))") }
            left -= 1
            switch scalar {
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case "\\": append("\\\\")
            case " "..."~": text.append(UInt8(truncatingIfNeeded: scalar.value))
            default: append(Self.isVisible(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}")
            }
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: true
        }
    }
}
