/// No framing: frames are the bytes as they come.
///
/// - Wire layout: nothing but the bytes. Where one frame ends and the next begins means nothing: each `decode` takes all that is there,
///   which is what one or several reads brought, and the peer's writes may arrive cut or glued.
/// - Limits: a received frame is as large as what was read at once, so there is nothing to set. Sent frames have no limit; an empty one
///   puts nothing on the wire.
/// - Errors: none. Every end of the stream is at a frame border; but over TLS one that the peer hasn't announced is an error.
public struct RawCodec: FrameCodec {
    /// A codec; it has no settings.
    @inlinable
    public init() {}

    /// Takes all that is there; nil if that is nothing.
    @inlinable
    public func decode(from input: inout ByteInput) -> Bytes? {
        input.isEmpty ? nil : input.read(input.count)
    }

    /// Always nil: no frame is ever unfinished.
    @inlinable
    public func pending(in input: ByteInput) -> PendingFrame? { nil }

    /// True: nothing but the end of the stream says that all has arrived.
    @inlinable public static var framesMayEndWithInput: Bool { true }

    /// Appends the bytes.
    @inlinable
    public func encode(_ frame: Bytes, into output: inout ByteOutput) {
        output.append(frame)
    }

    /// True: the bytes of a frame are the frame.
    @inlinable public static var isStateless: Bool { true }
}

extension Codec where Self == RawCodec {
    /// No framing: frames are ``Bytes`` as they come.
    @inlinable public static var raw: RawCodec { RawCodec() }
}
