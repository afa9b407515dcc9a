/// An integer type of C, with the size that it has on 64-bit Linux and Darwin.
struct CInteger: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case signed, unsigned
        /// Plain `char`, which is text in arrays.
        case character
    }

    var kind: Kind
    var size: Int

    /// What one of its numbers is in Swift. A plain `char` counts from 0 to 255, on every machine.
    var swiftName: String { "\(kind == .signed ? "" : "U")Int\(8 * size)" }

    var range: ClosedRange<Int128> {
        let end: Int128 = 1 << (8 * size)
        return kind == .signed ? -end / 2...end / 2 - 1 : 0...end - 1
    }
}

/// A member of a struct.
struct CField: Sendable {
    var name: String
    var position: Position
    var type: CInteger
    /// As the file writes it, such as `unsigned int`.
    var typeText: String
    /// The number of elements; nil if it isn't an array.
    var count: Int?
    /// What its comments say, without annotations.
    var prose: String = ""
    var annotations: [Clause] = []

    var size: Int { type.size * (count ?? 1) }

    /// The declaration as C writes it.
    var declaration: String { "\(typeText) \(name)\(count.map { "[\($0)]" } ?? "")" }
}

/// A struct that a header is to be made of.
struct CStruct: Sendable {
    var tag: String?
    /// What `typedef` names it.
    var alias: String?
    var position: Position
    /// The most that a field is aligned to, by a pragma or an attribute; nil for the C ABI's own layout.
    var packing: Int?
    var fields: [CField] = []
    var prose: String = ""
    var annotations: [Clause] = []

    var name: String { alias ?? tag ?? "" }
    /// The struct as C names it.
    var cName: String { alias ?? "struct \(tag ?? "")" }
}
