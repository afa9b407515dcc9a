// The types of fields.
extension CParser {
    private static let fixedWidth: [String: CInteger] = {
        var types: [String: CInteger] = [:]
        for size in [1, 2, 4, 8] {
            types["int\(8 * size)_t"] = CInteger(kind: .signed, size: size)
            types["uint\(8 * size)_t"] = CInteger(kind: .unsigned, size: size)
        }
        return types
    }()

    private static let basic: Set<String> = ["char", "short", "int", "long", "signed", "unsigned"]
    private static let ignored: Set<String> = ["const", "volatile"]

    /// Reads a type that stands here, and gives it as C writes it, too.
    mutating func readType() throws(HeaderError) -> (CInteger, String) {
        var words: [Token] = []
        var named: CInteger?
        while let token = token(index), token.kind == .name {
            if Self.ignored.contains(token.text) {
                index += 1
                continue
            }
            if Self.basic.contains(token.text), named == nil {
                words.append(token)
            } else if words.isEmpty, let type = Self.fixedWidth[token.text].map({ .known($0) }) ?? aliases[token.text] {
                named = try type.value(for: token.quoted, at: token.position)
                words.append(token)
            } else {
                break
            }
            index += 1
        }
        guard let first = words.first else {
            throw unsupported(token(index) ?? Token(kind: .punctuator, text: "the end of the file", position: tokens[index - 1].position))
        }
        let type = if let named { named } else { try integer(words) }
        return (type, first.text + words.dropFirst().map { " \($0.text)" }.joined())
    }

    /// The type that such words stand for, in any order that C allows.
    private func integer(_ words: [Token]) throws(HeaderError) -> CInteger {
        func count(_ word: String) -> Int { words.count { $0.text == word } }
        let position = words[0].position
        let text = words.map(\.text).joined(separator: " ")
        if count("long") == 1 {
            throw HeaderError(
                position, "`\(text)` has 4 bytes on some machines and 8 on others; use `int32_t` or `int64_t`, or the unsigned ones")
        }
        let sizes = count("char") + count("short") + (count("long") > 0 ? 1 : 0)
        let isSensible =
            sizes <= 1 && count("int") <= 1 && count("signed") + count("unsigned") <= 1 && count("long") <= 2
            && !(count("char") > 0 && count("int") > 0)
        guard isSensible else { throw HeaderError(position, "`\(text)` isn't a type of C") }
        let kind: CInteger.Kind = count("unsigned") > 0 ? .unsigned : count("char") > 0 && count("signed") == 0 ? .character : .signed
        return CInteger(kind: kind, size: count("char") > 0 ? 1 : count("short") > 0 ? 2 : count("long") > 0 ? 8 : 4)
    }

    private func unsupported(_ token: Token) -> HeaderError {
        let advice =
            switch token.text {
            case "struct": "structs inside structs aren't; list the fields of the inner one"
            case "union": "unions aren't; declare the bytes as an array"
            case "enum": "the size of an enum is the compiler's choice; use a fixed-width integer"
            case "float", "double": "floating-point numbers aren't; declare `uint32_t` or `uint64_t` and use `Float(bitPattern:)`"
            case "bool", "_Bool": "use `uint8_t`"
            case "size_t", "ssize_t", "intptr_t", "uintptr_t", "time_t", "off_t", "wchar_t":
                "its size differs between machines; use a fixed-width integer"
            case "void": "pointers mean nothing on the wire"
            default: "known are the fixed-width integers, `char`, `short`, `int`, `long long` and typedefs of them in this file"
            }
        return HeaderError(token.position, "\(token.quoted) isn't supported as a field's type: \(advice)")
    }
}
