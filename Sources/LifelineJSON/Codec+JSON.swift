import FoundationEssentials
public import LifelineCore

extension Codec where Message == Bytes, Outgoing == Bytes {
    /// Frames whose bytes are the JSON text of a `Body`.
    ///
    /// Decoded in the task that reads and encoded in the task that sends. A frame that isn't such a text is thrown in its place as
    /// ``SocketError/Code/invalidBody``, and the connection ends with that; what can't be encoded throws
    /// ``SocketError/Code/unencodable``, and nothing is sent.
    public func json<Body: Codable & Sendable>(of _: Body.Type) -> MappedCodec<Self, Body, Body> {
        mapped(decode: { try JSONBody.decode($0) }, encode: { try JSONBody.encode($0) })
    }
}

/// A value and the JSON text that stands for it.
enum JSONBody {
    static func decode<Body: Decodable>(_ bytes: Bytes) throws(SocketError) -> Body {
        do {
            return try JSONDecoder().decode(Body.self, from: bytes.withUnsafeBytes { Data($0) })
        } catch {
            throw SocketError(.invalidBody, "a body of \(bytes.count) bytes isn't the JSON text of a \(Body.self)", cause: error)
        }
    }

    static func encode(_ body: some Encodable) throws(SocketError) -> Bytes {
        do {
            return Bytes(try JSONEncoder().encode(body))
        } catch {
            throw SocketError(.unencodable, "a \(type(of: body)) can't be written as JSON", cause: error)
        }
    }
}
