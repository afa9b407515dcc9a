import Lifeline

/// Two digits for each byte.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Appends the digits of `bytes`, with a space between bytes if it is asked for.
    static func append(_ bytes: some Sequence<UInt8>, to text: inout [UInt8], spaced: Bool = false) {
        var isFirst = true
        for byte in bytes {
            if spaced, !isFirst { text.append(UInt8(ascii: " ")) }
            isFirst = false
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
    }

    /// What the digits in `text` stand for, spaces aside; nil if it has anything else or a digit is left over.
    static func bytes(of text: Bytes) -> Bytes? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var high: UInt8?
        for letter in text where letter != UInt8(ascii: " ") && letter != UInt8(ascii: "\r") {
            guard let digit = Character(UnicodeScalar(letter)).hexDigitValue.map(UInt8.init) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? Bytes(bytes) : nil
    }
}
