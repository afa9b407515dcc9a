public import LifelineCore

/// Bodies behind a JSON header that tells their size: frames are the header's other values and the body, as a `Packet`.
///
/// - Wire layout: `<JSON object> CR LF <body>`. The object's `size` is the number of bytes of the body, as a string of decimal digits or a
///   whole number. The header ends at the first CR LF; it may be spread over lines that end with LF. A body of no bytes is legal.
/// - Sent: `{"size":"62"}`, with the other values behind `size`, compact, sorted by their names.
/// - Limits: 4 KiB for a header without its CR LF, 1 MiB for a received body and 1 MiB for a sent one; exactly that size is legal. Values
///   in a header stand in each other at most 64 deep. A size is compared with the limit as soon as the header is there, and no storage
///   follows it. Nothing is searched or read twice, however it arrives.
/// - Errors on receipt: ``SocketError/Code/frameTooLarge`` for a header or a body above its limit; ``SocketError/Code/protocolViolation``
///   for a header that isn't a JSON object, has a name twice, or has no size, a negative one or one that isn't a whole number;
///   ``SocketError/Code/truncated`` at the end of the stream, such as "13 bytes of the header" or "4 of 10 bytes".
/// - Errors on sending, with nothing written: ``SocketError/Code/frameTooLarge`` for a header or a body above its limit;
///   ``SocketError/Code/unencodable`` for a header with a `size` of its own or a value that JSON doesn't have.
public struct JSONHeaderCodec: FrameCodec {
    /// The most bytes that a header may have, received or sent, without its CR LF.
    public let maxHeader: Int
    /// The most bytes that a received body may have.
    public let max: Int
    /// The most bytes that a sent body may have.
    public let maxOutgoing: Int

    /// The limit of a header unless one is given: 4 KiB.
    public static var defaultMaxHeader: Int { 4096 }
    /// The limit of a body in either direction unless one is given: 1 MiB.
    public static var defaultMax: Int { 1024 * 1024 }

    /// How far the unfinished header has been searched.
    var searched = 0
    /// The header that has been read, while its body is unfinished. Its bytes stay in the input: whoever takes over from this decoder in
    /// the middle of a frame, as a swap of codecs does, finds all of it.
    var head: Head?

    /// A codec with these limits.
    ///
    /// - Parameters:
    ///   - maxHeader: the most bytes of a header, without its CR LF; 4 KiB by default. Less than 64 is taken as 64.
    ///   - max: the most bytes of a received body; 1 MiB by default. A negative number is taken as 0.
    ///   - maxOutgoing: the same for a sent body; the same as `max` if nil.
    public init(maxHeader: Int = defaultMaxHeader, max: Int = defaultMax, maxOutgoing: Int? = nil) {
        self.maxHeader = Swift.max(64, Swift.min(maxHeader, 1 << 60))
        self.max = Swift.max(0, max)
        self.maxOutgoing = Swift.max(0, maxOutgoing ?? max)
    }

    /// Takes the next header with its body, which shares the read's storage; nil if more bytes are needed.
    public mutating func decode(from input: inout ByteInput) throws(SocketError) -> Packet<JSONHeader, Bytes>? {
        let head: Head
        if let known = self.head {
            head = known
        } else {
            guard let found = try findHead(in: input) else { return nil }
            head = found
        }
        guard head.size <= input.count - head.count else {
            self.head = head
            return nil
        }
        self.head = nil
        input.skip(head.count)
        return input.read(head.size).map { Packet(header: head.header, body: $0) }
    }

    /// What has arrived of the body and what it will have: "4 of 10 bytes". Or, if it is what is unfinished: "13 bytes of the header".
    public func pending(in input: ByteInput) -> PendingFrame? {
        if let head { return PendingFrame(received: input.count - head.count, expected: head.size) }
        return input.isEmpty ? nil : PendingFrame(received: input.count, note: "of the header")
    }

    /// Appends the header with the size of the body, CR LF and the body.
    ///
    /// - Throws: ``SocketError/Code/frameTooLarge`` or ``SocketError/Code/unencodable``, with nothing written; see the type.
    public func encode(_ packet: Packet<JSONHeader, Bytes>, into output: inout ByteOutput) throws(SocketError) {
        let size = packet.body.count
        guard size <= maxOutgoing else { throw SocketError(frameOf: size, exceeds: maxOutgoing) }
        if packet.header.values.isEmpty {
            Head.appendCanonical(size: size, to: &output)
        } else {
            let text = try Head.text(of: packet.header, size: size, max: maxHeader)
            text.withUnsafeBytes { output.append($0) }
        }
        output.append(packet.body)
    }

    /// True: a packet's bytes depend on the packet alone.
    public static var isStateless: Bool { true }
}

extension Codec where Self == JSONHeaderCodec {
    /// Bodies behind a JSON header such as `{"size":"62"}` and CR LF: 4 KiB of header and 1 MiB of body at most.
    public static var jsonHeader: JSONHeaderCodec { JSONHeaderCodec() }

    /// Bodies behind a JSON header with limits of your own; see ``JSONHeaderCodec/init(maxHeader:max:maxOutgoing:)``.
    public static func jsonHeader(
        maxHeader: Int = JSONHeaderCodec.defaultMaxHeader, max: Int = JSONHeaderCodec.defaultMax, maxOutgoing: Int? = nil
    ) -> JSONHeaderCodec {
        JSONHeaderCodec(maxHeader: maxHeader, max: max, maxOutgoing: maxOutgoing)
    }
}
