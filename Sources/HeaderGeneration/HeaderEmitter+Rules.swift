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
            add("guard let count = Int(exactly: \(name)), count >= \(overhead) else { return nil }", indentation: 2)
            add(overhead == 0 ? "return count" : "return count - \(overhead)", indentation: 2)
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
