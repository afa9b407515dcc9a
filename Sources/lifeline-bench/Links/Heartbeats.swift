import CLifelineBench
import Glibc
import Lifeline
import LifelineRuntime
import LifelineSockets

/// What the links that are kept up do.
enum BeatKind: String, CaseIterable, Sendable {
    /// Nothing: what the links and the loop cost by themselves.
    case none
    /// A line every period.
    case oneWay = "one-way"
    /// A ping every period, and its pong.
    case pingPong = "ping-pong"

    func heartbeat(every period: Duration) -> Heartbeat<LineCodec> {
        switch self {
        case .none: .none
        case .oneWay: .oneWay(every: period, sending: "beat")
        case .pingPong: .pingPong(every: period, answerWithin: period / 3, ping: "ping") { $0 == "pong" }
        }
    }
}

extension Role {
    static let links = "as-links"

    /// Keeps links up and prints what that takes.
    static func keepLinks(_ arguments: [String]) async throws {
        guard arguments.count == 4, let kind = BeatKind(rawValue: arguments[0]), let count = Int(arguments[1]),
            let period = Double(arguments[2]), let seconds = Double(arguments[3])
        else { throw Trouble("\(links) KIND COUNT PERIOD SECONDS") }
        let loops = EventLoops(count: 1)
        let loop = loops.next()
        let network = AnsweringNetwork(loop: loop)
        let before = llb_anonymous_bytes(getpid())
        var links: [Supervisor<LineCodec>] = []
        links.reserveCapacity(count)
        let start = ContinuousClock.now
        for number in 0..<count {
            let link = Supervisor(
                endpoint: .inMemory("peer"), codec: .lines, on: network, heartbeat: kind.heartbeat(every: .seconds(period)))
            await link.start()
            links.append(link)
            // Their beats are spread over the period.
            let ahead = Double(number) / Double(count) * period - (.now - start) / .seconds(1)
            if ahead > 0.002 { poll(nil, 0, Int32(ahead * 1000)) }
        }
        let bytes = Double(llb_anonymous_bytes(getpid()) - before) / Double(count)
        let first = try await reading(loop, network.writes)
        poll(nil, 0, Int32(seconds * 1000))
        let last = try await reading(loop, network.writes)
        let time = (last.time - first.time) / .seconds(1)
        let beats = last.beats - first.beats
        guard links.allSatisfy({ $0.status == .connected }) else { throw Trouble("links were lost") }
        say(
            "bytes \(bytes) share \((last.processor - first.processor) / time) beats \(Double(beats) / time) "
                + "turns \(Double(last.turns - first.turns) / time)")
    }

    private struct Reading: Sendable {
        let time: ContinuousClock.Instant
        let processor: Double
        let beats: UInt64
        let turns: UInt64
    }

    private static func reading(_ loop: PollingEventLoop, _ writes: AnsweringNetwork.Writes) async throws -> Reading {
        let reading = OneShot<Reading>()
        loop.submit {
            reading.succeed(Reading(time: .now, processor: llb_thread_seconds(), beats: writes.count, turns: loop.turnCount))
        }
        return try await reading.value()
    }
}

/// Measures each kind in a process of its own.
struct HeartbeatComparison {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> FigureTable {
        let (links, period) = (options.links, options.period)
        var table = FigureTable(
            title: "\(links) supervised links on one event loop, period \(period.fixed(1)) s, counted for \(options.seconds.fixed(1)) s",
            columns: [
                .init("% of a core", "percent", digits: 2), .init("µs per beat", "usPerBeat", digits: 2),
                .init("beats /s", "beats", digits: 0), .init("turns /s", "turns", digits: 0), .init("bytes a link", "bytes", digits: 0),
            ])
        for kind in BeatKind.allCases {
            let child = try Child(
                [Role.links, kind.rawValue, "\(links)", "\(period)", "\(options.seconds)"], core: -1,
                limit: 2 * period + options.seconds + 120)
            let words = try child.line(within: 2 * period + options.seconds + 100).split(separator: " ")
            let values = stride(from: 1, to: words.count, by: 2).compactMap { Double(words[$0]) }
            guard values.count == 4 else { throw Trouble("what is \(words)?") }
            let (bytes, share, beats, turns) = (values[0], values[1], values[2], values[3])
            table.rows.append((kind.rawValue, [share * 100, beats > 0 ? share / beats * 1e6 : nil, beats, turns, bytes]))
        }
        return table
    }
}
