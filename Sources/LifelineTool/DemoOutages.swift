import Lifeline

/// The demo's second part: a client that stays connected, to a server that dies and comes back, and to one that falls silent. Each step
/// waits for the facts that it expects.
struct DemoOutages {
    let log: DemoLog
    private(set) var checks = 0
    private(set) var failures = 0
    /// The client's statuses that are still to come.
    private var updates = AsyncStream<LinkStatus>.makeStream().stream.makeAsyncIterator()

    init(log: DemoLog) { self.log = log }

    mutating func play() async throws {
        log.heading("A server dies and comes back; the client stays")
        try await diesAndComesBack()
        log.heading("A server falls silent, and its connection looks as good as ever")
        try await fallsSilent()
    }

    private mutating func diesAndComesBack() async throws {
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines)
        let link = Supervisor(
            endpoint: server.endpoint, codec: .lines, reconnect: .exponential(first: .milliseconds(50), cap: .milliseconds(200)))
        updates = link.statusUpdates.makeAsyncIterator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.echo(on: server) }
            await link.start()
            _ = try await follow { $0 == .connected }
            try await say("is anybody there?", over: link)

            log.line("server", "dies", "at \(server.endpoint.short)")
            await server.shutdown(within: .zero)
            let loss = try await follow(\.isWaiting)
            check(loss.offlineReason?.error?.code != .refused, "the loss of the connection should have been told")
            let refusal = try await follow(\.isWaiting)
            check(refusal.offlineReason?.error?.code == .refused, "nobody should have listened")

            log.line("Fay", "posts", "“are you back?”, to be sent when the link is up")
            let receipt = try link.post("are you back?")
            check(receipt.settled == nil, "it should wait")
            let successor = try await Server.bind(server.endpoint, codec: .lines)
            log.line("server", "is back", "at \(successor.endpoint.short)")
            group.addTask { try await Self.echo(on: successor) }
            let connection = try await follow { $0 == .connected }
            check(connection == .connected, "the link should be up again")
            check(try await receipt.outcome == .written, "what had waited should be sent")
            let answer = try await link.next()
            log.line("Fay", "gets", "“\(answer ?? "")”")
            check(answer == "are you back?", "it should have come back")

            await stop(link)
            await successor.shutdown(within: .seconds(2))
            try await group.waitForAll()
        }
    }

    private mutating func fallsSilent() async throws {
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines)
        let (pings, heard) = AsyncStream.makeStream(of: DemoPing.self)
        var events = pings.makeAsyncIterator()
        let heartbeat = Heartbeat<LineCodec>.pingPong(
            every: .milliseconds(60), answerWithin: .milliseconds(600), ping: "ping"
        ) { $0 == "pong" }
        let link = Supervisor(endpoint: server.endpoint, codec: .lines, heartbeat: heartbeat, reconnect: .atOnce())
        updates = link.statusUpdates.makeAsyncIterator()
        log.line("Fay", "pings", "every 60 ms, and waits 600 ms for an answer")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [log] in try await Self.answerTwoPings(on: server, heard, log) }
            await link.start()
            _ = try await follow { $0 == .connected }
            for isAnswered in [true, true, false] { try await expectPing(&events, of: 1, isAnswered) }
            let loss = try await follow(\.isWaiting)
            check(loss.offlineReason?.error?.code == .heartbeatMissed, "the missing answer should be the reason")
            _ = try await follow { $0 == .connected }
            try await expectPing(&events, of: 2, true)
            let time = link.roundTrip
            check(time != nil, "the way to the server and back should have been measured")
            log.line("Fay", "knows", "that the way there and back takes \(time?.words ?? "")")
            await stop(link)
            await server.shutdown(within: .seconds(2))
            try await group.waitForAll()
        }
    }
}

/// What a silent server of the demo has heard, and whether it answered.
private struct DemoPing: Sendable {
    let connection: Int
    let isAnswered: Bool
    let time: Duration
}

/// Numbers connections.
private actor DemoTurns {
    private var count = 0
    func next() -> Int {
        count += 1
        return count
    }
}

// The servers.
extension DemoOutages {
    private static func echo(on server: Server<LineCodec>) async throws {
        try await server.run { connection in
            // Its sudden end is what is shown.
            while let line = try? await connection.next() { try? await connection.send(line) }
        }
    }

    /// Answers the first two pings of the first connection, and all of later ones.
    private static func answerTwoPings(
        on server: Server<LineCodec>, _ heard: AsyncStream<DemoPing>.Continuation, _ log: DemoLog
    ) async throws {
        let turns = DemoTurns()
        try await server.run { connection in
            let turn = await turns.next()
            var count = 0
            while (try? await connection.next()) != nil {
                count += 1
                let isAnswered = turn > 1 || count <= 2
                if isAnswered { try? await connection.send("pong") }
                heard.yield(DemoPing(connection: turn, isAnswered: isAnswered, time: log.now))
            }
        }
    }
}

// What is expected.
extension DemoOutages {
    private mutating func check(_ holds: Bool, _ what: String) {
        checks += 1
        if holds { return }
        failures += 1
        log.complaint(what)
    }

    /// Shows the client's statuses up to one that is wanted.
    private mutating func follow(_ isWanted: (LinkStatus) -> Bool) async throws -> LinkStatus {
        while let status = await updates.next(isolation: #isolation) {
            if status != .idle { log.line("Fay", "is", status.words) }
            if isWanted(status) { return status }
            if status.isStopped { break }
        }
        throw DemoFailure(message: "the link has stopped early")
    }

    private mutating func say(_ text: String, over link: Supervisor<LineCodec>) async throws {
        log.line("Fay", "sends", "“\(text)”")
        try await link.send(text)
        let answer = try await link.next()
        log.line("Fay", "gets", "“\(answer ?? "")”")
        check(answer == text, "it should have come back")
    }

    private mutating func stop(_ link: Supervisor<LineCodec>) async {
        await link.stop()
        log.line("Fay", "is", link.status.words)
        check(link.status == .stopped(why: .byUser(.user)), "the link should have stopped as it was told")
    }

    private mutating func expectPing(
        _ events: inout AsyncStream<DemoPing>.Iterator, of connection: Int, _ isAnswered: Bool
    ) async throws {
        guard let ping = await events.next(isolation: #isolation) else { throw DemoFailure(message: "the server has ended early") }
        log.line("server", "reads", "“ping”, and \(ping.isAnswered ? "answers “pong”" : "says nothing")", at: ping.time)
        check(ping.connection == connection && ping.isAnswered == isAnswered, "it should have been a ping of connection \(connection)")
    }
}
