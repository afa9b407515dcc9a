/// Bytes for people: offsets, hexadecimal, text, and where each read began.
enum HexDump {
    /// So many bytes are shown as lines, from either end of what is longer.
    static let shown = 1024

    /// Lines such as `0010  61 62 |0a  ab·`; a bar stands where a read begins.
    static func lines(of reads: [[UInt8]]) -> [String] {
        let bytes = Array(reads.joined())
        var starts: Set<Int> = []
        var position = 0
        for read in reads {
            position += read.count
            starts.insert(position)
        }
        var lines: [String] = []
        for start in stride(from: 0, to: bytes.count, by: 16) {
            if bytes.count > shown, start >= shown / 2, start < bytes.count - shown / 2 {
                if start < shown / 2 + 16 { lines.append("…") }
                continue
            }
            let row = start..<min(start + 16, bytes.count)
            let digits = row.map { (starts.contains($0) ? "|" : " ") + hex(Int(bytes[$0]), width: 2) }.joined()
            let text = row.map { (0x20..<0x7F).contains(bytes[$0]) ? String(UnicodeScalar(bytes[$0])) : "·" }.joined()
            lines.append("\(hex(start, width: 4)) \(digits)\(String(repeating: "   ", count: 16 - row.count))  \(text)")
        }
        return lines
    }

    /// A Swift literal of type `[[UInt8]]`.
    static func literal(of reads: [[UInt8]]) -> String {
        let count = reads.reduce(0) { $0 + $1.count }
        if count > shown { return "\(count) bytes are too many; take them from CodecFault.reads" }
        let lists = reads.map { read in "[" + read.map { "0x" + hex(Int($0), width: 2) }.joined(separator: ", ") + "]" }
        return "[" + lists.joined(separator: ", ") + "]"
    }

    private static func hex(_ number: Int, width: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
