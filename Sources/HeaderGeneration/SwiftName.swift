/// Names as Swift writes them.
enum SwiftName {
    /// `main_type` and `MainType` become `mainType`.
    static func property(_ name: String) -> String {
        let words = words(of: name)
        guard let first = words.first else { return name }
        return lowered(first) + words.dropFirst().map(capitalised).joined()
    }

    /// `chat_header_t` becomes `ChatHeader`.
    static func type(_ name: String) -> String {
        var words = words(of: name)
        if words.count > 1, words.last == "t" { words.removeLast() }
        return words.isEmpty ? name : words.map(capitalised).joined()
    }

    private static func words(of name: String) -> [Substring] {
        let words = name.split(separator: "_")
        // A name can't begin with a digit.
        return words.first?.first?.isNumber == true ? [] : words
    }

    /// A word that is all capitals is lowered as a whole, if the name has nothing but such words.
    private static func capitalised(_ word: Substring) -> String {
        isShouted(word) ? word.prefix(1) + word.dropFirst().lowercased() : word.prefix(1).uppercased() + word.dropFirst()
    }

    private static func lowered(_ word: Substring) -> String {
        isShouted(word) ? word.lowercased() : word.prefix(1).lowercased() + word.dropFirst()
    }

    private static func isShouted(_ word: Substring) -> Bool { word.count > 1 && word.allSatisfy { $0.isUppercase || $0.isNumber } }

    /// The name where it is declared or used: words of the language stand in backticks.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The name where a method uses it that has the parameters or variables `others`.
    static func used(_ name: String, among others: Set<String>) -> String { (others.contains(name) ? "self." : "") + escaped(name) }

    static func isTaken(type name: String) -> Bool { keywords.contains(name) || takenTypes.contains(name) }

    /// Fields with one name, or with that of something that a header has anyway, can't be.
    static func checkUnique(_ fields: [HeaderModel.Field], length: Int) throws(HeaderError) {
        var names = takenProperties
        for field in fields {
            guard names.insert(field.name).inserted else {
                throw HeaderError(
                    field.source.position,
                    "the Swift name `\(field.name)` is taken: choose another with `lifeline: as NAME` at the field")
            }
        }
        for field in fields where field.storage != .integer {
            let made = ["\(field.name)Text", setter(field.name), plausible(field.name)]
            for name in made where names.contains(name) {
                throw HeaderError(
                    field.source.position,
                    "`\(name)`, which comes with `\(field.name)`, is taken: choose another name with `lifeline: as NAME` at the field")
            }
        }
    }

    /// The method that sets a field which can't take every value.
    static func setter(_ name: String) -> String { "set" + name.prefix(1).uppercased() + name.dropFirst() }

    /// The constant with the only plausible bytes of a field.
    static func plausible(_ name: String) -> String { "plausible" + name.prefix(1).uppercased() + name.dropFirst() }

    private static let takenProperties: Set<String> = [
        "bodyCount", "byteCount", "isPlausible", "setBodyCount", "write", "hash", "hashValue", "_",
    ]

    private static let takenTypes: Set<String> = [
        "Array", "Bool", "ByteInput", "ByteOutput", "Bytes", "Endianness", "FixedHeader", "Hashable", "Hasher", "HeaderCodec", "Int",
        "Int8",
        "Int16", "Int32", "Int64", "Lifeline", "LifelineCore", "Packet", "SocketError", "String", "UInt8", "UInt16", "UInt32", "UInt64",
    ]

    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
        "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
        "rethrows",
        "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while",
    ]
}
