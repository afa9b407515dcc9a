/// A packet's header of a fixed number of bytes, one field of which tells how long the body behind it is.
///
/// ``HeaderCodec`` makes a codec of it. What is written by hand looks like this; the `GenerateHeaders` plugin makes it from the C struct:
///
/// ```swift
/// struct ChatHeader: FixedHeader {
///     var kind: UInt16
///     private var length: UInt32 = 0
///
///     static var byteCount: Int { 6 }
///     init(kind: UInt16) { self.kind = kind }
///     init(from input: ByteInput) {
///         kind = input.load(at: 0, .little)
///         length = input.load(at: 2, .little)
///     }
///     func write(to output: inout ByteOutput) {
///         output.append(kind, .little)
///         output.append(length, .little)
///     }
///     var bodyCount: Int? { Int(exactly: length) }
///     mutating func setBodyCount(_ count: Int) throws(SocketError) { length = try Self.length(count) }
/// }
/// ```
public protocol FixedHeader: Sendable {
    /// The header's bytes on the wire; at least 1.
    static var byteCount: Int { get }

    /// Reads the header at the front of `input`, which has at least ``byteCount`` bytes. Every value of the bytes must be taken.
    init(from input: ByteInput)

    /// Appends exactly ``byteCount`` bytes.
    func write(to output: inout ByteOutput)

    /// How many bytes of body the header announces; nil for a number that can't be meant, such as a negative one or one that is less
    /// than what it has to count. The number is compared with a limit before anything is done with it.
    var bodyCount: Int? { get }

    /// Lets the header announce `count` bytes of body.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` if the field can't hold the number.
    mutating func setBodyCount(_ count: Int) throws

    /// Whether the other fields look like those of a header, which tells headers from garbage when a stream has lost its borders.
    /// True unless a type says otherwise.
    var isPlausible: Bool { get }

    /// What ``bodyCount`` says of the header at the front of `input`, which has at least ``byteCount`` bytes; nil also for one that isn't
    /// plausible.
    ///
    /// By default the header is read for it. A search behind garbage asks this at each byte, so that a type whose initialiser takes memory,
    /// for an array say, should look at the numbers alone.
    static func bodyCount(in input: ByteInput) -> Int?
}

extension FixedHeader {
    /// True.
    @inlinable public var isPlausible: Bool { true }

    /// Reads the header and asks it.
    @inlinable
    public static func bodyCount(in input: ByteInput) -> Int? {
        let header = Self(from: input)
        return header.isPlausible ? header.bodyCount : nil
    }

    /// `count` as the value of a length field, plus what the field counts beside the body.
    ///
    /// - Throws: ``SocketError/Code/unencodable`` if the field can't hold it.
    @inlinable
    public static func length<Field: FixedWidthInteger>(_ count: Int, plus more: Int = 0) throws(SocketError) -> Field {
        let (sum, isTooLarge) = count.addingReportingOverflow(more)
        guard !isTooLarge, sum >= 0, let field = Field(exactly: sum) else {
            throw SocketError(.unencodable, "a body of \(count) bytes is more than the header's length field can hold")
        }
        return field
    }
}
