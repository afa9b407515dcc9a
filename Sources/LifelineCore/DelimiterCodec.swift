/// Frames of ``Bytes`` that end at a terminator: LF, CR LF, either, or bytes of your own. ``LineCodec`` is the same for text.
///
/// - Wire layout: `<bytes of the frame> <terminator>`. The terminator isn't part of the frame. An empty frame is a terminator alone.
/// - What ends a received frame and what is sent behind one are separate settings.
/// - Limits: 64 KiB for a received frame and 64 KiB for a sent one, counted without the terminator. A frame of exactly that size is
///   legal. Nothing is ever searched twice, however it arrives.
/// - Errors: ``SocketError/Code/frameTooLarge`` and ``SocketError/Code/truncated`` on receipt, as the rules below say;
///   ``SocketError/Code/frameTooLarge`` and ``SocketError/Code/unencodable`` on sending, with nothing written.
public struct DelimiterCodec: FrameCodec {
    /// What happens with a received frame above its limit.
    public enum OverlongRule: Sendable, Hashable {
        /// Decoding throws ``SocketError/Code/frameTooLarge`` as soon as the limit is passed, without waiting for the terminator.
        /// The connection ends.
        case fail
        /// The frame is dropped as it arrives, in the memory of one read. At its end one ``Finding/Kind/droppedFrame`` tells its size,
        /// without the terminator, and the next frame is delivered.
        case drop
    }

    /// What happens with bytes that no terminator follows when the peer's stream ends.
    public enum UnterminatedRule: Sendable, Hashable {
        /// ``SocketError/Code/truncated``, such as "42 bytes without a terminator". Frames before them are delivered.
        case fail
        /// They are the last frame. A CR at their end is part of it, whatever the terminator.
        case deliver
    }

    /// What ends a received frame.
    public let accepting: LineTerminator
    /// What is sent behind a frame.
    public let sending: Delimiter
    /// The most bytes that a received frame may have.
    public let max: Int
    /// The most bytes that a sent frame may have.
    public let maxOutgoing: Int
    /// What happens with a received frame above its limit.
    public let overlong: OverlongRule
    /// What happens with a rest at the end of the stream.
    public let unterminated: UnterminatedRule

    /// The limit of either direction unless one is given: 64 KiB.
    @inlinable public static var defaultMax: Int { 64 * 1024 }

    /// How the terminators that are accepted and sent are looked for.
    @usableFromInline let incoming: Ending
    @usableFromInline let outgoing: Ending
    /// The last byte of each.
    @usableFromInline let incomingByte: UInt8
    @usableFromInline let outgoingByte: UInt8
    /// For terminators of several bytes other than CR LF.
    @usableFromInline let search: DelimiterSearch?
    @usableFromInline let outgoingSearch: DelimiterSearch?

    /// How far the unfinished frame has been searched.
    @usableFromInline var searched: Int
    /// How many bytes of a terminator of several bytes stand right before that.
    @usableFromInline var matched: Int
    /// How much of an overlong frame has been dropped; above zero while one is.
    @usableFromInline var dropped: Int

    /// A codec with these settings.
    ///
    /// - Parameters:
    ///   - accepting: what ends a received frame.
    ///   - sending: what is sent behind a frame; LF by default, whatever is accepted.
    ///   - max: the most bytes of a received frame, without the terminator; 64 KiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent frame; the same as `max` if nil.
    ///   - overlong: what happens with a received frame above `max`; fails by default.
    ///   - unterminated: what happens with a rest at the end of the stream; fails by default.
    public init(
        accepting: LineTerminator, sending: Delimiter = .lf, max: Int = defaultMax, maxOutgoing: Int? = nil,
        overlong: OverlongRule = .fail, unterminated: UnterminatedRule = .fail
    ) {
        self.accepting = accepting
        self.sending = sending
        self.max = Swift.max(0, max)
        self.maxOutgoing = Swift.max(0, maxOutgoing ?? max)
        self.overlong = overlong
        self.unterminated = unterminated
        let delimiter: Delimiter =
            switch accepting {
            case .lf, .either: .lf
            case .crlf: .crlf
            case .delimiter(let delimiter): delimiter
            }
        incoming = accepting == .either ? .byteOrCRBefore : Ending(delimiter)
        incomingByte = delimiter.bytes[delimiter.bytes.count - 1]
        search = incoming == .several ? DelimiterSearch(delimiter.bytes) : nil
        outgoing = Ending(sending)
        outgoingByte = sending.bytes[sending.bytes.count - 1]
        outgoingSearch = outgoing == .several ? DelimiterSearch(sending.bytes) : nil
        searched = 0
        matched = 0
        dropped = 0
    }

    /// Takes the next frame, without its terminator, sharing the read's storage; nil if more bytes are needed.
    @inlinable
    public mutating func decode(from input: inout ByteInput) throws(SocketError) -> Bytes? {
        guard let line = try nextLine(in: &input) else { return nil }
        let frame = input.read(line.length)
        input.skip(line.terminator)
        return frame
    }

    /// Fails or delivers the rest, as ``unterminated`` says.
    public mutating func finish(_ input: inout ByteInput) throws(SocketError) -> Bytes? {
        guard let length = try restAtEnd(in: &input) else { return nil }
        return input.read(length)
    }

    /// The bytes of the unfinished frame, those that were dropped included: "42 bytes without a terminator".
    public func pending(in input: ByteInput) -> PendingFrame? {
        let received = dropped + input.count
        return received == 0 ? nil : PendingFrame(received: received, note: "without a terminator")
    }

    /// True: a frame's bytes depend on the frame alone.
    @inlinable public static var isStateless: Bool { true }
}

extension Codec where Self == DelimiterCodec {
    /// Frames of ``Bytes`` that end at `delimiter`.
    ///
    /// - Parameters:
    ///   - delimiter: what ends a received frame.
    ///   - sending: what is sent behind a frame; the same as `delimiter` if nil.
    ///   - max: the most bytes of a received frame, without the delimiter; 64 KiB by default.
    ///   - maxOutgoing: the same for a sent frame; the same as `max` if nil.
    ///   - overlong: what happens with a received frame above `max`; fails by default.
    ///   - unterminated: what happens with a rest at the end of the stream; fails by default.
    public static func delimited(
        by delimiter: Delimiter, sending: Delimiter? = nil, max: Int = DelimiterCodec.defaultMax, maxOutgoing: Int? = nil,
        overlong: DelimiterCodec.OverlongRule = .fail, unterminated: DelimiterCodec.UnterminatedRule = .fail
    ) -> DelimiterCodec {
        DelimiterCodec(
            accepting: .delimiter(delimiter), sending: sending ?? delimiter, max: max, maxOutgoing: maxOutgoing,
            overlong: overlong, unterminated: unterminated)
    }
}
