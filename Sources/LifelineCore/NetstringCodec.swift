/// Netstrings: the length in decimal digits, a colon, the bytes, a comma.
///
/// - Wire layout: `5:hello,`. The empty frame is `0:,`.
/// - Strict: no length but `0` begins with a zero, and nothing else stands beside the digits.
/// - Frames are the bytes between colon and comma. They share the storage of the read they came from.
/// - Limits: 1 MiB received and 1 MiB sent, counted without length, colon and comma. A frame of exactly that size is legal. A length is
///   refused with the first digit that takes it above the limit, so the limit bounds the digits, too.
/// - Errors on receipt, with the first byte that is wrong: ``SocketError/Code/frameTooLarge`` above the limit,
///   ``SocketError/Code/protocolViolation`` for a byte that is no digit, a leading zero or a missing comma;
///   ``SocketError/Code/truncated`` if the stream ends inside a frame.
/// - Errors on sending: ``SocketError/Code/frameTooLarge``, with nothing written.
public struct NetstringCodec: FrameCodec {
    /// The most bytes that a received frame may have.
    public let max: Int
    /// The most bytes that a sent frame may have.
    public let maxOutgoing: Int

    /// The limit of either direction unless one is given: 1 MiB.
    @inlinable public static var defaultMax: Int { 1024 * 1024 }

    /// A codec with these limits.
    ///
    /// - Parameters:
    ///   - max: the most bytes of a received frame; 1 MiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent frame; the same as `max` if nil.
    public init(max: Int = defaultMax, maxOutgoing: Int? = nil) {
        // With one more digit a number within this is still one.
        self.max = Swift.max(0, Swift.min(max, 1 << 59))
        self.maxOutgoing = Swift.max(0, Swift.min(maxOutgoing ?? max, 1 << 59))
    }

    /// Takes the next frame; nil if more bytes are needed.
    @inlinable
    public func decode(from input: inout ByteInput) throws(SocketError) -> Bytes? {
        guard let length = try length(in: input), length.value &+ length.byteCount < input.count else { return nil }
        let end = length.byteCount &+ length.value
        guard input[end] == 0x2C else { throw Self.noComma(input[end], after: length.value) }
        let frame = Bytes(storage: input.storage, offset: input.lower &+ length.byteCount, count: length.value)
        input.lower &+= end &+ 1
        return frame
    }

    /// A length with its colon.
    @usableFromInline
    struct Length {
        @usableFromInline let value: Int
        @usableFromInline let byteCount: Int

        @inlinable
        init(value: Int, byteCount: Int) {
            self.value = value
            self.byteCount = byteCount
        }
    }

    /// The length at the front; nil if its colon isn't there yet.
    @inlinable
    func length(in input: ByteInput) throws(SocketError) -> Length? {
        var value = 0
        var place = 0
        while place < input.count {
            let byte = input[place]
            let digit = byte &- 0x30
            if digit > 9 {
                guard byte == 0x3A, place > 0 else { throw Self.noDigit(byte, at: place) }
                return Length(value: value, byteCount: place &+ 1)
            }
            guard place == 0 || value > 0 else { throw SocketError(.protocolViolation, "the length of a netstring begins with a zero") }
            value = value &* 10 &+ Int(digit)
            guard value <= max else { throw tooLarge(value) }
            place &+= 1
        }
        return nil
    }

    @usableFromInline
    static func noDigit(_ byte: UInt8, at place: Int) -> SocketError {
        SocketError(.protocolViolation, "byte \(byte) where \(place == 0 ? "a digit" : "a digit or a colon") of a netstring should be")
    }

    @usableFromInline
    static func noComma(_ byte: UInt8, after length: Int) -> SocketError {
        SocketError(.protocolViolation, "byte \(byte) instead of the comma behind a netstring of \(length) bytes")
    }

    /// Further digits may follow.
    @usableFromInline
    func tooLarge(_ beginning: Int) -> SocketError {
        SocketError(.frameTooLarge, "a netstring whose length begins with \(beginning) exceeds the limit of \(max)")
    }

    /// What has arrived of the frame and its comma, and what it will have: "6 of 11 bytes". The length isn't counted, unless it is what is
    /// unfinished: "2 bytes of the length".
    public func pending(in input: ByteInput) -> PendingFrame? {
        if input.isEmpty { return nil }
        guard let length = try? length(in: input) else { return PendingFrame(received: input.count, note: "of the length") }
        return PendingFrame(received: input.count - length.byteCount, expected: length.value + 1)
    }

    /// Appends length, colon, `frame` and comma.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` above the limit, with nothing written.
    @inlinable
    public func encode(_ frame: Bytes, into output: inout ByteOutput) throws(SocketError) {
        guard frame.count <= maxOutgoing else { throw SocketError(frameOf: frame.count, exceeds: maxOutgoing) }
        var unit = 1
        while frame.count / unit > 9 { unit &*= 10 }
        while unit > 0 {
            output.append(0x30 &+ UInt8(truncatingIfNeeded: frame.count / unit % 10))
            unit /= 10
        }
        output.append(0x3A as UInt8)
        output.append(frame)
        output.append(0x2C as UInt8)
    }

    /// True: a frame's bytes depend on the frame alone.
    @inlinable public static var isStateless: Bool { true }
}

extension Codec where Self == NetstringCodec {
    /// Netstrings, such as `5:hello,`: 1 MiB at most.
    public static var netstring: NetstringCodec { NetstringCodec() }

    /// Netstrings, such as `5:hello,`.
    ///
    /// - Parameters:
    ///   - max: the most bytes of a received frame; 1 MiB by default.
    ///   - maxOutgoing: the same for a sent frame; the same as `max` if nil.
    public static func netstring(max: Int = NetstringCodec.defaultMax, maxOutgoing: Int? = nil) -> NetstringCodec {
        NetstringCodec(max: max, maxOutgoing: maxOutgoing)
    }
}
