import LifelineCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    // On Darwin all of it is one module.
    public import Foundation
#endif

/// How values become JSON text and come back: the settings of Foundation's coders, and the bounds for what a peer sends.
///
/// ```swift
/// let coding = JSONCoding { decoder, encoder in
///     decoder.dateDecodingStrategy = .iso8601
///     encoder.dateEncodingStrategy = .iso8601
/// }
/// let codec = LineCodec().json(of: ChatMessage.self, coding: coding)
/// ```
///
/// - Text is sent compact, in UTF-8, with its names in order.
/// - Text is accepted in UTF-8, without a NUL byte, with values that stand in each other up to ``maxDepth``. It is looked through before
///   the decoder gets it, which goes deep enough to overflow a thread's stack and ends the process over some texts that go deeper.
/// - JSON5 is never accepted, whatever the decoder's settings: Foundation's reader of it ends the process over some bad texts.
/// - Of two values of one name in an object the decoder takes the first.
///
/// One decoder and one encoder serve all connections: making them for each message would cost up to a tenth of its time.
public struct JSONCoding: Sendable {
    /// How deep values of a received text may stand in each other; 64 by default.
    public let maxDepth: Int

    let decoder: JSONDecoder
    let encoder: JSONEncoder

    /// The settings of Foundation's coders as they come.
    public static let standard = JSONCoding()

    /// A coding with settings of your own.
    ///
    /// - Parameters:
    ///   - maxDepth: how deep values of a received text may stand in each other; 64 by default, taken into 1…512. Values with types of
    ///     their own on each level, such as ``JSONValue``, need some 4 KiB of the reader's stack for each.
    ///   - configure: sets up both coders, once. They are used from all tasks afterwards, so keep none of them.
    public init(maxDepth: Int = 64, configure: (_ decoder: JSONDecoder, _ encoder: JSONEncoder) -> Void = { _, _ in }) {
        self.maxDepth = max(1, min(maxDepth, 512))
        decoder = JSONDecoder()
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        configure(decoder, encoder)
        decoder.allowsJSON5 = false
    }

    /// The value that `text` stands for.
    ///
    /// - Throws: ``SocketError/Code/invalidBody``, with what the decoder threw as its cause.
    func decode<Body: Decodable>(_: Body.Type, from text: Bytes) throws(SocketError) -> Body {
        if let fault = JSONText.fault(in: text, maxDepth: maxDepth) {
            throw SocketError(.invalidBody, "a body of \(text.count) bytes isn't the JSON text of a \(Body.self): \(fault)")
        }
        do {
            return try decoder.decode(Body.self, from: text.withUnsafeBytes { Data($0) })
        } catch {
            let words = JSONText.words(for: error)
            throw SocketError(
                .invalidBody, "a body of \(text.count) bytes isn't the JSON text of a \(Body.self)\(words)", cause: error)
        }
    }

    /// The text that stands for `body`.
    ///
    /// - Throws: ``SocketError/Code/unencodable``, with what the encoder threw as its cause.
    func encode(_ body: some Encodable) throws(SocketError) -> Bytes {
        do {
            return Bytes(try encoder.encode(body))
        } catch {
            throw SocketError(.unencodable, "a \(type(of: body)) can't be written as JSON\(JSONText.words(for: error))", cause: error)
        }
    }
}
