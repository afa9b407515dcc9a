/// Writes values as compact JSON text: no space, names in order, no byte below 20 (hex) that isn't escaped.
struct JSONWriter {
    private(set) var text: [UInt8] = []
    /// Why the text isn't good: a number that JSON doesn't have, or values that stand too deep in each other.
    private(set) var fault: String?
    private let maxDepth: Int

    init(maxDepth: Int) { self.maxDepth = maxDepth }

    /// Appends what isn't a value's, such as a comma.
    mutating func append(_ literal: StaticString) {
        text.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ value: JSONValue, depth: Int) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): text.append(contentsOf: String(value).utf8)
        case .number(let value):
            if value.isFinite {
                text.append(contentsOf: value.description.utf8)
            } else {
                fault = "JSON has no number \(value)"
                append("null")
            }
        case .string(let value): append(quoted: value)
        case .array(let values):
            guard isAllowed(depth) else { return }
            append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { append(",") }
                append(value, depth: depth + 1)
            }
            append("]")
        case .object(let values):
            guard isAllowed(depth) else { return }
            append("{")
            appendMembers(of: values, depth: depth + 1)
            append("}")
        }
    }

    /// Appends names and values, without the braces.
    mutating func appendMembers(of values: [String: JSONValue], depth: Int) {
        for (index, (name, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { append(",") }
            append(quoted: name)
            append(":")
            append(value, depth: depth)
        }
    }

    private mutating func isAllowed(_ depth: Int) -> Bool {
        if depth < maxDepth { return true }
        fault = "more than \(maxDepth) values stand in each other"
        return false
    }

    private mutating func append(quoted string: String) {
        append("\"")
        for byte in string.utf8 {
            switch byte {
            case 0x22: append("\\\"")
            case 0x5C: append("\\\\")
            case 0x0A: append("\\n")
            case 0x0D: append("\\r")
            case 0x09: append("\\t")
            case 0..<0x20:
                append("\\u00")
                text.append(byte < 0x10 ? 0x30 : 0x31)
                text.append(Self.digits[Int(byte & 15)])
            default: text.append(byte)
            }
        }
        append("\"")
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
