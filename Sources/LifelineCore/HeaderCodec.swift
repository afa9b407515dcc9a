/// Frames with a header of fixed size that tells how long the body behind it is: any ``FixedHeader``.
///
/// - Wire layout: `<header> <body>`, or `<header> <body> <check value>` with a ``FrameCheck``.
/// - Frames are a ``Packet`` of the header, as received, and the body. The body shares the storage of the read that it came from.
/// - Limits: 1 MiB of body received and 1 MiB sent. A body of exactly that size is legal. What a received header announces is compared as
///   soon as the header is there, before anything is waited for; no storage is ever sized by it.
/// - Errors on receipt: ``SocketError/Code/frameTooLarge`` for a body above the limit; ``SocketError/Code/protocolViolation`` for a header
///   that isn't plausible or whose length can't be meant, with the header's bytes in the message, and for a wrong check value;
///   ``SocketError/Code/truncated`` if the stream ends inside a frame. With ``HeaderedCodec/resynchronizing(budget:rejected:)``, a wrong
///   header, length or check value doesn't end the connection.
/// - Errors on sending, with nothing written: ``SocketError/Code/frameTooLarge`` for a body above the limit,
///   ``SocketError/Code/unencodable`` for a body whose length the header can't hold or a header that isn't plausible.
public struct HeaderCodec<Header: FixedHeader>: FrameCodec {
    /// The most bytes of body that a received frame may have.
    public let max: Int
    /// The most bytes of body that a sent frame may have.
    public let maxOutgoing: Int
    /// The check value behind the body, if there is one.
    public let check: FrameCheck?

    /// The limit of either direction unless one is given: 1 MiB.
    @inlinable public static var defaultMax: Int { 1024 * 1024 }

    /// The bytes behind the body.
    @usableFromInline let trailer: Int

    /// A codec for a type of header. A type whose headers have no bytes is a fault of the program.
    ///
    /// - Parameters:
    ///   - max: the most bytes of a received body; 1 MiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent body; the same as `max` if nil.
    ///   - check: the check value behind the body; none by default.
    public init(_: Header.Type = Header.self, max: Int = defaultMax, maxOutgoing: Int? = nil, check: FrameCheck? = nil) {
        precondition(Header.byteCount > 0, "a header has at least one byte")  // Frames of no bytes would have no end.
        self.max = Swift.max(0, Swift.min(max, 1 << 60))
        self.maxOutgoing = Swift.max(0, Swift.min(maxOutgoing ?? max, 1 << 60))
        self.check = check
        trailer = check?.byteCount ?? 0
    }

    /// Takes the next packet; nil if more bytes are needed.
    @inlinable
    public func decode(from input: inout ByteInput) throws(SocketError) -> Packet<Header, Bytes>? {
        guard input.count >= Header.byteCount else { return nil }
        let header = Header(from: input)
        guard header.isPlausible, let body = header.bodyCount, isWithinLimit(body) else { throw refusal(of: header, in: input) }
        let size = Header.byteCount &+ body &+ trailer
        guard size <= input.count else { return nil }
        if let check, !check.holds(for: size &- trailer, in: input) { throw check.failure(of: size &- trailer, in: input) }
        let packet = packet(header, body: body, in: input)
        input.lower &+= size
        return packet
    }

    /// A negative number isn't, either.
    @inlinable
    func isWithinLimit(_ body: Int) -> Bool { UInt(bitPattern: body) <= UInt(bitPattern: max) }

    @inlinable
    func packet(_ header: Header, body: Int, in input: ByteInput) -> Packet<Header, Bytes> {
        Packet(header: header, body: Bytes(storage: input.storage, offset: input.lower &+ Header.byteCount, count: body))
    }

    @usableFromInline
    func refusal(of header: Header, in input: ByteInput) -> SocketError {
        let bytes = input.peek(0..<Header.byteCount)?.description ?? ""
        guard header.isPlausible else { return SocketError(.protocolViolation, "what should be a header isn't one: \(bytes)") }
        guard let body = header.bodyCount, body >= 0 else {
            return SocketError(.protocolViolation, "a header with an impossible length: \(bytes)")
        }
        return SocketError(frameOf: body, exceeds: max)
    }

