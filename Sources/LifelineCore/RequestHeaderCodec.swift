/// Requests and responses behind a header of four integers.
///
/// - Wire layout: `int32 length | int32 serial | int32 command | int32 code | body`, big-endian by default. By default the length counts
///   the whole packet, the 16 bytes of the header included; it can count the body alone.
/// - Frames are a ``Packet`` of a ``RequestHeader`` and the body. The body shares the storage of the read that it came from.
/// - Limits: 1 MiB of body received and 1 MiB sent, not counting the header. A body of exactly that size is legal. A received length is
///   compared as soon as the header is there, before anything is waited for; no storage is ever sized by it.
/// - Errors on receipt: ``SocketError/Code/frameTooLarge`` for a body above the limit, ``SocketError/Code/protocolViolation`` for a length
///   that is negative or less than the header that it counts, ``SocketError/Code/truncated`` if the stream ends inside a packet.
/// - Errors on sending, with nothing written: ``SocketError/Code/frameTooLarge`` for a body above the limit or beyond what the length
///   can say.
public struct RequestHeaderCodec: FrameCodec {
    /// What the length counts.
    public enum Counts: Sendable, Hashable, CaseIterable {
        /// Header and body.
        case wholePacket
        /// The body alone.
        case body
    }

    /// The byte order of all four integers.
    public let order: Endianness
    /// What the length counts.
    public let counts: Counts
    /// The most bytes of body that a received packet may have.
    public let max: Int
    /// The most bytes of body that a sent packet may have.
    public let maxOutgoing: Int

    /// The limit of either direction unless one is given: 1 MiB.
    @inlinable public static var defaultMax: Int { 1024 * 1024 }
    /// The bytes of the header: 16.
    @inlinable public static var headerByteCount: Int { 16 }

    /// What the length counts beside the body.
    @usableFromInline let counted: Int
    /// The most that may be sent: within the limit and within what the length can say.
    @usableFromInline let mostOutgoing: Int

    /// A codec with these settings.
    ///
    /// - Parameters:
    ///   - order: the byte order of the header; big-endian by default.
    ///   - counts: what the length counts; the whole packet by default.
    ///   - max: the most bytes of a received body; 1 MiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent body; the same as `max` if nil.
    public init(_ order: Endianness = .big, counts: Counts = .wholePacket, max: Int = defaultMax, maxOutgoing: Int? = nil) {
        self.order = order
        self.counts = counts
        self.max = Swift.max(0, Swift.min(max, 1 << 60))
        self.maxOutgoing = Swift.max(0, Swift.min(maxOutgoing ?? max, 1 << 60))
        counted = counts == .wholePacket ? Self.headerByteCount : 0
        mostOutgoing = Swift.min(self.maxOutgoing, Int(Int32.max) - counted)
    }

    /// Takes the next packet; nil if more bytes are needed.
    @inlinable
    public func decode(from input: inout ByteInput) throws(SocketError) -> Packet<RequestHeader, Bytes>? {
        guard input.count >= 4 else { return nil }
        let body = bodyCount(in: input)
        guard isWithinLimit(body) else { throw refusal(of: body) }
        let size = Self.headerByteCount &+ body
        guard size <= input.count else { return nil }
        let packet = packet(body: body, in: input)
        input.lower &+= size
        return packet
    }

    /// What the length says, negative or not.
    @inlinable
    func bodyCount(in input: ByteInput) -> Int { Int(input.load(Int32.self, at: 0, order)) &- counted }

    /// A negative number isn't, either.
    @inlinable
    func isWithinLimit(_ body: Int) -> Bool { UInt(bitPattern: body) <= UInt(bitPattern: max) }

    @inlinable
    func packet(body: Int, in input: ByteInput) -> Packet<RequestHeader, Bytes> {
        let header = RequestHeader(
            serial: input.load(at: 4, order), command: input.load(at: 8, order), code: input.load(at: 12, order))
        return Packet(
            header: header, body: Bytes(storage: input.storage, offset: input.lower &+ Self.headerByteCount, count: body))
    }

    @usableFromInline
    func refusal(of body: Int) -> SocketError {
        if body >= 0 { return SocketError(frameOf: body, exceeds: max) }
        return SocketError(.protocolViolation, "a length of \(body + counted), which has to be at least \(counted)")
    }

    /// Appends header and body.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge``, with nothing written.
    @inlinable
    public func encode(_ frame: Packet<RequestHeader, Bytes>, into output: inout ByteOutput) throws(SocketError) {
        guard frame.body.count <= mostOutgoing else { throw SocketError(frameOf: frame.body.count, exceeds: mostOutgoing) }
        output.append(Int32(truncatingIfNeeded: frame.body.count &+ counted), order)
        output.append(frame.header.serial, order)
        output.append(frame.header.command, order)
        output.append(frame.header.code, order)
        output.append(frame.body)
    }

    /// What has arrived of the body and what it will have: "6 of 10 bytes". The header isn't counted, unless it is what is unfinished:
    /// "2 of 16 bytes of the header".
    public func pending(in input: ByteInput) -> PendingFrame? {
        if input.isEmpty { return nil }
        guard input.count >= Self.headerByteCount, case .frame(let byteCount) = frameStart(in: input) else {
            return PendingFrame(received: input.count, expected: Self.headerByteCount, note: "of the header")
        }
        return PendingFrame(received: input.count - Self.headerByteCount, expected: byteCount - Self.headerByteCount)
    }

    /// True: a packet's bytes depend on the packet alone.
    @inlinable public static var isStateless: Bool { true }
}

extension RequestHeaderCodec: HeaderedCodec {
    /// A packet can begin with a length that is possible and within the limit.
    @inlinable
    public func frameStart(in input: ByteInput) -> FrameStart {
        guard input.count >= 4 else { return .incomplete }
        let body = bodyCount(in: input)
        return isWithinLimit(body) ? .frame(byteCount: Self.headerByteCount &+ body) : .impossible
    }

    /// The packet.
    @inlinable
    public func takeFrame(of byteCount: Int, from input: inout ByteInput) -> Packet<RequestHeader, Bytes>? {
        let packet = packet(body: byteCount &- Self.headerByteCount, in: input)
        input.lower &+= byteCount
        return packet
    }
}

extension Codec where Self == RequestHeaderCodec {
    /// Requests and responses behind a 16-byte header: big-endian, the length counts the whole packet, 1 MiB of body at most.
    public static var requestHeader: RequestHeaderCodec { RequestHeaderCodec() }

    /// Requests and responses behind a 16-byte header, with settings of your own; see ``RequestHeaderCodec``.
    ///
    /// - Parameters:
    ///   - order: the byte order of the header; big-endian by default.
    ///   - counts: what the length counts; the whole packet by default.
    ///   - max: the most bytes of a received body; 1 MiB by default.
    ///   - maxOutgoing: the same for a sent body; the same as `max` if nil.
    public static func requestHeader(
        _ order: Endianness = .big, counts: RequestHeaderCodec.Counts = .wholePacket, max: Int = RequestHeaderCodec.defaultMax,
        maxOutgoing: Int? = nil
    ) -> RequestHeaderCodec {
        RequestHeaderCodec(order, counts: counts, max: max, maxOutgoing: maxOutgoing)
    }
}
