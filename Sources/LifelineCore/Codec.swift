/// Turns bytes into frames.
///
/// A value of one connection: it may keep what it has learnt of an unfinished frame, such as how far it has searched. It has no clock
/// and can't wait. What a peer sends must end in a frame, in nil or in an error, never in a trap, and a limit is checked before memory
/// is taken.
public protocol FrameDecoder<Frame>: SendableMetatype {
    /// What the connection's reader gets.
    associatedtype Frame: Sendable

    /// Takes the next frame from the front of `input`; nil if more bytes are needed.
    ///
    /// It is called again as long as it returns frames. Bytes of an unfinished frame may be left in `input`, which is simplest, or taken
    /// and kept.
    /// - Throws: any error; it ends the connection after the frames before it were delivered. Errors other than ``SocketError`` become
    ///   the cause of a ``SocketError/Code/protocolViolation``.
    mutating func decode(from input: inout ByteInput) throws -> Frame?

    /// Called when the peer's stream has ended and `decode` wants more bytes, again and again until it returns nil.
    ///
    /// The default throws ``SocketError/Code/truncated`` if ``pending(in:)`` says that a frame is unfinished.
    mutating func finish(_ input: inout ByteInput) throws -> Frame?

    /// The unfinished frame, if there is one: `input`'s bytes and what this value has already taken of it.
    ///
    /// The default says that all bytes in `input` are one.
    func pending(in input: ByteInput) -> PendingFrame?

    /// Whether a frame may be over because the peer's stream is, so that a stream that was cut looks like a whole one. Over TLS an end that
    /// the peer hasn't announced is an error then, ``SocketError/Code/truncated``. False unless a codec says otherwise; what only
    /// ``finish(_:)`` makes a frame of is never one at such an end, whatever this says.
    static var framesMayEndWithInput: Bool { get }

    /// The decode loop, compiled with the conforming type so that it specialises there. Not to be implemented.
    mutating func _drain(_ input: inout ByteInput, into frames: inout FrameQueue<Frame>, upTo limit: Int) throws
}

extension FrameDecoder {
    /// Throws ``SocketError/Code/truncated`` if a frame is unfinished.
    @inlinable
    public mutating func finish(_ input: inout ByteInput) throws -> Frame? {
        guard let pending = pending(in: input) else { return nil }
        throw SocketError(truncated: pending)
    }

    /// False: frames tell where they end.
    @inlinable public static var framesMayEndWithInput: Bool { false }

    /// All bytes that are left.
    @inlinable
    public func pending(in input: ByteInput) -> PendingFrame? {
        input.isEmpty ? nil : PendingFrame(received: input.count)
    }

    /// Decodes until `frames` holds `limit` frames, bytes are missing, or a frame was marked as one to stop behind.
    @inlinable
    public mutating func _drain(_ input: inout ByteInput, into frames: inout FrameQueue<Frame>, upTo limit: Int) throws {
        while frames.count < limit, let frame = try decode(from: &input) {
            frames.append(frame)
            if input.isStopped { return }
        }
    }
}

/// A frame of which only a part has arrived.
public struct PendingFrame: Sendable, Hashable, CustomStringConvertible {
    /// The bytes that are there.
    public let received: Int
    /// The bytes that the whole frame has, if they are known.
    public let expected: Int?
    /// What is missing, in words, such as "without a terminator".
    public let note: String?

    /// `received` bytes of `expected`.
    public init(received: Int, expected: Int? = nil, note: String? = nil) {
        self.received = received
        self.expected = expected
        self.note = note
    }

    /// Such as "6 of 10 bytes" or "42 bytes without a terminator".
    public var description: String {
        let count = expected.map { "\(received) of \($0)" } ?? "\(received)"
        return "\(count) \((expected ?? received) == 1 ? "byte" : "bytes")\(note.map { " \($0)" } ?? "")"
    }
}

/// Turns frames into bytes. A value of one connection.
public protocol FrameEncoder<Frame>: SendableMetatype {
    /// What is sent.
    associatedtype Frame: Sendable

    /// Appends `frame` to `output`.
    ///
    /// - Throws: any error; nothing of the frame goes on the wire, and this value is as it was before. Errors other than
    ///   ``SocketError`` become the cause of a ``SocketError/Code/unencodable``.
    mutating func encode(_ frame: Frame, into output: inout ByteOutput) throws

