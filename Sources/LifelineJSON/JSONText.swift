import LifelineCore

/// What is known of a JSON text without taking it apart.
enum JSONText {
    /// Why a text mustn't get to a decoder, in words; nil if it may.
    ///
    /// A NUL byte would let it be taken for UTF-16. Text that isn't UTF-8 would pass where no value is taken from it.
    static func fault(in text: Bytes, maxDepth: Int) -> String? {
        if ByteInput(text).firstIndex(of: 0) != nil { return "a NUL byte" }
        if String(validating: text) == nil { return "it isn't UTF-8" }
        if text.withUnsafeBytes({ isDeeper(than: maxDepth, $0) }) { return "more than \(maxDepth) values stand in each other" }
        return nil
    }

    /// Whether more than `limit` brackets are open at any place. Exact for a JSON text; of any other it is right up to the first fault.
    private static func isDeeper(than limit: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        // Most texts haven't that many at all, which is quickly seen; the two differ in one bit.
        var opened = 0
        for byte in text where byte | 0x20 == UInt8(ascii: "{") { opened += 1 }
        if opened <= limit { return false }
        var depth = 0
        var isQuoted = false
        var place = 0
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\"): place += 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if !isQuoted { depth += 1 }
                if depth > limit { return true }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if !isQuoted { depth -= 1 }
            default: break
            }
            place += 1
        }
        return false
    }

    /// Where a coder has failed and why, bounded: both may quote what the peer sent.
    static func words(for error: any Error) -> String {
        let context: (path: [any CodingKey], words: String)? =
            switch error {
            case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
                DecodingError.dataCorrupted(let context):
                (context.codingPath, context.debugDescription)
            case DecodingError.keyNotFound(let key, let context): (context.codingPath, "no value called \(key.stringValue)")
            case EncodingError.invalidValue(_, let context): (context.codingPath, context.debugDescription)
            default: nil
            }
        guard let context else { return "" }
        let place = path(context.path)
        return (place.isEmpty ? ": " : ", at \(place): ") + start(of: context.words, 160)
    }

    /// Such as "users[3].name".
    private static func path(_ keys: [any CodingKey]) -> String {
        var path = ""
        for key in keys.prefix(16) {
            path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + start(of: key.stringValue, 40)
        }
        return start(of: path, 160) + (keys.count > 16 ? "…" : "")
    }

    /// Up to `limit` characters; more are cut off visibly.
    private static func start(of text: String, _ limit: Int) -> String {
        // Characters may have any number of scalars.
        let scalars = text.unicodeScalars
        return scalars.count > limit ? String(String.UnicodeScalarView(scalars.prefix(limit))) + "…" : text
    }
}
