/// Writes the Swift of a header.
struct HeaderEmitter {
    let model: HeaderModel
    /// The name of the C file, for the comment.
    let fileName: String
    var lines: [String] = []

    static func lines(for model: HeaderModel, fileName: String) -> [String] {
        var emitter = HeaderEmitter(model: model, fileName: fileName)
        emitter.emit()
        return emitter.lines
    }

    var access: String { model.isPublic ? "public " : "" }
    var lengthField: HeaderModel.Field { model.fields[model.length] }
    /// All fields but the length.
    var given: [HeaderModel.Field] { model.fields.indices.filter { $0 != model.length }.map { model.fields[$0] } }
    var hasLimitedFields: Bool { given.contains { $0.storage != .integer } }

    mutating func add(_ text: String, indentation: Int = 1) {
        lines.append(text.isEmpty ? "" : String(repeating: "    ", count: indentation) + text)
    }

    private mutating func emit() {
        emitDocumentation()
        add("\(access)struct \(model.name): FixedHeader, Hashable {", indentation: 0)
        emitProperties()
        add("")
        add("/// The header's bytes on the wire: \(model.size).")
        add("\(access)static var byteCount: Int { \(model.size) }")
        emitInitialiser()
        emitReading()
        emitWriting()
        emitBodyCount()
        emitPlausibility()
        if hasLimitedFields { emitGlance() }
        for field in given where field.storage != .integer { emitSetter(field) }
        emitEquality()
        add("}", indentation: 0)
    }

    private mutating func emitProperties() {
        for field in model.fields {
            emitDocumentation(of: field)
            let name = SwiftName.escaped(field.name)
            if field.source.name == lengthField.source.name {
                add("private var \(name): \(field.source.type.swiftName) = \(model.overhead)")
            } else if field.storage == .integer {
                add("\(access)var \(name): \(field.swiftType)")
            } else {
                add("\(access)private(set) var \(name): \(field.swiftType)")
            }
        }
        for field in given {
            guard let text = field.text, case .bytes(let count, _) = field.storage else { continue }
            let bytes = (Array(text.utf8) + Array(repeating: 0, count: count - text.utf8.count)).map { "\($0)" }.joined(separator: ", ")
            add("private static let \(SwiftName.plausible(field.name)): Bytes = [\(bytes)]")
        }
    }

    private mutating func emitInitialiser() {
        add("")
        add("/// A header with these fields. It announces an empty body until ``setBodyCount(_:)`` says otherwise.")
        if hasLimitedFields {
            add("///")
            add("/// - Throws: `SocketError.Code.unencodable` if one has more elements than there is room for.")
        }
        let parameters = given.map { field in
            let value = field.constant.map { " = \($0)" } ?? field.text.map { " = Bytes(\"\(Self.quoted($0))\")" } ?? ""
            return "\(SwiftName.escaped(field.name)): \(field.swiftType)\(value)"
        }
        add("\(access)init(\(parameters.joined(separator: ", ")))\(hasLimitedFields ? " throws(SocketError)" : "") {")
        for field in given {
            let name = SwiftName.escaped(field.name)
            add("self.\(name) = \(field.elementCount.map { "try Self.filled(\(name), to: \($0))" } ?? name)", indentation: 2)
        }
        add("}")
    }

    private mutating func emitReading() {
        add("")
        add("/// Reads a header. Every value of the bytes is taken\(model.padding.contains { $0 > 0 } ? ", and padding is ignored" : "").")
        add("\(access)init(from input: ByteInput) {")
        for field in model.fields {
            let end = field.offset + field.source.size
            let value =
                switch field.storage {
                case .integer: "input.load(at: \(field.offset), \(field.swiftOrder))"
                case .bytes: "input.peek(\(field.offset)..<\(end)) ?? Bytes()"
                case .array(let count):
                    "(0..<\(count)).map { input.load(at: \(field.offset) + \(field.source.type.size) * $0, \(field.swiftOrder)) }"
                }
            add("\(SwiftName.used(field.name, among: ["input"])) = \(value)", indentation: 2)
        }
        add("}")
    }

    private mutating func emitWriting() {
        add("")
        add("/// Appends the header\(model.padding.contains { $0 > 0 } ? ", with zeros for padding" : "").")
        add("\(access)func write(to output: inout ByteOutput) {")
        for (field, padding) in zip(model.fields, model.padding) {
            emit(padding: padding)
            let name = SwiftName.used(field.name, among: ["output", "element"])
            switch field.storage {
            case .integer: add("output.append(\(name), \(field.swiftOrder))", indentation: 2)
            case .bytes: add("output.append(\(name))", indentation: 2)
            case .array: add("for element in \(name) { output.append(element, \(field.swiftOrder)) }", indentation: 2)
            }
        }
        emit(padding: model.padding.last ?? 0)
        add("}")
    }

    private mutating func emit(padding: Int) {
        if padding == 1 { add("output.append(0)", indentation: 2) }
        if padding > 1 { add("for _ in 0..<\(padding) { output.append(0) }", indentation: 2) }
    }

    private mutating func emitSetter(_ field: HeaderModel.Field) {
        guard let count = field.elementCount else { return }
        let (label, unit) = if case .array = field.storage { ("elements", "numbers") } else { ("bytes", "bytes") }
        if case .bytes(_, isText: true) = field.storage {
            add("")
            add("/// The text in `\(field.name)` up to its first NUL; nil if that isn't UTF-8.")
            add("\(access)var \(field.name)Text: String? { Self.text(of: \(SwiftName.escaped(field.name))) }")
        }
        add("")
        add("/// Sets `\(field.name)`: at most \(count) \(unit); what is missing is filled up with zeros.")
        add("///")
        add("/// - Throws: `SocketError.Code.unencodable` if there are more.")
        add("\(access)mutating func \(SwiftName.setter(field.name))(_ \(label): \(field.swiftType)) throws(SocketError) {")
        add("\(SwiftName.used(field.name, among: [label])) = try Self.filled(\(label), to: \(count))", indentation: 2)
        add("}")
    }

    /// A text inside a Swift string literal.
    static func quoted(_ text: String) -> String {
        text.map { $0 == "\"" ? "\\\"" : String($0) }.joined()
    }
}

extension HeaderModel.Field {
    var swiftType: String {
        switch storage {
        case .integer: source.type.swiftName
        case .bytes: "Bytes"
        case .array: "[\(source.type.swiftName)]"
        }
    }

    var swiftOrder: String { order == .big ? ".big" : ".little" }

    /// The elements of what isn't a single number.
    var elementCount: Int? {
        switch storage {
        case .integer: nil
        case .bytes(let count, _), .array(let count): count
        }
    }
}
