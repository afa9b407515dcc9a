/// What the JSON header of a ``JSONHeaderCodec`` says, apart from `size`: a type, an id, a checksum or whatever the peer puts there.
///
/// ```swift
/// switch packet.header["type"] {
/// case "login": …
/// case "chat": …
/// default: break
/// }
/// try await connection.send(Packet(header: ["type": "chat", "id": 7], body: body))
/// ```
public struct JSONHeader: Sendable, Hashable {
    /// The values by name. `size` isn't one of them: the codec takes it off and puts it there.
    public var values: [String: JSONValue]

    /// A header with these values; none by default.
    public init(_ values: [String: JSONValue] = [:]) { self.values = values }

    /// The value called `name`; nil if there is none.
    public subscript(name: String) -> JSONValue? {
        get { values[name] }
        set { values[name] = newValue }
    }
}

extension JSONHeader: ExpressibleByDictionaryLiteral {
    /// The values of a literal such as `["type": "chat"]`. Of two values of one name the last counts.
    public init(dictionaryLiteral values: (String, JSONValue)...) { self.init(Dictionary(values) { $1 }) }
}

extension JSONHeader: CustomStringConvertible {
    /// The JSON text of the values.
    public var description: String { JSONValue.object(values).description }
}
