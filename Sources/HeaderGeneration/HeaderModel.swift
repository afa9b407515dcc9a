/// A header with everything decided: what the generated Swift says.
struct HeaderModel: Sendable {
    /// A field with its place and its Swift name.
    struct Field: Sendable {
        enum Storage: Sendable, Equatable {
            case integer
            /// Text or raw bytes: `Bytes` of exactly this many.
            case bytes(Int, isText: Bool)
            case array(Int)
        }

        var source: CField
        var offset: Int
        var name: String
        /// How the bytes of one element stand; for a single byte it doesn't matter.
        var order: Clause.Order
        /// What a plausible value is; nil for any.
        var range: ClosedRange<Int128>?
        /// What the bytes of a plausible field are; nil for any.
        var text: String?

        var storage: Storage {
            guard let count = source.count else { return .integer }
            if source.type.size > 1 || source.type.kind == .signed { return .array(count) }
            return .bytes(count, isText: source.type.kind == .character)
        }

        /// The only value that is plausible, which need not be named where a header is made.
        var constant: Int128? {
            guard let range, range.lowerBound == range.upperBound else { return nil }
            return range.lowerBound
        }
    }

    var source: CStruct
    var name: String
    var isPublic: Bool
    var fields: [Field]
    var size: Int
    /// Which field is the length.
    var length: Int
    var counted: Clause.Counted

    /// What the length counts beside the body.
    var overhead: Int {
        switch counted {
        case .body: 0
        case .packet: size
        case .rest: size - fields[length].offset - fields[length].source.size
        }
    }

    /// The bytes without a meaning in front of each field and, last, at the end.
    var padding: [Int] {
        var end = 0
        var gaps: [Int] = []
        for field in fields {
            gaps.append(field.offset - end)
            end = field.offset + field.source.size
        }
        return gaps + [size - end]
    }
}
