/// Decides a header from a struct and what its annotations say; what contradicts itself is an error.
struct HeaderResolver {
    /// What was said about one field so far.
    private struct Said {
        var name: String?
        var order: Clause.Order?
        var range: ClosedRange<Int128>?
        var text: String?
    }

    private let source: CStruct
    private var name: String?
    private var order: Clause.Order?
    private var isPublic: Bool?
    private var length: (field: Int, counted: Clause.Counted)?
    private var said: [Said]

    static func resolve(_ source: CStruct) throws(HeaderError) -> HeaderModel {
        var resolver = HeaderResolver(source)
        return try resolver.run()
    }

    private init(_ source: CStruct) {
        self.source = source
        said = Array(repeating: Said(), count: source.fields.count)
    }

    private mutating func run() throws(HeaderError) -> HeaderModel {
        try checkFields()
        for clause in source.annotations { try apply(clause, to: nil) }
        for field in source.fields.indices {
            for clause in source.fields[field].annotations { try apply(clause, to: field) }
        }
        guard let length else {
            throw HeaderError(
                source.position,
                "`\(source.cName)` doesn't say which field is the length: write `lifeline: FIELD counts body` (or `packet`, or `rest`) above it"
            )
        }
        let layout = try HeaderLayout(of: source.fields, packing: source.packing)
        var fields: [HeaderModel.Field] = []
        for index in source.fields.indices {
            let field = source.fields[index]
            guard let order = said[index].order ?? order ?? (field.type.size == 1 ? .little : nil) else {
                throw HeaderError(
                    field.position,
                    "the byte order of `\(field.name)` isn't said: write `lifeline: little-endian` or `lifeline: big-endian` above the struct"
                )
            }
            fields.append(
                HeaderModel.Field(
                    source: field, offset: layout.offsets[index], name: said[index].name ?? SwiftName.property(field.name), order: order,
                    range: said[index].range, text: said[index].text))
        }
        try SwiftName.checkUnique(fields, length: length.field)
        let model = HeaderModel(
            source: source, name: try typeName(), isPublic: isPublic ?? false, fields: fields, size: layout.size, length: length.field,
            counted: length.counted)
        let field = source.fields[length.field]
        guard field.type.range.contains(Int128(model.overhead)) else {
            throw HeaderError(
                field.position, "`\(field.name)` counts \(model.overhead) bytes beside the body, and `\(field.typeText)` can't hold as much"
            )
        }
        return model
    }

    private func checkFields() throws(HeaderError) {
        if source.fields.isEmpty { throw HeaderError(source.position, "`\(source.cName)` has no fields") }
        var names: Set<String> = []
        for field in source.fields where !names.insert(field.name).inserted {
            throw HeaderError(field.position, "there is a field `\(field.name)` already")
        }
    }

    private func typeName() throws(HeaderError) -> String {
        let name = name ?? SwiftName.type(source.name)
        if SwiftName.isTaken(type: name) {
            throw HeaderError(source.position, "`\(name)` is a name of Swift's or Lifeline's: choose another with `lifeline: as NAME`")
        }
        return name
    }

    private mutating func apply(_ clause: Clause, to place: Int?) throws(HeaderError) {
        var field = place
        if let subject = clause.subject {
            guard let index = source.fields.firstIndex(where: { $0.name == subject }) else {
                throw HeaderError(clause.position, "`\(source.cName)` has no field `\(subject)`")
            }
            if let place, place != index { throw HeaderError(clause.position, "an annotation at a field is about that field only") }
            field = index
        }
        switch clause.predicate {
        case .order(let order): try set(order, for: field, clause)
        case .swiftName(let text): try set(text, for: field, clause)
        case .isPublic(let isPublic):
            if field != nil { throw HeaderError(clause.position, "the access level stands above the struct, for all of it") }
            try keep(isPublic, in: \.isPublic, "the access level", clause)
        case .counts(let counted): try setLength(try named(field, clause), counted, clause)
        case .range(let range): try narrow(try named(field, clause), to: range, clause)
        case .text(let text): try setText(try named(field, clause), text, clause)
        }
    }

    private func named(_ field: Int?, _ clause: Clause) throws(HeaderError) -> Int {
        guard let field else { throw HeaderError(clause.position, "say which field this is about, as in `version == 1`") }
        return field
    }

    /// Sets what can be said once; saying the same again changes nothing.
    private mutating func keep<Value: Equatable>(
        _ value: Value, in place: WritableKeyPath<Self, Value?>, _ what: String, _ clause: Clause
    ) throws(HeaderError) {
        if let old = self[keyPath: place], old != value {
            throw HeaderError(clause.position, "\(what) was said before, and it was another")
        }
        self[keyPath: place] = value
    }

    private mutating func set(_ order: Clause.Order, for field: Int?, _ clause: Clause) throws(HeaderError) {
        if let field {
            try keep(order, in: \.said[field].order, "the byte order of `\(source.fields[field].name)`", clause)
        } else {
            try keep(order, in: \.order, "the byte order", clause)
        }
    }

    private mutating func set(_ text: String, for field: Int?, _ clause: Clause) throws(HeaderError) {
        if let field {
            try keep(text, in: \.said[field].name, "the Swift name of `\(source.fields[field].name)`", clause)
        } else {
            try keep(text, in: \.name, "the Swift name", clause)
        }
    }

    private mutating func setLength(_ field: Int, _ counted: Clause.Counted, _ clause: Clause) throws(HeaderError) {
        if source.fields[field].count != nil {
            throw HeaderError(clause.position, "`\(source.fields[field].name)` is an array; only an integer can be the length")
        }
        if let length, length != (field, counted) {
            throw HeaderError(clause.position, "`\(source.fields[length.field].name) counts \(length.counted.rawValue)` was said before")
        }
        length = (field, counted)
    }

    private mutating func narrow(_ field: Int, to range: ClosedRange<Int128>, _ clause: Clause) throws(HeaderError) {
        let source = source.fields[field]
        if source.count != nil {
            throw HeaderError(clause.position, "`\(source.name)` is an array; only an integer, or `char[n]` with a string, can be compared")
        }
        let own = source.type.range
        // An end that is open in the source, as in `< 5`, stands at the end of all 64-bit numbers.
        let isOpen = range.lowerBound == Int128(Int64.min) || range.upperBound == Int128(UInt64.max)
        let old = said[field].range ?? own
        guard range.overlaps(old) else {
            throw HeaderError(
                clause.position, "no value of `\(source.name)` is like that; its range is \(old.lowerBound)...\(old.upperBound)")
        }
        if !isOpen, !own.contains(range.lowerBound) || !own.contains(range.upperBound) {
            throw HeaderError(
                clause.position, "this range is larger than that of `\(source.typeText)`, \(own.lowerBound)...\(own.upperBound)")
        }
        said[field].range = old.clamped(to: range)
    }

    private mutating func setText(_ field: Int, _ text: String, _ clause: Clause) throws(HeaderError) {
        let source = source.fields[field]
        guard let count = source.count, source.type.kind == .character else {
            throw HeaderError(clause.position, "only `char[n]` can be compared with a string")
        }
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }), text.utf8.count <= count else {
            throw HeaderError(clause.position, "the string must be plain ASCII, without escapes, of at most \(count) bytes")
        }
        try keep(text, in: \.said[field].text, "what `\(source.name)` holds", clause)
    }
}
