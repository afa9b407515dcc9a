public import LifelineCore

extension Packet where Body == Bytes {
    /// The value that the body is the JSON text of, where the header tells its type.
    ///
    /// ```swift
    /// switch packet.header["type"] {
    /// case "login": log(in: try packet.json(as: Login.self))
    /// case "chat": show(try packet.json(as: Chat.self))
    /// default: break
    /// }
    /// ```
    ///
    /// - Throws: ``SocketError/Code/invalidBody`` if it isn't such a text.
    public func json<Value: Decodable>(as type: Value.Type, coding: JSONCoding = .standard) throws(SocketError) -> Value {
        try coding.decode(type, from: body)
    }

    /// A packet whose body is the JSON text of `value`.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` if it can't be encoded.
    public init(header: Header, json value: some Encodable, coding: JSONCoding = .standard) throws(SocketError) {
        self.init(header: header, body: try coding.encode(value))
    }
}
