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
    package private(set) var answers: [@Sendable (Frame) -> C.Outgoing?] = []
    package private(set) var dropped: [@Sendable (Frame) -> Bool] = []
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
    public static func answering(_ answer: @escaping @Sendable (Frame) -> C.Outgoing?) -> Self {
        var heartbeat = Self()
        heartbeat.answers = [answer]
        return heartbeat
    }

    /// Answers each frame that `isPing` picks with `pong`, and keeps it from the reader.
    public static func answering(_ isPing: @escaping @Sendable (Frame) -> Bool, with pong: C.Outgoing) -> Self {
        answering { isPing($0) ? pong : nil }
    }

    /// Keeps frames that `isBeat` picks from the reader, such as the peer's one-way beats.
    public static func dropping(where isBeat: @escaping @Sendable (Frame) -> Bool) -> Self {
        var heartbeat = Self()
        heartbeat.dropped = [isBeat]
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
        both.answers += other.answers
        both.dropped += other.dropped
        return both
    }

    /// Whether there is nothing to do.
    package var isNone: Bool { schedule == nil && answers.isEmpty && dropped.isEmpty }

    /// Throws ``SocketError/Code/invalidSetting`` for what can't be meant.
    package func validate() throws(SocketError) {
        if hasTwoSchedules { throw SocketError(.invalidSetting, "a connection has one heartbeat of its own, not two") }
        if let fault = schedule?.fault { throw SocketError(.invalidSetting, fault) }
    }
}
