import Lifeline

/// What happens in the demo, step by step. Each step waits for the facts that it expects, for at most 2 s; nothing waits for time to pass.
struct DemoScenario {
    let server: Server<LineCodec>
    let log: DemoLog
    private var events: AsyncStream<DemoChat.Event>.Iterator
    private(set) var checks = 0
    private(set) var failures = 0

    init(server: Server<LineCodec>, log: DemoLog, events: AsyncStream<DemoChat.Event>) {
        self.server = server
        self.log = log
        self.events = events.makeAsyncIterator()
    }

    mutating func play() async throws {
        log.heading("Three clients join; each says its name first")
        let ann = try await DemoClient("Ann", to: server.endpoint, log: log)
        try await joins(ann, with: [ann])
        let bob = try await DemoClient("Bob", to: server.endpoint, log: log)
        try await joins(bob, with: [ann, bob])
        let eve = try await DemoClient("Eve", to: server.endpoint, log: log)
        try await joins(eve, with: [ann, bob, eve])

        log.heading("A line to everybody")
        try await ann.say("hello, all of you")
        try await heard("Ann", "hello, all of you", by: [ann, bob, eve])

        log.heading("A peer whose bytes arrive cut and glued")
        try await cutAndGlued(others: [ann, bob, eve])

        log.heading("A client goes away in good order")
        try await leaves(eve, others: [ann, bob])

        log.heading("A client ends its own side and still listens")
        try await halfCloses(bob, others: [ann])

        log.heading("The server shuts down")
        try await shutsDown(last: ann)
    }

    private mutating func joins(_ client: DemoClient, with all: [DemoClient]) async throws {
        try await client.say(client.name)
        try await came(client.name)
        try await told("\(client.name) joins", to: all)
    }

    private mutating func cutAndGlued(others: [DemoClient]) async throws {
        let dan = try await DemoWriter("Dan", to: server.endpoint, log: log)
        // A name, and the first half of a line: it ends inside the two bytes of “ü”.
        try await dan.write(Array("Dan\ngr".utf8) + [0xC3])
        try await came("Dan")
        try await told("Dan joins", to: others, and: dan)
        // The rest of that line, and the beginning of the next.
        try await dan.write([0xBC] + Array("n\nso".utf8))
        try await heard("Dan", "grün", by: others, and: dan)
        // The rest of that one, a whole line with CR LF and the beginning of one that never ends.
        try await dan.write(Array("me\nmore\r\nand th".utf8))
        try await heard("Dan", "some", inTheHearingOf: 4)
        try await heard("Dan", "more", inTheHearingOf: 4)
        try await get("Dan: some", others, and: dan)
        try await get("Dan: more", others, and: dan)
        log.line("Dan", "finishes", "in the middle of a line")
        try await dan.stream.finishSending()
        let reason = try await left("Dan")
        check(reason?.error?.code == .truncated, "the server should have seen that a frame was truncated")
        check(reason?.error?.pending?.received == 6, "six bytes of it should have arrived")
        try await told("Dan leaves: truncated frame", to: others, ended: 1)
        check(try await dan.next() == nil, "Dan should have seen the server's end")
    }

    private mutating func leaves(_ client: DemoClient, others: [DemoClient]) async throws {
        log.line(client.name, "closes", "and waits until the peer has read to the end")
        let hasPeerReadAll = await client.connection.close(within: .seconds(2))
        check(hasPeerReadAll, "the server should have read all that \(client.name) sent")
        check(try await left(client.name) == .closedByPeer, "the server should have seen that \(client.name) closed")
        check(try await client.next() == nil, "\(client.name) should have seen a clean end")
        check(client.connection.closeReason == .closedHere, "\(client.name) should have ended by its own will")
        try await told("\(client.name) leaves: closed by peer", to: others, ended: 1)
    }

    private mutating func halfCloses(_ client: DemoClient, others: [DemoClient]) async throws {
        try await client.say("that was all from me")
        try await heard(client.name, "that was all from me", by: others + [client])
        log.line(client.name, "finishes", "sending, and reads on")
        try await client.connection.finishSending()
        check(try await left(client.name) == .closedByPeer, "the server should have seen that \(client.name) finished")
        try await told("\(client.name) leaves: closed by peer", to: others, ended: 1)
        check(try await client.next() == "bye \(client.name), 1 of your lines were read", "\(client.name) should have got an answer")
        check(try await client.next() == nil, "\(client.name) should have seen a clean end")
        check(client.connection.closeReason == .closedByPeer, "the server should have ended \(client.name)'s connection")
    }

