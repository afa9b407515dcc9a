/// Frames of always the same number of bytes.
///
/// - Wire layout: nothing but the frames, one behind the other.
/// - Frames share the storage of the read they came from.
/// - Limits: the size is the limit. A number below 1 is taken as 1, since frames of no bytes would have no end.
/// - Errors on receipt: ``SocketError/Code/truncated`` if the stream ends inside a frame.
/// - Errors on sending: ``SocketError/Code/unencodable`` for a frame of another size, with nothing written.
public struct FixedSizeCodec: FrameCodec {
    /// The bytes of each frame.
    public let byteCount: Int

    /// A codec of frames of `byteCount` bytes.
    public init(_ byteCount: Int) {
        self.byteCount = Swift.max(1, byteCount)
    }

    /// Takes the next frame; nil if more bytes are needed.
    @inlinable
    public func decode(from input: inout ByteInput) -> Bytes? { input.read(byteCount) }

    /// The bytes that are there: "6 of 10 bytes".
    public func pending(in input: ByteInput) -> PendingFrame? {
        input.isEmpty ? nil : PendingFrame(received: input.count, expected: byteCount)
    }

    /// Appends the frame.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` if it hasn't the right size, with nothing written.
    @inlinable
    public func encode(_ frame: Bytes, into output: inout ByteOutput) throws(SocketError) {
        guard frame.count == byteCount else { throw refusal(of: frame.count) }
        output.append(frame)
    }

    @usableFromInline
    func refusal(of count: Int) -> SocketError {
        SocketError(.unencodable, "a frame of \(count) bytes where all have \(byteCount)")
    }

    /// True: the bytes of a frame are the frame.
    @inlinable public static var isStateless: Bool { true }
}

extension Codec where Self == FixedSizeCodec {
    /// Frames of exactly `byteCount` bytes each.
    public static func fixedSize(_ byteCount: Int) -> FixedSizeCodec { FixedSizeCodec(byteCount) }
}
