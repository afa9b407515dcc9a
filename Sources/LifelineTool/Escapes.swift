/// Texts of the command line that stand for bytes.
enum Escapes {
    /// The bytes that `text` stands for, with `\r`, `\n`, `\t`, `\0`, `\\` and `\xHH` in it; nil if an escape isn't known.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Substring(text)
        while let letter = rest.popFirst() {
            guard letter == "\\" else {
                bytes.append(contentsOf: String(letter).utf8)
                continue
            }
            switch rest.popFirst() {
            case "r": bytes.append(0x0D)
            case "n": bytes.append(0x0A)
            case "t": bytes.append(0x09)
            case "0": bytes.append(0x00)
            case "\\": bytes.append(0x5C)
            case "x":
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy(\.isHexDigit), let byte = UInt8(digits, radix: 16) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            default: return nil
            }
        }
        return bytes
    }
}
