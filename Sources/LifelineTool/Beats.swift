import Lifeline

/// What `--heartbeat`, `--answer` and `--ignore` ask for. Their frames are written as lines are typed, with escapes.
struct Beats: Sendable {
    private struct Own: Sendable {
        let period: Duration
        let isAtOnce: Bool
        /// The time for an answer; nil if none is expected.
        let limit: Duration?
        let ping: ShellFrame
        /// Nil if the answer has the number of its ping, or if none is expected.
        let pong: ShellFrame?
    }

    private struct Answer: Sendable {
        let ping: ShellFrame
        /// Nil for the ping itself.
        let pong: ShellFrame?
    }

    private var own: Own?
    private var answers: [Answer] = []
    private var ignored: [ShellFrame] = []
    private let numbering: Numbering?

    /// - Throws: ``UsageError`` for what can't be understood, or can't be sent with the codec.
    init(_ options: LinkOptions, _ framing: Framing) throws(UsageError) {
        let reader = FrameReader(framing: framing)
        numbering = framing.lines.numbering
        if let text = options.heartbeat { own = try Self.own(text, reader) }
        for text in options.answers {
            let (ping, pong) = try reader.pair(text, of: "--answer")
            answers.append(Answer(ping: ping, pong: pong))
        }
        for text in options.ignored { ignored.append(try reader.frame(text, of: "--ignore")) }
    }

    private static func own(_ text: String, _ reader: FrameReader) throws(UsageError) -> Own {
        let usage = "--heartbeat takes SECONDS:BEAT, 0+SECONDS:BEAT or SECONDS/SECONDS:PING=PONG, not \(text)"
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw UsageError(usage) }
        let isAtOnce = parts[0].hasPrefix("0+")
        let times = parts[0].dropFirst(isAtOnce ? 2 : 0).split(separator: "/", omittingEmptySubsequences: false)
        let durations = times.compactMap { Duration(seconds: $0) }.filter { $0 > .zero }
        guard durations.count == times.count, (1...2).contains(times.count) else { throw UsageError(usage) }
        if times.count == 1 {
            let beat = try reader.frame(parts[1], of: "--heartbeat")
            return Own(period: durations[0], isAtOnce: isAtOnce, limit: nil, ping: beat, pong: nil)
        }
        let (ping, pong) = try reader.pair(parts[1], of: "--heartbeat")
        return Own(period: durations[0], isAtOnce: isAtOnce, limit: durations[1], ping: ping, pong: pong)
    }

    /// The heartbeat of connections with `codec`.
    func heartbeat<C: ShellCodec>(for codec: C) -> Heartbeat<C> {
        var heartbeat = ownBeats(for: codec)
        let beats = self
        for answer in answers {
            heartbeat = heartbeat.and(
                .answering { frame in
                    guard let frame = try? codec.message(from: frame), beats.isAlike(frame, answer.ping) else { return nil }
                    return answer.pong ?? frame
                })
        }
        for beat in ignored {
            heartbeat = heartbeat.and(.dropping { (try? codec.message(from: $0)).map { beats.isAlike($0, beat) } ?? false })
        }
        return heartbeat
    }

    private func ownBeats<C: ShellCodec>(for codec: C) -> Heartbeat<C> {
        guard let own else { return .none }
        let beats = self
        guard let limit = own.limit else { return .oneWay(every: own.period, atOnce: own.isAtOnce, sending: own.ping) }
        if let pong = own.pong {
            return .pingPong(every: own.period, answerWithin: limit, atOnce: own.isAtOnce, ping: own.ping) { frame in
                (try? codec.message(from: frame)).map { beats.isAlike($0, pong) } ?? false
            }
        }
        return .pingPong(every: own.period, answerWithin: limit, atOnce: own.isAtOnce) { number in
            var ping = own.ping
            if let numbering = beats.numbering, let header = ping.header { ping.header = numbering.numbered(header, number) }
            return ping
        } pongNumber: { frame in
            guard let frame = try? codec.message(from: frame), beats.isAlike(frame, own.ping), let header = frame.header else { return nil }
            return beats.numbering?.number(header)
        }
    }

    /// Whether `frame` is the one that was written as `pattern`. Where frames are numbered the header counts, without its number.
    func isAlike(_ frame: ShellFrame, _ pattern: ShellFrame) -> Bool {
        if let numbering, let header = frame.header, let wanted = pattern.header {
            return numbering.numbered(header, 0) == numbering.numbered(wanted, 0)
        }
        return frame.header == pattern.header && frame.body == pattern.body
    }
}

/// Reads frames of the command line.
struct FrameReader {
    let framing: Framing

    /// - Throws: ``UsageError`` for one that the codec can't send.
    func frame(_ text: some StringProtocol, of option: String) throws(UsageError) -> ShellFrame {
        do {
            let frame = try framing.lines.frame(ofWord: text)
            try framing.codec.check(frame)
            return frame
        } catch {
            throw UsageError("\(option): \((error as? SocketError)?.message ?? "\(error)")")
        }
    }

    /// A ping and its pong, with a `=` between them; the ping alone where frames are numbered.
    func pair(_ text: some StringProtocol, of option: String) throws(UsageError) -> (ping: ShellFrame, pong: ShellFrame?) {
        if framing.lines.numbering != nil { return (try frame(text, of: option), nil) }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw UsageError("\(option) needs the answer, too: \(text)=PONG") }
        return (try frame(parts[0], of: option), try frame(parts[1], of: option))
    }
}
