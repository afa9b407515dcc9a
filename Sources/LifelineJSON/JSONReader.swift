import LifelineCore

/// Reads a JSON text of known end, as RFC 8259 has it: UTF-8, no mark before it, nothing behind it.
///
/// Headers are read on the event loop, where Foundation's decoder would take 4 µs for one of three values; this takes 0.6. It also refuses
/// what that one lets pass: an object in which a name stands twice, of which two readers may take different values, a comma before the
/// end of an array, and text in another encoding.
/// Nothing in it traps, and it goes no deeper than its limit.
struct JSONReader {
    /// What is wrong with a text, and where.
    struct Fault: Error {
        let words: String
        let offset: Int
    }

    private let text: UnsafeRawBufferPointer
    private let maxDepth: Int
    private var position = 0

    init(_ text: UnsafeRawBufferPointer, maxDepth: Int) {
        self.text = text
        self.maxDepth = maxDepth
    }

    /// The value that is the whole text.
    mutating func readWhole() throws(Fault) -> JSONValue {
        let value = try readValue(depth: 0)
        skipSpace()
        if position < text.count { throw fault("more behind the value") }
        return value
    }

    private func fault(_ words: String) -> Fault { Fault(words: words, offset: position) }

    /// The byte at the position; zero, which no text has, at the end.
    private var byte: UInt8 { position < text.count ? text[position] : 0 }

    private mutating func skipSpace() {
        while byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Takes `expected` if it stands here.
    private mutating func takes(_ expected: UInt8) -> Bool {
        guard byte == expected else { return false }
        position += 1
        return true
    }

    private mutating func readValue(depth: Int) throws(Fault) -> JSONValue {
        skipSpace()
        switch byte {
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "{"): return .object(try readObject(depth: depth))
        case UInt8(ascii: "["): return .array(try readArray(depth: depth))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
        case UInt8(ascii: "t"): return try readWord("true", .bool(true))
        case UInt8(ascii: "f"): return try readWord("false", .bool(false))
        case UInt8(ascii: "n"): return try readWord("null", .null)
        default: throw fault("no value")
        }
    }

    private mutating func readWord(_ word: StaticString, _ value: JSONValue) throws(Fault) -> JSONValue {
        let letters = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        for letter in letters where !takes(letter) { throw fault("no value") }
        return value
    }

    private mutating func enter(_ depth: Int) throws(Fault) {
        if depth >= maxDepth { throw fault("more than \(maxDepth) values in each other") }
        position += 1
        skipSpace()
    }

    private mutating func readObject(depth: Int) throws(Fault) -> [String: JSONValue] {
        try enter(depth)
        var values: [String: JSONValue] = [:]
        if takes(UInt8(ascii: "}")) { return values }
        while true {
            skipSpace()
            let start = position
            guard byte == UInt8(ascii: "\"") else { throw fault("no name") }
            let name = try readString()
            skipSpace()
            guard takes(UInt8(ascii: ":")) else { throw fault("no colon") }
            let value = try readValue(depth: depth + 1)
            if values.updateValue(value, forKey: name) != nil { throw Fault(words: "a name for the second time", offset: start) }
            skipSpace()
            if takes(UInt8(ascii: "}")) { return values }
            guard takes(UInt8(ascii: ",")) else { throw fault("neither a comma nor an end of the object") }
        }
    }

    private mutating func readArray(depth: Int) throws(Fault) -> [JSONValue] {
        try enter(depth)
        var values: [JSONValue] = []
        if takes(UInt8(ascii: "]")) { return values }
        while true {
            values.append(try readValue(depth: depth + 1))
            skipSpace()
            if takes(UInt8(ascii: "]")) { return values }
            guard takes(UInt8(ascii: ",")) else { throw fault("neither a comma nor an end of the array") }
        }
    }
}

// Numbers.
extension JSONReader {
    private mutating func readNumber() throws(Fault) -> JSONValue {
        let start = position
        let isNegative = takes(UInt8(ascii: "-"))
        var magnitude: Int64? = 0
        if !takes(UInt8(ascii: "0")) {
            guard skipDigits({ magnitude = Self.magnitude(magnitude, $0) }) else { throw fault("no digit") }
        }
        var isPlain = true
        if takes(UInt8(ascii: ".")) {
            isPlain = false
            guard skipDigits({ _ in }) else { throw fault("no digit") }
        }
        if takes(UInt8(ascii: "e")) || takes(UInt8(ascii: "E")) {
            isPlain = false
            if !takes(UInt8(ascii: "-")) { _ = takes(UInt8(ascii: "+")) }
            guard skipDigits({ _ in }) else { throw fault("no digit") }
        }
        // Kept below zero, where there is room for one more.
        if isPlain, let magnitude, isNegative || magnitude > .min { return .integer(isNegative ? magnitude : -magnitude) }
        let digits = String(decoding: UnsafeRawBufferPointer(rebasing: text[start..<position]), as: UTF8.self)
        guard let number = Double(digits), number.isFinite else { throw Fault(words: "a number beyond any", offset: start) }
        return JSONValue(number)
    }

    private static func magnitude(_ sum: Int64?, _ digit: UInt8) -> Int64? {
        guard let (tens, isTooLarge) = sum?.multipliedReportingOverflow(by: 10), !isTooLarge else { return nil }
        let (result, isBeyond) = tens.subtractingReportingOverflow(Int64(digit))
        return isBeyond ? nil : result
    }

    /// Whether there was a digit at least.
    private mutating func skipDigits(_ take: (UInt8) -> Void) -> Bool {
        let start = position
        while byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            take(byte - UInt8(ascii: "0"))
            position += 1
        }
        return position > start
    }
}

// Texts.
extension JSONReader {
    /// The text whose opening quote stands here.
    private mutating func readString() throws(Fault) -> String {
        position += 1
        let start = position
        while byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        let plain = UnsafeRawBufferPointer(rebasing: text[start..<position])
        if takes(UInt8(ascii: "\"")) { return try string(plain) }
        var bytes = Array(plain)
        while !takes(UInt8(ascii: "\"")) {
            if byte < 0x20 { throw fault(position < text.count ? "a control character" : "no end of a text") }
            if takes(UInt8(ascii: "\\")) {
                try readEscape(into: &bytes)
            } else {
                bytes.append(byte)
                position += 1
            }
        }
        return try string(bytes)
    }

    private func string(_ bytes: some Sequence<UInt8>) throws(Fault) -> String {
        guard let string = String(validating: bytes, as: UTF8.self) else { throw fault("text that isn't UTF-8") }
        return string
    }

    /// What stands behind a backslash.
    private mutating func readEscape(into bytes: inout [UInt8]) throws(Fault) {
        let letter = byte
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(letter)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var code = try readHex()
            if code & 0xFC00 == 0xD800, takes(UInt8(ascii: "\\")), takes(UInt8(ascii: "u")) {
                let low = try readHex()
                guard low & 0xFC00 == 0xDC00 else { throw fault("half of a surrogate pair") }
                code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
            }
            guard let scalar = Unicode.Scalar(code) else { throw fault("half of a surrogate pair") }
            bytes.append(contentsOf: UTF8.encode(scalar)?.map { $0 } ?? [])
        default:
            position -= 1
            throw fault("an unknown escape")
        }
    }

    private mutating func readHex() throws(Fault) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            let digit = byte
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): code = code << 4 | UInt32(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): code = code << 4 | UInt32(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): code = code << 4 | UInt32(digit - UInt8(ascii: "A") + 10)
            default: throw fault("no hexadecimal digit")
            }
            position += 1
        }
        return code
    }
}