    /// Whether the bytes of a frame depend on nothing but the frame and how the codec was set up. A broadcast then encodes once for all,
    /// and an `encode` that throws needs no copy of the encoder to go back to. False unless a codec says otherwise.
    static var isStateless: Bool { get }
}

extension FrameEncoder {
    /// False: an encoder is taken to keep a state unless it says otherwise.
    @inlinable public static var isStateless: Bool { false }
}

/// A wire format: makes a decoder and an encoder for each connection.
///
/// For most formats one value is both; see ``FrameCodec``, which needs two methods.
///
/// Between the wire and the user stand two steps. Bytes become frames, and frames bytes, in the decoder and the encoder, where the bytes
/// are: they must be quick. What costs more, such as taking a JSON text apart, is the step between frames and messages: it runs in the
/// task that reads or sends. In most codecs frames are the messages, and there is nothing to write; see ``MappedCodec`` for the others.
public protocol Codec: Sendable {
    /// Turns bytes into frames.
    associatedtype Decoder: FrameDecoder
    /// Turns frames into bytes.
    associatedtype Encoder: FrameEncoder
    /// What a reader gets: what ``message(from:)`` makes of a frame.
    associatedtype Message: Sendable = Decoder.Frame
    /// What is sent: what ``frame(for:)`` makes a frame of.
    associatedtype Outgoing: Sendable = Encoder.Frame

    /// A decoder for a new connection.
    func makeDecoder() -> Decoder
    /// An encoder for a new connection.
    func makeEncoder() -> Encoder

    /// Makes of a frame what its reader gets, in the reader's task. By default the frame itself.
    ///
    /// - Throws: any error. The reader gets it in place of the message, and the connection ends with it. Errors other than
    ///   ``SocketError`` become the cause of a ``SocketError/Code/protocolViolation``.
    func message(from frame: Decoder.Frame) throws -> Message

    /// Makes a frame of what is to be sent, in the sender's task, before it waits for its turn. By default what is sent is the frame.
    ///
    /// - Throws: any error; nothing is sent. Errors other than ``SocketError`` become the cause of a ``SocketError/Code/unencodable``.
    func frame(for message: Outgoing) throws -> Encoder.Frame
}

extension Codec where Message == Decoder.Frame {
    /// The frame itself.
    @inlinable @inline(__always) public func message(from frame: Decoder.Frame) -> Message { frame }
}

extension Codec where Outgoing == Encoder.Frame {
    /// The message itself.
    @inlinable @inline(__always) public func frame(for message: Outgoing) -> Encoder.Frame { message }
}

/// A codec that is its own decoder and encoder: each connection works on two copies of the value.
///
/// ```swift
/// struct TextCodec: FrameCodec {
///     func decode(from input: inout ByteInput) throws -> String? {
///         guard let length: UInt16 = input.peek() else { return nil }
///         guard let frame = input.peek(2..<2 + Int(length)) else { return nil }
///         input.skip(2 + frame.count)
///         return String(frame)
///     }
///     func encode(_ text: String, into output: inout ByteOutput) throws {
///         guard let length = UInt16(exactly: text.utf8.count) else { throw TooLong() }
///         output.append(length, .big)
///         output.append(utf8: text)
///     }
/// }
/// ```
public protocol FrameCodec<Frame>: Codec, FrameDecoder, FrameEncoder
where Decoder == Self, Encoder == Self, Message == Frame, Outgoing == Frame {}

extension FrameCodec {
    /// A copy of this value.
    @inlinable public func makeDecoder() -> Self { self }
    /// A copy of this value.
    @inlinable public func makeEncoder() -> Self { self }
}

extension SocketError {
    /// The stream ended inside a frame.
    public init(truncated pending: PendingFrame) {
        self.init(.truncated, "the peer's stream ended inside a frame: \(pending)", pending: pending)
    }

    /// The stream ended and nobody has said so, with `pending` unfinished.
    package init(unannouncedEndWith pending: PendingFrame?) {
        let rest = pending.map { ", inside a frame: \($0)" } ?? ""
        self.init(.truncated, "the peer's stream ended without TLS's close_notify\(rest)", pending: pending)
    }

    /// A frame of `size` bytes where `limit` are allowed.
    public init(frameOf size: some BinaryInteger, exceeds limit: Int) {
        self.init(.frameTooLarge, "a frame of \(size) bytes exceeds the limit of \(limit)", pending: nil)
    }
}
