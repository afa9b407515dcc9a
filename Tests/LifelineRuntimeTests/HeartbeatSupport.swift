import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

/// A connection with a heartbeat, and a peer that speaks lines.
struct Beating: Sendable {
    let world: World
    let connection: Connection<LineCodec>
    let peer: Connection<LineCodec>
    let start: Duration

    /// Virtual time since the heartbeat began.
    var time: Duration { world.now - start }

    /// The peer's next lines, each with its time; at most until `limit`.
    func heard(_ count: Int, within limit: Duration = .seconds(1000)) async throws -> [Heard] {
        var all: [Heard] = []
        while all.count < count, let line = try await peer.next(within: limit) { all.append(Heard(line, time)) }
        return all
    }

    /// Answers the peer's side of a ping-pong, each ping after `delay`, until `count` were answered; the times of the pings.
    @discardableResult
    func answer(_ count: Int, after delay: Duration = .zero) async throws -> [Duration] {
        var times: [Duration] = []
        while times.count < count, let line = try await peer.next() {
            times.append(time)
            if delay > .zero { try await world.advance(by: delay) }
            try await peer.send(line.replacing("ping", with: "pong"))
        }
        return times
    }

    /// Sends more than a slow peer takes: the first line is all that it decodes, and the pipe holds a part of the second.
    func fillPipe() async throws {
        try await connection.send("first")
        await world.settle()
        try await connection.send(String(repeating: "x", count: 1000))
        await world.settle()
    }

    /// How the connection ends, and when.
    func end() async -> (error: SocketError?, time: Duration) {
        let error = await failure { while try await connection.next() != nil {} }
        return (error, time)
    }
}

struct Heard: Equatable, Sendable, CustomStringConvertible {
    let line: String
    let time: Duration

    init(_ line: String, _ time: Duration) {
        self.line = line
        self.time = time
    }

    var description: String { "\(line) at \(time)" }
}

extension World {
    func beating(
        _ heartbeat: Heartbeat<LineCodec>, options: ConnectionOptions = ConnectionOptions(), peer: ConnectionOptions = ConnectionOptions(),
        name: String = "peer"
    ) async throws -> Beating {
        let (stream, peer) = try await streams(options: options, peer: peer, name: name)
        let far = try await peer.framed(with: .lines)
        return Beating(world: self, connection: try await stream.framed(with: .lines, heartbeat: heartbeat), peer: far, start: now)
    }

    /// Timers that are armed on all loops.
    var timerCount: Int { loops.map(\.timerCount).reduce(0, +) }
}

extension Heartbeat<LineCodec> {
    /// Lines "ping" and "pong".
    static func pings(
        every period: Duration, within limit: Duration, misses: Int = 1, anyByteCounts: Bool = true
    ) -> Self {
        .pingPong(every: period, answerWithin: limit, misses: misses, anyByteCounts: anyByteCounts, ping: "ping") { $0 == "pong" }
    }

    /// Lines "ping 1" and "pong 1", and so on.
    static func numberedPings(every period: Duration, within limit: Duration, anyByteCounts: Bool = true) -> Self {
        .pingPong(every: period, answerWithin: limit, anyByteCounts: anyByteCounts) {
            "ping \($0)"
        } pongNumber: {
            $0.hasPrefix("pong ") ? UInt32($0.dropFirst(5)) : nil
        }
    }
}
