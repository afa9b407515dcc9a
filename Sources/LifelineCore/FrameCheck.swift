/// A check value behind the body of a frame: its size, its byte order and how it is computed.
///
/// It is computed over the header and the body, less the first bytes if it leaves some out, and isn't part of the body.
///
/// ```swift
/// // The sum of all bytes behind the first two.
/// let check = FrameCheck(.two, .little, from: 2) { sum, bytes in bytes.reduce(sum) { $0 &+ UInt32($1) } }
/// ```
public struct FrameCheck: Sendable {
    /// The integers that a check value can be.
    public enum Width: Int, Sendable, Hashable, CaseIterable {
        /// `UInt8`.
        case one = 1
        /// `UInt16`.
        case two = 2
        /// `UInt32`.
        case four = 4
    }

    /// The size of the value.
    public let width: Width
    /// Its byte order.
    public let order: Endianness
    /// How many bytes at the beginning of the frame are left out.
    public let offset: Int
    /// The value of no bytes.
    public let initial: UInt32
    /// The value of some bytes, continued over those that follow them.
    @usableFromInline let continuing: @Sendable (UInt32, UnsafeRawBufferPointer) -> UInt32

    /// The bytes of the value.
    @inlinable public var byteCount: Int { width.rawValue }

    /// A check value of one's own.
    ///
    /// - Parameters:
    ///   - width: its size; of what `continuing` gives, the lowest bytes are used.
    ///   - order: its byte order; big-endian by default.
    ///   - offset: how many bytes at the beginning of the frame are left out; none by default. A negative number is taken as 0.
    ///   - initial: the value of no bytes; 0 by default.
    ///   - continuing: given the value of some bytes, the value of those and the ones that follow, as zlib's `crc32` has it. A frame comes
    ///     in one or several runs. The pointer is valid during the call only. It runs where bytes are decoded, so it should be quick.
    public init(
        _ width: Width, _ order: Endianness = .big, from offset: Int = 0, startingWith initial: UInt32 = 0,
        continuing: @escaping @Sendable (UInt32, UnsafeRawBufferPointer) -> UInt32
    ) {
        self.width = width
        self.order = order
        self.offset = Swift.max(0, offset)
        self.initial = initial
        self.continuing = continuing
    }

    /// One byte: the exclusive or of all bytes from `offset` on.
    public static func xor(from offset: Int = 0) -> FrameCheck {
        FrameCheck(.one, from: offset) { value, bytes in
            var sum = UInt8(truncatingIfNeeded: value)
            for byte in bytes { sum ^= byte }
            return UInt32(sum)
        }
    }

    /// The value of a frame that stands in one run.
    @usableFromInline
    func value(of frame: UnsafeRawBufferPointer) -> UInt32 {
        masked(continuing(initial, UnsafeRawBufferPointer(rebasing: frame.dropFirst(offset))))
    }

    /// The value of a frame whose header and body stand apart.
    @usableFromInline
    func value(of header: UnsafeRawBufferPointer, _ body: Bytes) -> UInt32 {
        let value = continuing(initial, UnsafeRawBufferPointer(rebasing: header.dropFirst(offset)))
        let left = Swift.max(0, offset - header.count)
        return masked(body.withUnsafeBytes { continuing(value, UnsafeRawBufferPointer(rebasing: $0.dropFirst(left))) })
    }

    private func masked(_ value: UInt32) -> UInt32 {
        switch width {
        case .one: value & 0xFF
        case .two: value & 0xFFFF
        case .four: value
        }
    }

    /// Whether the value behind `count` bytes of header and body at the front of `input` is that of these bytes. All of them are there.
    @usableFromInline
    func holds(for count: Int, in input: ByteInput) -> Bool {
        input.withUnsafeBytes { bytes in
            value(of: UnsafeRawBufferPointer(rebasing: bytes[..<count])) == stated(at: count, in: input)
        }
    }

    private func stated(at place: Int, in input: ByteInput) -> UInt32 {
        switch width {
        case .one: UInt32(input[place])
        case .two: UInt32(input.load(UInt16.self, at: place, order))
        case .four: input.load(UInt32.self, at: place, order)
        }
    }

    @usableFromInline
    func append(_ value: UInt32, to output: inout ByteOutput) {
        switch width {
        case .one: output.append(UInt8(truncatingIfNeeded: value))
        case .two: output.append(UInt16(truncatingIfNeeded: value), order)
        case .four: output.append(value, order)
        }
    }

    /// The error for a frame of `count` bytes whose check fails.
    @usableFromInline
    func failure(of count: Int, in input: ByteInput) -> SocketError {
        let value = input.withUnsafeBytes { self.value(of: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        let found = stated(at: count, in: input)
        return SocketError(
            .protocolViolation,
            "a frame of \(count + byteCount) bytes with the check value \(hex(found)), which has to be \(hex(value))")
    }

    private func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return "0x" + String(repeating: "0", count: Swift.max(0, 2 * byteCount - digits.count)) + digits
    }
}
