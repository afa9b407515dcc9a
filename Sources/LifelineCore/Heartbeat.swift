/// What a connection sends to show that it lives, and what it expects of its peer. Given to `Supervisor`, `Connection.connect`,
/// `Server.bind` or `ByteStream.framed`.
///
/// ```swift
/// .oneWay(every: .seconds(30), sending: "alive")
/// .pingPong(every: .seconds(5), answerWithin: .seconds(3), ping: "ping") { $0 == "pong" }
/// .answering({ $0 == "ping" }, with: "pong").and(.dropping { $0 == "alive" })
/// ```
///
/// Pings, pongs and dropped frames don't reach the connection's reader. They are handled whether or not it reads, as long as the inbox
/// isn't full: then reading pauses, no ping is sent, and no silence counts against the peer. What a heartbeat sends passes the outbox's
/// high mark. One beat and one answer to the peer wait there at most: while the kernel hasn't taken a beat no other is sent, and of
/// several pings that come meanwhile the newest is answered.
///
/// A peer found dead ends the connection at once with ``SocketError/Code/heartbeatMissed``, without a close in good order. The heartbeat
/// ends with the connection's reading, and with a swap to another codec.
///
/// On the system's event loops a beat, and a limit, may be up to 10 ms late where the times are a second and more: so those of many
/// connections share a wake-up.
///
/// The closures see frames as the decoder makes them, on the connection's event loop: they must be quick.
public struct Heartbeat<C: Codec>: Sendable {
    /// What the decoder makes.
    public typealias Frame = C.Decoder.Frame

    /// Whether a frame is a pong.
    package enum Pong: Sendable, Equatable {
        case no
        /// Of the ping that is out.
        case yes
        /// Of the ping with this number.
        case number(UInt32)
    }

    package private(set) var schedule: HeartbeatSchedule?
    package private(set) var beat: (@Sendable (UInt32) -> C.Outgoing)?
    package private(set) var pong: (@Sendable (Frame) -> Pong)?
    /// True, and the answer is set, if there is one to this frame.
    package private(set) var answer: (@Sendable (Frame, inout C.Outgoing?) -> Bool)?
    package private(set) var isDropped: (@Sendable (Frame) -> Bool)?
    private var hasTwoSchedules = false

    private init() {}

    init(
        _ schedule: HeartbeatSchedule, beat: (@Sendable (UInt32) -> C.Outgoing)? = nil, pong: (@Sendable (Frame) -> Pong)? = nil
    ) {
        self.schedule = schedule
        self.beat = beat
        self.pong = pong
    }

    /// No heartbeat.
    public static var none: Self { Self() }

    /// Answers each frame that `answer` gives something for, and keeps it from the reader.
    @inlinable
    public static func answering(_ answer: @escaping @Sendable (Frame) -> C.Outgoing?) -> Self {
        // Inlined, so that no optional of an unknown type is made for each frame.
        Self(answer: { frame, result in
            guard let message = answer(frame) else { return false }
            result = message
            return true
        })
    }

    @usableFromInline
    init(answer: @escaping @Sendable (Frame, inout C.Outgoing?) -> Bool) { self.answer = answer }

    /// Answers each frame that `isPing` picks with `pong`, and keeps it from the reader.
    public static func answering(_ isPing: @escaping @Sendable (Frame) -> Bool, with pong: C.Outgoing) -> Self {
        Self(answer: { frame, result in
            guard isPing(frame) else { return false }
            result = pong
            return true
        })
    }

    /// Keeps frames that `isBeat` picks from the reader, such as the peer's one-way beats.
    public static func dropping(where isBeat: @escaping @Sendable (Frame) -> Bool) -> Self {
        var heartbeat = Self()
        heartbeat.isDropped = isBeat
        return heartbeat
    }

    /// This and `other`: beats of one's own from one of the two, answers and dropped frames from both.
    public func and(_ other: Self) -> Self {
        var both = self
        both.hasTwoSchedules = hasTwoSchedules || other.hasTwoSchedules || schedule != nil && other.schedule != nil
        if schedule == nil {
            both.schedule = other.schedule
            both.beat = other.beat
            both.pong = other.pong
        }
        if let first = answer, let second = other.answer {
            both.answer = { frame, result in first(frame, &result) || second(frame, &result) }
        } else {
            both.answer = answer ?? other.answer
        }
        if let first = isDropped, let second = other.isDropped {
            both.isDropped = { first($0) || second($0) }
        } else {
            both.isDropped = isDropped ?? other.isDropped
        }
        return both
    }

    /// Whether there is nothing to do.
    package var isNone: Bool { schedule == nil && answer == nil && isDropped == nil }

    /// Throws ``SocketError/Code/invalidSetting`` for what can't be meant.
    package func validate() throws(SocketError) {
        if hasTwoSchedules { throw SocketError(.invalidSetting, "a connection has one heartbeat of its own, not two") }
        if let fault = schedule?.fault { throw SocketError(.invalidSetting, fault) }
    }
}
