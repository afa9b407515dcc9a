/// A JSON value whose type isn't known beforehand, such as one of a header's keys.
///
/// ```swift
/// if packet.header["type"] == "login", let attempt = packet.header["attempt"]?.intValue { … }
/// ```
///
/// A number that is whole and fits in 64 bits is an ``integer(_:)``, however it was written: `3`, `3.0` and `3e0` are the same. Any other
/// is a ``number(_:)``, which has the precision of a `Double`.
public enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A whole number that fits in 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by name.
    case object([String: JSONValue])

    /// The number: an ``integer(_:)`` if it is whole and fits, else a ``number(_:)``.
    public init(_ number: Double) {
        self = Int64(exactly: number).map { .integer($0) } ?? .number(number)
    }
}

extension JSONValue {
    /// Whether it is `null`.
    public var isNull: Bool { self == .null }

    /// The value of a ``bool(_:)``; nil for anything else.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The value of an ``integer(_:)``; nil for anything else.
    public var intValue: Int? {
        if case .integer(let value) = self { Int(exactly: value) } else { nil }
    }

    /// The value of an ``integer(_:)`` or a ``number(_:)``; nil for anything else.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text of a ``string(_:)``; nil for anything else.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The values of an ``array(_:)``; nil for anything else.
    public var arrayValue: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The values of an ``object(_:)``; nil for anything else.
    public var objectValue: [String: JSONValue]? {
        if case .object(let values) = self { values } else { nil }
    }

    /// The value called `name` in an ``object(_:)``; nil if there is none or this is anything else.
    public subscript(name: String) -> JSONValue? { objectValue?[name] }

    /// The value at `index` in an ``array(_:)``; nil if there is none or this is anything else.
    public subscript(index: Int) -> JSONValue? {
        guard let values = arrayValue, values.indices.contains(index) else { return nil }
        return values[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`
    public init(nilLiteral: ()) { self = .null }
    /// A ``bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An ``integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number, as ``init(_:)`` has it.
    public init(floatLiteral value: Double) { self.init(value) }
    /// A ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An ``array(_:)``.
    public init(arrayLiteral values: JSONValue...) { self = .array(values) }
    /// An ``object(_:)``. Of two values of one name the last counts.
    public init(dictionaryLiteral values: (String, JSONValue)...) { self = .object(Dictionary(values) { $1 }) }
}

extension JSONValue: CustomStringConvertible {
    /// The JSON text, compact and with its names in order.
    public var description: String {
        var writer = JSONWriter(maxDepth: .max)
        writer.append(self, depth: 0)
        return String(decoding: writer.text, as: UTF8.self)
    }
}

extension JSONValue: Codable {
    /// Whatever value the decoder has.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self.init(value)
        } else if let values = try? container.decode([String: JSONValue].self) {
            self = .object(values)
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }

    /// The value itself.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        }
    }
}
