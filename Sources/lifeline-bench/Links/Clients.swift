import CLifelineBench
import Glibc
import Lifeline
import LifelineCore
import LifelineRuntime

/// The clients that are compared. All keep so many messages on the way to a server that sends back what comes.
enum ClientKind: String, CaseIterable, Sendable {
    /// The load in C, which counts bytes.
    case raw
    /// `send` and `next` in one task.
    case framed
    /// The same, with a heartbeat that looks at each frame.
    case framedHeartbeat = "framed-heartbeat"
    /// The same over a supervisor.
    case supervised
    /// A `request` after the other, in as many tasks as there are messages on the way.
    case requests
    /// As the others of their names, in tasks on the event loop.
    case framedOnLoop = "framed-loop"
    case requestsOnLoop = "requests-loop"

    private typealias Message = Packet<RequestHeader, Bytes>
    private typealias Codec = RequestHeaderCodec

    /// Messages per second.
    func run(port: UInt16, inFlight: Int, seconds: Double) async throws -> Double {
        switch self {
        case .raw:
            var options = llb_load_options(
                port: port, connections: 1, payload: UInt32(Self.bodySize + 12), in_flight: UInt32(inFlight), warm_up: Role.warmUp,
                seconds: seconds)
            var result = llb_load_result()
            guard llb_load(&options, &result) == 0 else { exit(1) }
            return result.rate
        case .framed, .framedOnLoop:
            return try await Self.inTasks(1, port, seconds, onLoop: self == .framedOnLoop) {
                try await Self.exchange($0, inFlight: inFlight, during: $1)
            }
        case .framedHeartbeat:
            let ping = Message(header: RequestHeader(command: 9), body: Bytes())
            let heartbeat = Heartbeat<Codec>.pingPong(every: .seconds(30), answerWithin: .seconds(30), ping: ping) {
                $0.header.command == 9
            }
            return try await Self.inTasks(1, port, seconds, heartbeat: heartbeat, onLoop: false) {
                try await Self.exchange($0, inFlight: inFlight, during: $1)
            }
        case .supervised:
            let link = Supervisor(
                endpoint: .tcp("127.0.0.1", port), codec: Codec.requestHeader, on: SystemNetwork(loops: EventLoops(count: 1)))
            await link.start()
            let count = try await Self.exchange(link, inFlight: inFlight, during: Period(after: Role.warmUp, seconds: seconds))
            await link.stop(within: .zero)
            return Double(count) / seconds
        case .requests, .requestsOnLoop:
            return try await Self.inTasks(inFlight, port, seconds, pairing: .serial(), onLoop: self == .requestsOnLoop) {
                try await Self.request($0, during: $1)
            }
        }
    }

    private static let bodySize = 48
    private static var message: Message {
        Message(header: RequestHeader(command: 1), body: Bytes([UInt8](repeating: 7, count: bodySize)))
    }

    /// Runs `body` in so many tasks on one connection; the sum of what they count, per second.
    private static func inTasks(
        _ count: Int, _ port: UInt16, _ seconds: Double, heartbeat: Heartbeat<Codec> = .none, pairing: Pairing<Codec>? = nil, onLoop: Bool,
        _ body: @escaping @Sendable (Connection<Codec>, Period) async throws -> Int
    ) async throws -> Double {
        let network = SystemNetwork(loops: EventLoops(count: 1))
        let loop = network._driver.base.loops[0]
        let connection = try await Connection.connect(
            to: .tcp("127.0.0.1", port), codec: Codec.requestHeader, pairing: pairing, on: network, heartbeat: heartbeat)
        let period = Period(after: Role.warmUp, seconds: seconds)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count {
                if onLoop {
                    group.addTask(executorPreference: loop.tasks) { try await body(connection, period) }
                } else {
                    group.addTask { try await body(connection, period) }
                }
            }
            return try await group.reduce(0, +)
        }
        connection.closeNow()
        return Double(sum) / seconds
    }

    private static func exchange(_ connection: Connection<Codec>, inFlight: Int, during period: Period) async throws -> Int {
        let message = message
        var count = 0
        for _ in 0..<inFlight { try await connection.send(message) }
        while let answer = try await connection.next() {
            guard answer.body.count == bodySize else { throw Trouble("another frame came back") }
            guard let isCounted = period.isCounted else { return count }
            if isCounted { count += 1 }
            try await connection.send(message)
        }
        throw Trouble("the server has gone")
    }

    private static func exchange(_ link: Supervisor<Codec>, inFlight: Int, during period: Period) async throws -> Int {
        let message = message
        var count = 0
        for _ in 0..<inFlight { try await link.send(message) }
        while let answer = try await link.next() {
            guard answer.body.count == bodySize else { throw Trouble("another frame came back") }
            guard let isCounted = period.isCounted else { return count }
            if isCounted { count += 1 }
            try await link.send(message)
        }
        throw Trouble("the link was stopped")
    }

    private static func request(_ connection: Connection<Codec>, during period: Period) async throws -> Int {
        let message = message
        var count = 0
        while let isCounted = period.isCounted {
            let answer = try await connection.request(message, within: .seconds(10))
            guard answer.body.count == bodySize else { throw Trouble("another frame came back") }
            if isCounted { count += 1 }
        }
        return count
    }
}

/// When what happens is counted.
struct Period: Sendable {
    private let begin: ContinuousClock.Instant
    private let end: ContinuousClock.Instant

    init(after warmUp: Double, seconds: Double) {
        begin = .now + .seconds(warmUp)
        end = begin + .seconds(seconds)
    }

    /// Nil when it is over.
    var isCounted: Bool? {
        let now = ContinuousClock.now
        return now < end ? now >= begin : nil
    }
}

extension Role {
    static let client = "as-client"

    static func arguments(for client: ClientKind, inFlight: Int, port: UInt16, seconds: Double) -> [String] {
        [Self.client, client.rawValue, "\(inFlight)", "\(port)", "\(seconds)"]
    }

    /// Measures one client and prints its rate.
    static func beClient(_ arguments: [String]) async throws {
        guard arguments.count == 4, let kind = ClientKind(rawValue: arguments[0]), let inFlight = Int(arguments[1]),
            let port = UInt16(arguments[2]), let seconds = Double(arguments[3])
        else { throw Trouble("\(client) KIND IN-FLIGHT PORT SECONDS") }
        let rate = try await kind.run(port: port, inFlight: inFlight, seconds: seconds)
        say("rate \(rate)")
    }
}
