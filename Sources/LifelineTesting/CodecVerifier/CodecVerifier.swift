public import LifelineCore

/// Tries to break a codec, by the rules that every codec has to keep; see ``CodecFault/Rule``.
///
/// ```swift
/// var verifier = CodecVerifier(.lines(max: 64), messages: ["", "a", "grüße"])
/// verifier.unsendable = ["two\nlines"]
/// verifier.limit = .init(64, larger: .lines(max: 1024)) { String(repeating: "x", count: $0) }
/// try verifier.run()
/// ```
///
/// Messages are encoded and decoded whole, cut in two at every place, byte by byte, glued together and cut off at every length. Then
/// come ``rounds`` streams of hostile bytes: random ones, bytes that the frames are made of, and good streams with bytes changed, lost,
/// added and repeated. Everything depends on ``seed`` only. A decoder that traps ends the process: no test can catch that.
///
/// What can't be seen from outside isn't checked: how long one call computes, and memory that a decoder takes beside its input.
public struct CodecVerifier<C: Codec>: Sendable {
    /// What the end of a stream means behind bytes that no frame has taken.
    public enum Rest: Sendable, Hashable {
        /// A frame was cut: the decoder throws ``LifelineCore/SocketError/Code/truncated``.
        case isTruncated
        /// They are the last frame, if they can be one.
        case isFrame
        /// There are no borders: frames are ``LifelineCore/Bytes`` as they come, and only what they make together counts.
        case isStream
    }

    /// What a codec does with a frame above its limit.
    public enum Overlong: Sendable, Hashable {
        /// It throws, which ends the connection.
        case fails
        /// It drops the frame, reports a finding and goes on.
        case isDropped
    }

    /// A limit for the size of messages, and how to make messages of a given size.
    public struct Limit: Sendable {
        /// The most that a message may have, received or sent.
        public let size: Int
        /// What happens with a received message above it.
        public let overlong: Overlong
        /// What an unfinished frame may hold beside `size` bytes, such as a header.
        public let headroom: Int
        let isAnnounced: Bool?
        let larger: C?
        let message: @Sendable (Int) -> C.Outgoing

        /// - Parameters:
        ///   - size: the codec's limit, for both directions.
        ///   - larger: the same codec with a limit of at least four times as much, to make what must be refused; nil, and that isn't
        ///     checked on receipt, if there can't be one.
        ///   - overlong: what happens with a received message above the limit.
        ///   - isAnnounced: whether a header tells the size of what follows, so that a frame above the limit has to be refused before its
        ///     body comes; if nil, when what is pending says how many bytes are expected.
        ///   - headroom: what an unfinished frame may hold beside `size` bytes, such as a header; 64 bytes by default.
        ///   - message: makes a message of which the codec counts so many bytes.
        public init(
            _ size: Int, larger: C?, overlong: Overlong = .fails, isAnnounced: Bool? = nil, headroom: Int = 64,
            message: @escaping @Sendable (Int) -> C.Outgoing
        ) {
            self.size = Swift.max(0, size)
            self.overlong = overlong
            self.headroom = Swift.max(0, headroom)
            self.isAnnounced = isAnnounced
            self.larger = larger
            self.message = message
        }
    }

    /// The codec to try.
    public let codec: C
    /// What is sent.
    public let messages: [C.Outgoing]
    let agrees: @Sendable (C.Outgoing, C.Message) -> Bool

    /// What a rest at the end of a stream is; a cut frame by default.
    public var rest = Rest.isTruncated
    /// The codec's limit; without one, neither limits nor the memory of unfinished frames are checked.
    public var limit: Limit?
    /// Messages that the codec must refuse to send.
    public var unsendable: [C.Outgoing] = []
    /// The bytes that the peer sends for a message, if they aren't those that the codec itself sends.
    public var wire: (@Sendable (C.Outgoing) throws -> Bytes)?
    /// Whether a message that was received is the same once it is sent and received again. False for a codec that passes on how a message
    /// was written and writes it in another way, such as a header with a padded number.
    public var isRepeatable = true
    /// How many hostile streams of each kind are decoded.
    public var rounds = 100
    /// What all random choices depend on.
    public var seed: UInt64 = 1

    /// A verifier for `codec`.
    ///
    /// - Parameters:
    ///   - codec: the codec to try.
    ///   - messages: what is sent: a few, short and different, the empty one among them if there is one.
    ///   - agrees: whether what was received is what was sent.
    public init(_ codec: C, messages: [C.Outgoing], agrees: @escaping @Sendable (C.Outgoing, C.Message) -> Bool) {
        self.codec = codec
        self.messages = messages
        self.agrees = agrees
    }

    /// Checks everything.
    ///
    /// - Throws: ``CodecFault`` for the first rule that is seen broken, with the smallest input found.
    public func run() throws(CodecFault) {
        try checkEncoding()
        try checkMessages()
        try checkLimit()
        try checkRescan()
        try checkHostileStreams()
    }

    /// Checks what must hold for any bytes: feeds `stream` whole and cut, and compares. For streams of your own, or a fuzzer's.
    ///
    /// - Parameters:
    ///   - stream: what arrives.
    ///   - cuts: where a new read begins; what isn't inside the stream is left out.
    /// - Throws: ``CodecFault``, with the smallest input found.
    public func check(stream: [UInt8], cuts: [Int]) throws(CodecFault) {
        let inside = Set(cuts.filter { $0 > 0 && $0 < stream.count }).sorted()
        try check(stream, cuts: [inside], origin: "a given stream")
    }
}

extension CodecVerifier where C.Message == C.Outgoing, C.Message: Equatable {
    /// A verifier for `codec`, whose messages are the same in both directions.
    ///
    /// - Parameters:
    ///   - codec: the codec to try.
    ///   - messages: what is sent: a few, short and different, the empty one among them if there is one.
    public init(_ codec: C, messages: [C.Outgoing]) {
        self.init(codec, messages: messages) { $0 == $1 }
    }
}
