import LifelineCore

// How the header is found, read and written. All of it comes from the peer.
extension JSONHeaderCodec {
    /// A header that was read: the size of the body within its limit, and the rest.
    struct Head: Sendable {
        var size: Int
        /// The bytes of the header, its CR LF included.
        var count: Int
        var header = JSONHeader()
    }

    /// Values in a header stand at most this deep in each other.
    static var maxDepth: Int { 64 }

    /// The header at the front of the input; nil if more bytes are needed.
    mutating func findHead(in input: ByteInput) throws(SocketError) -> Head? {
        if searched == 0, let (size, count) = input.withUnsafeBytes({ Head.canonicalSize(in: $0) }), size <= max {
            return Head(size: size, count: count)
        }
        guard let count = try headerCount(in: input) else { return nil }
        let head = try input.withUnsafeBytes { (bytes) throws(SocketError) in
            try Head(UnsafeRawBufferPointer(rebasing: bytes[..<count]), max: max)
        }
        searched = 0
        return head
    }

    /// The bytes before the first CR LF; nil if it isn't there and may still come within the limit.
    private mutating func headerCount(in input: ByteInput) throws(SocketError) -> Int? {
        guard !input.isEmpty else { return nil }
        guard Head.canStart(with: input[0]) else { throw SocketError(.protocolViolation, "a header doesn't begin with {") }
        while let lineFeed = input.firstIndex(of: 0x0A, from: searched) {
            if lineFeed > 0, input[lineFeed - 1] == 0x0D {
                if lineFeed - 1 > maxHeader { throw headerTooLarge(lineFeed - 1) }
                return lineFeed - 1
            }
            searched = lineFeed + 1
            if lineFeed >= maxHeader { throw headerTooLarge(lineFeed + 1) }
        }
        searched = input.count
        // A CR at the end may be the beginning of the end.
        let certain = input.count - (input[input.count - 1] == 0x0D ? 1 : 0)
        if certain > maxHeader { throw headerTooLarge(certain) }
        return nil
    }

    private func headerTooLarge(_ count: Int) -> SocketError {
        SocketError(.frameTooLarge, "\(count) bytes of a header exceed the limit of \(maxHeader)")
    }
}

extension JSONHeaderCodec.Head {
    /// Reads a header; `max` is the limit for the size.
    init(_ text: UnsafeRawBufferPointer, max: Int) throws(SocketError) {
        var values: [String: JSONValue]
        do throws(JSONReader.Fault) {
            var reader = JSONReader(text, maxDepth: JSONHeaderCodec.maxDepth)
            guard case .object(let object) = try reader.readWhole() else {
                throw JSONReader.Fault(words: "another value", offset: 0)
            }
            values = object
        } catch {
            throw SocketError(
                .protocolViolation, "a header of \(text.count) bytes isn't a JSON object: \(error.words) at byte \(error.offset)")
        }
        guard let value = values.removeValue(forKey: "size") else {
            throw SocketError(.protocolViolation, "a header of \(text.count) bytes without a size")
        }
        size = try Self.size(value, max: max)
        count = text.count + 2
        header = JSONHeader(values)
    }

    private static func size(_ value: JSONValue, max: Int) throws(SocketError) -> Int {
        switch value {
        case .integer(let number) where number >= 0:
            if number > max { throw SocketError(frameOf: number, exceeds: max) }
            return Int(number)
        case .number(let number) where number > 0 && number.rounded() == number:
            throw SocketError(.frameTooLarge, "a frame of \(number) bytes exceeds the limit of \(max)")
        case .string(let text) where !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }:
            let digits = text.utf8.drop { $0 == 0x30 }
            guard digits.count <= 18 else {
                throw SocketError(.frameTooLarge, "a frame of a size with \(digits.count) digits exceeds the limit of \(max)")
            }
            let number = digits.reduce(0) { 10 * $0 + Int($1 - 0x30) }
            if number > max { throw SocketError(frameOf: number, exceeds: max) }
            return number
        default: throw SocketError(.protocolViolation, "a header's size isn't a whole number of bytes")
        }
    }

    /// Whether a header may begin with this byte: it says so before its end is there.
    static func canStart(with byte: UInt8) -> Bool {
        byte == 0x7B || byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}

// The form that most peers send, `{"size":"62"}` CR LF with the number as a string or not, is read and written in place.
extension JSONHeaderCodec.Head {
    /// The size in a header of that form at the front of `bytes`, and the header's bytes with CR LF; nil for any other form.
    static func canonicalSize(in bytes: UnsafeRawBufferPointer) -> (size: Int, count: Int)? {
        guard bytes.count >= 12, UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) == opening else { return nil }
        let isQuoted = bytes[8] == 0x22
        let start = isQuoted ? 9 : 8
        var place = start
        var size = 0
        // Within 10 digits nothing overflows; more are another form.
        let most = Swift.min(bytes.count, start + 10)
        while place < most, bytes[place] >= 0x30, bytes[place] <= 0x39 {
            size = 10 &* size &+ Int(bytes[place] &- 0x30)
            place += 1
        }
        // A number, unlike a string of digits, doesn't begin with a zero that it doesn't need.
        guard place > start, isQuoted || bytes[start] != 0x30 || place == start + 1 else { return nil }
        let tail = isQuoted ? 4 : 3
        guard place + tail <= bytes.count else { return nil }
        if isQuoted {
            guard bytes[place] == 0x22 else { return nil }
            place += 1
        }
        guard bytes[place] == 0x7D, bytes[place + 1] == 0x0D, bytes[place + 2] == 0x0A else { return nil }
        return (size, place + 3)
    }

    /// Appends such a header, with a string of digits.
    static func appendCanonical(size: Int, to output: inout ByteOutput) {
        // From behind: 8 bytes, a quote, at most 19 digits and 4 bytes.
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 1) { bytes in
            var place = 28
            bytes.storeBytes(of: closing.bigEndian, toByteOffset: place, as: UInt32.self)
            var rest = size
            repeat {
                place -= 1
                bytes[place] = 0x30 + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            place -= 9
            bytes.storeBytes(of: opening.bigEndian, toByteOffset: place, as: UInt64.self)
            bytes[place + 8] = 0x22
            output.append(UnsafeRawBufferPointer(rebasing: bytes[place...]))
        }
    }

    /// `{"size":`
    private static var opening: UInt64 { 0x7B22_7369_7A65_223A }
    /// `"}` CR LF
    private static var closing: UInt32 { 0x227D_0D0A }

    /// The text of a header with values, and its CR LF.
    static func text(of header: JSONHeader, size: Int, max: Int) throws(SocketError) -> [UInt8] {
        if header["size"] != nil { throw SocketError(.unencodable, "a header with a size of its own: the codec puts it there") }
        var writer = JSONWriter(maxDepth: JSONHeaderCodec.maxDepth)
        writer.append("{\"size\":")
        writer.append(.string(String(size)), depth: 1)
        writer.append(",")
        writer.appendMembers(of: header.values, depth: 1)
        writer.append("}")
        if let fault = writer.fault { throw SocketError(.unencodable, "a header that can't be written: \(fault)") }
        guard writer.text.count <= max else {
            throw SocketError(.frameTooLarge, "\(writer.text.count) bytes of a header exceed the limit of \(max)")
        }
        writer.append("\r\n")
        return writer.text
    }
}
