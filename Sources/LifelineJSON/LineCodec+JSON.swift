public import LifelineCore

// The decoder takes bytes, so lines needn't become text first.
extension LineCodec {
    /// Lines that are the JSON text of a `Body`, with this codec's terminators, limits and rules for lines. A bad one ends the connection.
    ///
    /// A line that isn't such a text, or not in UTF-8, is thrown in its place as ``SocketError/Code/invalidBody``, after the lines before
    /// it, and the connection ends with that; ``invalidText`` has no say. What can't be encoded, or holds what ends a line, throws
    /// ``SocketError/Code/unencodable``, and nothing is sent; with the default coding no text holds a CR or an LF.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - coding: how values become text and come back.
    public func json<Body: Codable & Sendable>(
        of type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<DelimiterCodec, Body, Body> {
        lines.json(of: type, coding: coding)
    }

    /// Lines that are the JSON text of a `Body`, with this codec's terminators, limits and rules for lines. A bad one is reported in its
    /// place, and the connection goes on.
    ///
    /// A reader gets results: the value, or ``SocketError/Code/invalidBody``, also for a line that isn't in UTF-8. What can't be encoded,
    /// or holds what ends a line, throws ``SocketError/Code/unencodable``, and nothing is sent.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - coding: how values become text and come back.
    public func json<Body: Codable & Sendable>(
        resultOf type: Body.Type, coding: JSONCoding = .standard
    ) -> MappedCodec<DelimiterCodec, Result<Body, SocketError>, Body> {
        lines.json(resultOf: type, coding: coding)
    }
}

extension Codec {
    /// Lines of JSON: each is the text of a `Body`. A bad one ends the connection; see ``LineCodec/json(of:coding:)``,
    /// which also has the other rules for lines.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - accepting: what ends a received line; LF with a CR before it or not by default.
    ///   - sending: what is sent behind a line; LF by default, whatever is accepted.
    ///   - max: the most bytes of a received line, without the terminator; 64 KiB by default.
    ///   - maxOutgoing: the same for a sent line; the same as `max` if nil.
    ///   - coding: how values become text and come back.
    public static func jsonLines<Body: Codable & Sendable>(
        of type: Body.Type, accepting: LineTerminator = .either, sending: Delimiter = .lf, max: Int = DelimiterCodec.defaultMax,
        maxOutgoing: Int? = nil, coding: JSONCoding = .standard
    ) -> Self where Self == MappedCodec<DelimiterCodec, Body, Body> {
        DelimiterCodec(accepting: accepting, sending: sending, max: max, maxOutgoing: maxOutgoing).json(of: type, coding: coding)
    }

    /// Lines of JSON: each is the text of a `Body`. A bad one is reported in its place; see
    /// ``LineCodec/json(resultOf:coding:)``, which also has the other rules for lines.
    ///
    /// - Parameters:
    ///   - type: the type of the values.
    ///   - accepting: what ends a received line; LF with a CR before it or not by default.
    ///   - sending: what is sent behind a line; LF by default, whatever is accepted.
    ///   - max: the most bytes of a received line, without the terminator; 64 KiB by default.
    ///   - maxOutgoing: the same for a sent line; the same as `max` if nil.
    ///   - coding: how values become text and come back.
    public static func jsonLines<Body: Codable & Sendable>(
        resultOf type: Body.Type, accepting: LineTerminator = .either, sending: Delimiter = .lf, max: Int = DelimiterCodec.defaultMax,
        maxOutgoing: Int? = nil, coding: JSONCoding = .standard
    ) -> Self where Self == MappedCodec<DelimiterCodec, Result<Body, SocketError>, Body> {
        DelimiterCodec(accepting: accepting, sending: sending, max: max, maxOutgoing: maxOutgoing).json(resultOf: type, coding: coding)
    }
}
