public import LifelineCore

// Typed frames over codecs of bytes, of text and of packets. The text is taken apart in the task that reads and put together in the task
// that sends, never on an event loop's own account.
extension Codec where Message == Bytes, Outgoing == Bytes {
    /// Frames whose bytes are the JSON text of a `Body`. A bad one ends the connection.
    ///
    /// A received frame that isn't such a text is thrown in its place as ``SocketError/Code/invalidBody``, after the frames before it, and
    /// the connection ends with that. What can't be encoded throws ``SocketError/Code/unencodable``, and nothing is sent.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - coding: how values become text and come back.
    public func json<Body: Codable & Sendable>(
        of type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<Self, Body, Body> {
        mapped(decode: { try coding.decode(Body.self, from: $0) }, encode: { try coding.encode($0) })
    }

    /// Frames whose bytes are the JSON text of a `Body`. A bad one is reported in its place, and the connection goes on.
    ///
    /// A reader gets results: the value, or ``SocketError/Code/invalidBody``. What can't be encoded throws
    /// ``SocketError/Code/unencodable``, and nothing is sent.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - coding: how values become text and come back.
    public func json<Body: Codable & Sendable>(
        resultOf type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<Self, Result<Body, SocketError>, Body> {
        mapped(decode: { coding.result(of: Body.self, from: $0) }, encode: { try coding.encode($0) })
    }
}

extension Codec where Message == String, Outgoing == String {
    /// Frames whose text is the JSON text of a `Body`. A bad one ends the connection; see ``json(of:coding:)`` for bytes.
    public func json<Body: Codable & Sendable>(
        of type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<Self, Body, Body> {
        mapped(decode: { try coding.decode(Body.self, from: Bytes($0)) }, encode: { String(try coding.encode($0)) })
    }

    /// Frames whose text is the JSON text of a `Body`. A bad one is reported in its place; see ``json(resultOf:coding:)`` for bytes.
    public func json<Body: Codable & Sendable>(
        resultOf type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<Self, Result<Body, SocketError>, Body> {
        mapped(decode: { coding.result(of: Body.self, from: Bytes($0)) }, encode: { String(try coding.encode($0)) })
    }
}

extension Codec {
    /// Packets whose body is the JSON text of a `Body`, with the header beside it. A bad body ends the connection.
    ///
    /// A received body that isn't such a text is thrown in the packet's place as ``SocketError/Code/invalidBody``, and the connection ends
    /// with that. What can't be encoded throws ``SocketError/Code/unencodable``, and nothing is sent. Where the header tells the type of
    /// the body, leave the bytes as they are and take them apart with `Packet.json(as:coding:)`.
    ///
    /// - Parameters:
    ///   - type: the type of the bodies.
    ///   - coding: how values become text and come back.
    public func json<Header: Sendable, Body: Codable & Sendable>(
        of type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<Self, Packet<Header, Body>, Packet<Header, Body>>
    where Message == Packet<Header, Bytes>, Outgoing == Packet<Header, Bytes> {
        mapped(
            decode: { Packet(header: $0.header, body: try coding.decode(Body.self, from: $0.body)) },
            encode: { Packet(header: $0.header, body: try coding.encode($0.body)) })
    }

    /// Packets whose body is the JSON text of a `Body`, with the header beside it. A bad body is reported in its place, and the connection
    /// goes on.
    ///
    /// A reader gets the header with a result: the value, or ``SocketError/Code/invalidBody``. What is sent is the header with a value.
    ///
    /// - Parameters:
    ///   - type: the type of the bodies.
    ///   - coding: how values become text and come back.
    public func json<Header: Sendable, Body: Codable & Sendable>(
        resultOf type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<Self, Packet<Header, Result<Body, SocketError>>, Packet<Header, Body>>
    where Message == Packet<Header, Bytes>, Outgoing == Packet<Header, Bytes> {
        mapped(
            decode: { Packet(header: $0.header, body: coding.result(of: Body.self, from: $0.body)) },
            encode: { Packet(header: $0.header, body: try coding.encode($0.body)) })
    }
}

extension JSONCoding {
    func result<Body: Decodable>(of type: Body.Type, from text: Bytes) -> Result<Body, SocketError> {
        Result { () throws(SocketError) in try decode(type, from: text) }
    }
}
