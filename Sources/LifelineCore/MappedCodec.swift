/// A codec whose frames become messages of another type, such as the values that a text stands for; made by
/// ``Codec/mapped(decode:encode:)``.
///
/// The wire is that of ``base``. Both closures run in the tasks that read and send, never on an event loop's own account.
public struct MappedCodec<Base: Codec, Message: Sendable, Outgoing: Sendable>: Codec {
    /// The codec that makes the frames.
    public let base: Base
    @usableFromInline let decoding: @Sendable (Base.Message) throws -> Message
    @usableFromInline let encoding: @Sendable (Outgoing) throws -> Base.Outgoing

    /// The messages of `base`, turned into others and back.
    public init(
        _ base: Base, decode: @escaping @Sendable (Base.Message) throws -> Message,
        encode: @escaping @Sendable (Outgoing) throws -> Base.Outgoing
    ) {
        self.base = base
        decoding = decode
        encoding = encode
    }

    /// The decoder of ``base``.
    @inlinable public func makeDecoder() -> Base.Decoder { base.makeDecoder() }
    /// The encoder of ``base``.
    @inlinable public func makeEncoder() -> Base.Encoder { base.makeEncoder() }

    /// What the first closure makes of the message of ``base``.
    @inlinable
    public func message(from frame: Base.Decoder.Frame) throws -> Message { try decoding(base.message(from: frame)) }

    /// The frame of ``base`` for what the second closure makes of `message`.
    @inlinable
    public func frame(for message: Outgoing) throws -> Base.Encoder.Frame { try base.frame(for: encoding(message)) }
}

extension Codec {
    /// This codec with messages of another type.
    ///
    /// ```swift
    /// let codec = LineCodec().mapped(
    ///     decode: { line in Int(line) ?? 0 },
    ///     encode: { number in String(number) })
    /// ```
    ///
    /// - Parameters:
    ///   - decode: makes a message of a received one, in the reader's task; what it throws ends the connection.
    ///   - encode: makes of what is sent what this codec sends, in the sender's task; when it throws, nothing is sent.
    public func mapped<NewMessage: Sendable, NewOutgoing: Sendable>(
        decode: @escaping @Sendable (Message) throws -> NewMessage, encode: @escaping @Sendable (NewOutgoing) throws -> Outgoing
    ) -> MappedCodec<Self, NewMessage, NewOutgoing> {
        MappedCodec(self, decode: decode, encode: encode)
    }
}
