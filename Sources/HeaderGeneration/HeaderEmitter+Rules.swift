// The length, what is plausible, and what is the same.
extension HeaderEmitter {
    mutating func emitBodyCount() {
        let overhead = model.overhead
        let isUnsigned = lengthField.source.type.kind != .signed
        let name = SwiftName.used(lengthField.name, among: overhead == 0 && isUnsigned ? [] : ["count"])
        let cName = lengthField.source.name
        add("")
        add("/// The bytes of body that `\(cName)` announces; nil for a number that can't be meant.")
        add("\(access)var bodyCount: Int? {")
        if overhead == 0, isUnsigned {
            lines[lines.count - 1] += " Int(exactly: \(name)) }"
        } else {
            emitCounting(name)
            add("}")
        }

        let bounds = overhead == 0 ? "count" : "count, plus: \(overhead)"
        add("")
        add("/// Lets `\(cName)` announce `count` bytes of body.")
        add("///")
        add("/// - Throws: `SocketError.Code.unencodable` if it can't.")
        add("\(access)mutating func setBodyCount(_ count: Int) throws(SocketError) {")
        add("\(SwiftName.used(lengthField.name, among: ["count"])) = try Self.length(\(bounds))", indentation: 2)
        add("}")
    }

    /// The statements that make the body's count of the length, which the expression `length` gives.
    private mutating func emitCounting(_ length: String) {
        let overhead = model.overhead
        if overhead == 0, lengthField.source.type.kind != .signed {
            add("return Int(exactly: \(length))", indentation: 2)
        } else {
            add("guard let count = Int(exactly: \(length)), count >= \(overhead) else { return nil }", indentation: 2)
            add(overhead == 0 ? "return count" : "return count - \(overhead)", indentation: 2)
        }
    }

    /// The same of bytes that may be no header at all: fields that take memory aren't made for it.
    mutating func emitGlance() {
        add("")
        add("/// The bytes of body that a header here announces; nil if it isn't plausible or the number can't be meant.")
        add("\(access)static func bodyCount(in input: ByteInput) -> Int? {")
        for field in model.fields {
            for condition in conditions(ofBytesOf: field) { add("guard \(condition) else { return nil }", indentation: 2) }
        }
        emitCounting(load(lengthField.source.type.swiftName, at: lengthField.offset, lengthField.swiftOrder))
        add("}")
    }

    private func load(_ type: String, at offset: Int, _ order: String) -> String { "input.load(\(type).self, at: \(offset), \(order))" }

    /// What must hold of a field's bytes.
    private func conditions(ofBytesOf field: HeaderModel.Field) -> [String] {
        guard let text = field.text else {
            let number = load(field.source.type.swiftName, at: field.offset, field.swiftOrder)
            return condition(of: field, named: number).map { [$0] } ?? []
        }
        var rest = Array(text.utf8) + Array(repeating: 0, count: field.source.size - text.utf8.count)
        var offset = field.offset
        var conditions: [String] = []
        while !rest.isEmpty {
            // The most of it that one number holds.
            let size = [8, 4, 2, 1].first { $0 <= rest.count } ?? 1
            let value = rest.prefix(size).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            conditions.append("\(load("UInt\(8 * size)", at: offset, ".big")) == 0x\(String(value, radix: 16, uppercase: true))")
            rest.removeFirst(size)
            offset += size
        }
        return conditions
    }

    mutating func emitPlausibility() {
        let conditions = model.fields.compactMap { condition(of: $0, named: SwiftName.escaped($0.name)) }
        if conditions.isEmpty { return }
        add("")
        add("/// Whether the fields have values that a header can have.")
        add("\(access)var isPlausible: Bool {")
        // One by one: a compiler takes long over a chain of literals.
        for condition in conditions { add("guard \(condition) else { return false }", indentation: 2) }
        add("return true", indentation: 2)
        add("}")
    }

    /// What must hold of a field; nil if everything may.
    private func condition(of field: HeaderModel.Field, named name: String) -> String? {
        if field.text != nil { return "\(name) == Self.\(SwiftName.plausible(field.name))" }
        guard let range = field.range else { return nil }
        let all = field.source.type.range
        if range == all { return nil }
        if range.lowerBound == range.upperBound { return "\(name) == \(range.lowerBound)" }
        if range.lowerBound == all.lowerBound { return "\(name) <= \(range.upperBound)" }
        if range.upperBound == all.upperBound { return "\(name) >= \(range.lowerBound)" }
        return "(\(range.lowerBound)...\(range.upperBound)).contains(\(name))"
    }

    /// The length depends on the body, so that it takes no part: a header that was read is equal to the one that was sent.
    mutating func emitEquality() {
        let name = model.name
        let (left, right) = given.isEmpty ? ("_", "_") : ("left", "right")
        add("")
        add("/// Whether all fields but the length are equal.")
        add("\(access)static func == (\(left): \(name), \(right): \(name)) -> Bool {")
        for field in given {
            let field = SwiftName.escaped(field.name)
            add("guard left.\(field) == right.\(field) else { return false }", indentation: 2)
        }
        add("return true", indentation: 2)
        add("}")
        add("")
        add("/// Feeds all fields but the length.")
        add("\(access)func hash(into hasher: inout Hasher) {")
        for field in given { add("hasher.combine(\(SwiftName.used(field.name, among: ["hasher"])))", indentation: 2) }
        add("}")
    }
}