    private mutating func shutsDown(last client: DemoClient) async throws {
        log.line("server", "shuts", "down")
        let server = server
        async let isComplete = server.shutdown(within: .seconds(2))
        check(try await left(client.name) == .shuttingDown, "the server should have ended reading because it shuts down")
        check(try await client.next() == "bye \(client.name), 1 of your lines were read", "\(client.name) should have got a last line")
        check(try await client.next() == nil, "\(client.name) should have seen a clean end")
        check(client.connection.closeReason == .closedByPeer, "the server should have ended \(client.name)'s connection")
        await client.connection.close(within: .seconds(2))
        let isInGoodOrder = await isComplete
        log.line("server", "ends", isInGoodOrder ? "in good order, everybody took part" : "at its limit")
        check(isInGoodOrder, "the server should have shut down in good order")
        check(server.connections.isEmpty, "no connection should be left")
    }
}

// What is expected.
extension DemoScenario {
    private mutating func check(_ holds: Bool, _ what: String) {
        checks += 1
        if holds { return }
        failures += 1
        log.complaint(what)
    }

    /// What the server saw next.
    private mutating func nextEvent() async throws -> DemoChat.Event {
        guard let event = await events.next(isolation: #isolation) else { throw DemoFailure(message: "the server has ended early") }
        return event
    }

    private mutating func came(_ name: String) async throws {
        let event = try await nextEvent()
        guard case .came(let said, let address) = event.kind else { return surprise(event, instead: "\(name) comes") }
        log.line("server", "reads", "“\(said)” from \(address)", at: event.time)
        check(said == name, "the name should have been \(name)")
    }

    /// The server reads a line and everybody gets it.
    private mutating func heard(
        _ name: String, _ text: String, by clients: [DemoClient], and writer: DemoWriter? = nil
    ) async throws {
        try await heard(name, text, inTheHearingOf: clients.count + (writer == nil ? 0 : 1))
        try await get("\(name): \(text)", clients, and: writer)
    }

    /// The server reads a line and sends it to `count` peers.
    private mutating func heard(_ name: String, _ text: String, inTheHearingOf count: Int) async throws {
        let event = try await nextEvent()
        guard case .heard(let who, let what) = event.kind else { return surprise(event, instead: "\(name) says \(text)") }
        log.line("server", "reads", "“\(what)” from \(who)", at: event.time)
        check(who == name && what == text, "it should have been “\(text)” from \(name)")
        try await tells("\(name): \(text)", to: count, ended: 0)
    }

    /// The server sends a line of its own and everybody gets it.
    private mutating func told(
        _ text: String, to clients: [DemoClient], and writer: DemoWriter? = nil, ended: Int = 0
    ) async throws {
        try await tells(text, to: clients.count + (writer == nil ? 0 : 1), ended: ended)
        try await get(text, clients, and: writer)
    }

    /// The server sends a line, and its numbers are right.
    private mutating func tells(_ text: String, to count: Int, ended: Int) async throws {
        let event = try await nextEvent()
        guard case .told(let said, let result) = event.kind else { return surprise(event, instead: "all are told “\(text)”") }
        let counts = "\(result.accepted) accepted, \(result.skipped) skipped, \(result.evicted) evicted"
        log.line("server", "tells all", "“\(said)”  (\(counts))", at: event.time)
        check(said == text, "it should have been “\(text)”")
        check(result.accepted == count, "the \(count) that are there should have been sent it")
        check(result.skipped == ended && result.evicted == 0, "\(ended) that had ended should have been skipped")
    }

    private mutating func get(_ text: String, _ clients: [DemoClient], and writer: DemoWriter? = nil) async throws {
        for client in clients { check(try await client.next() == text, "\(client.name) should have got “\(text)”") }
        if let writer { check(try await writer.next() == text, "\(writer.name) should have got “\(text)”") }
    }

    private mutating func left(_ name: String) async throws -> CloseReason? {
        let event = try await nextEvent()
        guard case .left(let who, let reason) = event.kind else {
            surprise(event, instead: "\(name) leaves")
            return nil
        }
        log.line("server", "ends", "with \(who): \(reason)", at: event.time)
        check(who == name, "it should have been \(name)")
        return reason
    }

    private mutating func surprise(_ event: DemoChat.Event, instead expected: String) {
        check(false, "“\(expected)” was expected, but the server saw \(event.kind)")
    }
}
