// The comments of what is generated, with the layout as a table.
extension HeaderEmitter {
    mutating func emitDocumentation() {
        let source = model.source
        func line(_ text: String) { lines.append(text.isEmpty ? "///" : "/// \(text)") }
        line(source.prose.isEmpty ? "The packet header `\(source.cName)`." : Self.sentence(source.prose))
        line("")
        line("\(model.size) bytes, as C lays out `\(source.cName)` in `\(Self.printable(fileName))`\(packing).")
        line("")
        line("| offset | bytes | field | in C | on the wire |")
        line("|---|---|---|---|---|")
        var end = 0
        for (field, padding) in zip(model.fields, model.padding) {
            if padding > 0 { line("| \(end) | \(padding) | | padding | zeros |") }
            let isLength = field.source.name == lengthField.source.name
            let name = isLength ? "the length" : "`\(field.name)`"
            line("| \(field.offset) | \(field.source.size) | \(name) | `\(field.source.declaration)` | \(wire(field)) |")
            end = field.offset + field.source.size
        }
        if end < model.size { line("| \(end) | \(model.size - end) | | padding | zeros |") }
    }

    mutating func emitDocumentation(of field: HeaderModel.Field) {
        let isLength = field.source.name == lengthField.source.name
        let prose = field.source.prose
        var text = prose.isEmpty ? "`\(field.source.declaration)`\(isLength ? ", the length" : "")." : Self.sentence(prose)
        if let count = field.elementCount, !isLength {
            let unit = if case .array = field.storage { "numbers" } else { "bytes" }
            text += " Always \(count) \(unit); a header that was read shares them with the read, and `compacted()` copies them out."
            if case .array = field.storage { text = String(text.prefix { $0 != ";" }) + "." }
        }
        add("/// \(text)")
    }

    private var packing: String {
        guard let packing = model.source.packing else { return "" }
        return packing == 1 ? ", packed" : ", packed to \(packing)"
    }

    private func wire(_ field: HeaderModel.Field) -> String {
        var facts: [String] = []
        if field.source.type.size > 1 { facts.append(field.order.rawValue) }
        if field.source.name == lengthField.source.name {
            switch model.counted {
            case .body: facts.append("counts the body")
            case .packet: facts.append("counts header and body")
            case .rest: facts.append("counts what stands behind it")
            }
        }
        if let text = field.text { facts.append("plausible: \"\(text.map { $0 == "|" ? "\\|" : String($0) }.joined())\"") }
        if let range = field.range {
            let isOne = range.lowerBound == range.upperBound
            facts.append("plausible: \(range.lowerBound)\(isOne ? "" : "...\(range.upperBound)")")
        }
        return facts.joined(separator: ", ")
    }

    /// A comment as a sentence.
    private static func sentence(_ text: String) -> String {
        let text = printable(text).trimmed { $0 == ";" || $0 == "," || $0.isWhitespace }
        return text.prefix(1).uppercased() + text.dropFirst() + (text.last.map { ".!?".contains($0) } == true ? "" : ".")
    }

    /// A text that stays in the comment's line.
    static func printable(_ text: String) -> String {
        String(text.map { $0.isNewline || $0.unicodeScalars.contains { $0.value < 0x20 } ? " " : $0 })
    }
}
