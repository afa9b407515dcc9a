// Beats of one's own. Settings that can't be meant (a period or a limit of zero or less) are refused with
// ``SocketError/Code/invalidSetting`` where the heartbeat is used.
extension Heartbeat {
    /// Sends `message` every so often and expects nothing: keeps a path through a NAT, or a server's patience, alive.
    ///
    /// - Parameters:
    ///   - period: from one beat to the next; it must be positive. Beats that the kernel takes late are left out, not made up for.
    ///   - atOnce: the first beat is sent at the start, not after the first period. Default false.
    ///   - jitter: the part of the period by which each beat may come earlier, at random, so that a fleet doesn't pulse; 0 to 0.9.
    ///     Default 0.
    public static func oneWay(every period: Duration, atOnce: Bool = false, jitter: Double = 0, sending message: C.Outgoing) -> Self {
        oneWay(every: period, atOnce: atOnce, jitter: jitter) { message }
    }

    /// As ``oneWay(every:atOnce:jitter:sending:)``, with a message made for each beat.
    public static func oneWay(
        every period: Duration, atOnce: Bool = false, jitter: Double = 0, sending message: @escaping @Sendable () -> C.Outgoing
    ) -> Self {
        Self(HeartbeatSchedule(.oneWay, every: period, isAtOnce: atOnce, jitter: jitter), beat: { _ in message() })
    }

    /// Sends `ping` every so often and expects an answer to each within `limit`, else the peer is dead.
    ///
    /// The limit counts from the moment when the kernel took the ping, and begins anew when the reader of this connection goes on after
    /// a pause, and once when the clock has jumped. One ping is out at a time: with a limit longer than the period, the next one waits for
    /// the answer. A pong that nobody waits for does no harm. Pings are sent whatever else is.
    /// - Parameters:
    ///   - period: from one ping to the next; it must be positive.
    ///   - limit: the time for an answer; it must be positive.
    ///   - misses: unanswered pings in a row that end the connection; at least 1, which is the default.
    ///   - atOnce: the first ping is sent at the start, not after the first period. Default false.
    ///   - jitter: the part of the period by which each ping may come earlier, at random; 0 to 0.9. Default 0.
    ///   - anyByteCounts: whether any byte that is heard within the limit shows that the peer lives. If not, only a pong does. Default
    ///     true.
    ///   - isPong: picks pongs out of received frames, which are kept from the reader.
    public static func pingPong(
        every period: Duration, answerWithin limit: Duration, misses: Int = 1, atOnce: Bool = false, jitter: Double = 0,
        anyByteCounts: Bool = true, ping: C.Outgoing, isPong: @escaping @Sendable (Frame) -> Bool
    ) -> Self {
        Self(
            HeartbeatSchedule(
                .pingPong, every: period, isAtOnce: atOnce, answerWithin: limit, misses: misses, jitter: jitter,
                anyByteCounts: anyByteCounts),
            beat: { _ in ping }, pong: { isPong($0) ? .yes : .no })
    }

    /// As ``pingPong(every:answerWithin:misses:atOnce:jitter:anyByteCounts:ping:isPong:)``, with numbers: only the pong with the number of
    /// the ping that is out answers it. Late, repeated and foreign ones are dropped.
    ///
    /// - Parameters:
    ///   - numberedPing: makes the ping with a number. Numbers begin at 1, and go on at 0 behind the largest.
    ///   - pongNumber: the number in a pong; nil for any other frame.
    public static func pingPong(
        every period: Duration, answerWithin limit: Duration, misses: Int = 1, atOnce: Bool = false, jitter: Double = 0,
        anyByteCounts: Bool = true, numberedPing: @escaping @Sendable (UInt32) -> C.Outgoing,
        pongNumber: @escaping @Sendable (Frame) -> UInt32?
    ) -> Self {
        Self(
            HeartbeatSchedule(
                .pingPong, every: period, isAtOnce: atOnce, answerWithin: limit, misses: misses, jitter: jitter,
                anyByteCounts: anyByteCounts),
            beat: numberedPing, pong: { pongNumber($0).map { .number($0) } ?? .no })
    }

    /// Sends nothing of its own: after each message that the user sends, something has to be heard within `limit`, else the peer is dead.
    ///
    /// The limit counts from the moment when the kernel took the message; it must be positive. Answers to the peer's pings expect nothing.
    public static func expectingAnswers(within limit: Duration) -> Self {
        Self(HeartbeatSchedule(.answeredSends, answerWithin: limit))
    }
}