    /// Appends the header, with the length of the body in it, the body and the check value.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` or ``SocketError/Code/unencodable``, with nothing written; see the type.
    @inlinable
    public func encode(_ frame: Packet<Header, Bytes>, into output: inout ByteOutput) throws {
        guard frame.body.count <= maxOutgoing else { throw SocketError(frameOf: frame.body.count, exceeds: maxOutgoing) }
        var header = frame.header
        try header.setBodyCount(frame.body.count)
        guard header.isPlausible else { throw Self.unencodable(header) }
        let start = output.count
        header.write(to: &output)
        guard output.count &- start == Header.byteCount else { throw Self.miscounted(output.count &- start) }
        guard let check else { return output.append(frame.body) }
        // Only a header that is written from a large block of its own stands elsewhere.
        guard let value = output.withLast(Header.byteCount, { check.value(of: $0, frame.body) }) else { throw Self.scattered() }
        output.append(frame.body)
        check.append(value, to: &output)
    }

    @usableFromInline
    static func unencodable(_ header: Header) -> SocketError {
        var output = ByteOutput()
        header.write(to: &output)
        return SocketError(.unencodable, "no reader takes these bytes for a header: \(output.finish())")
    }

    /// A fault of the type of header. What it wrote is taken back, as for every error.
    @usableFromInline
    static func miscounted(_ count: Int) -> SocketError {
        SocketError(.unencodable, "\(Header.self) wrote \(count) bytes instead of \(Header.byteCount)")
    }

    @usableFromInline
    static func scattered() -> SocketError {
        SocketError(.unencodable, "\(Header.self) wrote its bytes in more than one block, where a check value can't be computed")
    }

    /// What has arrived of the body and what it will have: "6 of 10 bytes"; a check value counts as a part of it. The header isn't counted,
    /// unless it is what is unfinished: "2 of 4 bytes of the header".
    public func pending(in input: ByteInput) -> PendingFrame? {
        if input.isEmpty { return nil }
        guard case .frame(let byteCount) = frameStart(in: input) else {
            return PendingFrame(received: input.count, expected: Header.byteCount, note: "of the header")
        }
        return PendingFrame(received: input.count - Header.byteCount, expected: byteCount - Header.byteCount)
    }

    /// True: a frame's bytes depend on the frame alone.
    @inlinable public static var isStateless: Bool { true }
}

extension HeaderCodec: HeaderedCodec {
    /// A frame can begin with a plausible header whose length is within the limit.
    @inlinable
    public func frameStart(in input: ByteInput) -> FrameStart {
        guard input.count >= Header.byteCount else { return .incomplete }
        guard let body = Header.bodyCount(in: input), isWithinLimit(body) else { return .impossible }
        return .frame(byteCount: Header.byteCount &+ body &+ trailer)
    }

    /// The packet; nil if the check value is wrong.
    @inlinable
    public func takeFrame(of byteCount: Int, from input: inout ByteInput) -> Packet<Header, Bytes>? {
        if let check, !check.holds(for: byteCount &- trailer, in: input) { return nil }
        let packet = packet(Header(from: input), body: byteCount &- Header.byteCount &- trailer, in: input)
        input.lower &+= byteCount
        return packet
    }

    /// Whether there is a check value.
    @inlinable public var hasCheck: Bool { trailer > 0 }
}

extension Codec {
    /// Bodies behind headers of a type of your own; see ``HeaderCodec``.
    ///
    /// - Parameters:
    ///   - type: the type of the header.
    ///   - max: the most bytes of a received body; 1 MiB by default.
    ///   - maxOutgoing: the same for a sent body; the same as `max` if nil.
    ///   - check: the check value behind the body; none by default.
    public static func headed<Header: FixedHeader>(
        by type: Header.Type, max: Int = HeaderCodec<Header>.defaultMax, maxOutgoing: Int? = nil, check: FrameCheck? = nil
    ) -> HeaderCodec<Header> where Self == HeaderCodec<Header> {
        HeaderCodec(type, max: max, maxOutgoing: maxOutgoing, check: check)
    }
}
