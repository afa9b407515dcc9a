import LifelineCore
import LifelineRuntime
import LifelineTesting

/// A chat client as an application: one supervisor, and tasks that talk, ask, read, and start and stop it.
final class ClientApp: @unchecked Sendable {  // Used in one simulation, whose loops share a thread.
    typealias Link = Supervisor<PostCodec>

    /// The registration was refused.
    struct Refused: Error {}

    let world: World
    let plan: ClientPlan
    let protection: Protection?
    let host: SimulatedHost
    let ledger: Ledger
    let link: Link
    var auditor: StatusAuditor
    /// Every status, by a reader that is never late.
    private(set) var statuses: [LinkStatus] = []
    /// What a reader has seen that is late; nil for what it has missed.
    private var lateStatuses: [LinkStatus?] = []
    /// The client is done: it isn't started again.
    var isOver = false
    /// No pauses, no cancellations, no stops any more.
    var isCalm = false
    var questionsSoFar: Int32 = 0
    /// One chat note at a time, so that their order is known.
    var isSaying = false

    var index: Int { plan.index }

    init(_ world: World, _ ledger: Ledger, _ plan: ClientPlan, _ protection: Protection?, on host: SimulatedHost) throws {
        self.world = world
        self.ledger = ledger
        self.plan = plan
        self.protection = protection
        self.host = host
        auditor = StatusAuditor(plan.schedule, longestAttempt: plan.longestAttempt)
        let box = Box()
        var registration: Link.Registration?
        if plan.registers { registration = { try await box.client?.register($0) } }
        let network: any Network = try protection?.network(over: host, client: { try await box.client?.judge($0) }) ?? host
        link = Supervisor(
            endpoint: .tcp("office", 7000), codec: PostCodec(ledger: ledger, side: .client(plan.index)), pairing: plan.pairing, on: network,
            heartbeat: plan.heartbeat, reconnect: plan.schedule.policy, offline: plan.offline, options: plan.options,
            register: registration)
        box.client = self
        ledger.clients[index].registers = plan.registers
        if protection?.clientsThink != nil { ledger.clients[index].verdict = .due }
        ledger.clients[index].sendBuffer = plan.options.connection.socket.sendBuffer ?? 65_536
        ledger.clients[index].mostUnread = plan.options.connection.inboxFrames + (plan.subscribes ? 256 : 0)
    }

    private final class Box: @unchecked Sendable {  // As above.
        weak var client: ClientApp?
    }

    func fault(_ text: @autoclosure () -> String) { ledger.fault("client \(index): \(text())") }

    /// True so often, until all is calm.
    func chance(_ share: Double) -> Bool {
        var dice = world.random
        return !isCalm && Double.random(in: 0..<1, using: &dice) < share
    }

    func pause(upTo longest: Duration) async throws {
        var dice = world.random
        try await world.advance(by: .nanoseconds(Int64.random(in: 1...max(1, longest.clampedNanoseconds), using: &dice)))
    }

    /// Until ``isOver``; then the link is stopped.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var dice = world.random
            let loops = world.loops
            func add(_ body: @escaping @Sendable () async throws -> Void) {
                let loop = loops[Int.random(in: loops.indices, using: &dice)]
                group.addTask(executorPreference: loop.tasks) { do { try await body() } catch is CancellationError {} }
            }
            let updates = (link.statusUpdates, link.statusUpdates)
            add { await self.watch(updates.0) }
            add { try await self.watchLazily(updates.1) }
            await world.settle()
            add { try await self.read() }
            if plan.subscribes { add { try await self.readSubscription() } }
            add { try await self.chat() }
            add { try await self.chatHastily() }
            for _ in 0..<plan.askers { add { try await self.ask() } }
            try await keepUp()
            await stop(because: .user, within: .seconds(3))
            // The late reader of the statuses wakes up.
            try await world.advance(by: .seconds(20))
            group.cancelAll()
            try await group.waitForAll()
        }
        checkStatuses()
    }

    /// Starts the link, stops it now and then, and starts it again whatever it was stopped for.
    private func keepUp() async throws {
        while !isOver {
            auditor.mayStop = false
            var before = world.now
            if plan.runsStructured {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { do { try await self.link.run() } catch is SocketError {} }
                    group.addTask { try await self.stopSometime() }
                    try await group.next()
                    auditor.mayStop = true
                    before = world.now
                    group.cancelAll()
                }
                ledger.check(world.now == before, "client \(index): a cancelled run ended \(world.now - before) later")
            } else {
                ledger.check(await link.start(), "client \(index): a stopped link doesn't start")
                // Nothing happens, unless it has stopped already.
                await link.start()
                try await stopSometime()
            }
            if !isOver { try await pause(upTo: .seconds(3)) }
        }
    }

    /// Once more, to be stopped in the middle of a request, of which nothing is left then, not even a timer.
    func appearOnceMore() async throws {
        let link = link
        await link.start()
        for await status in link.statusUpdates where status.isConnected { break }
        let question = Note(kind: .question, number: ServerApp.unanswerable, client: Int32(index))
        await withTaskGroup { group in
            group.addTask { _ = try? await link.request(question, within: .seconds(100)) }
            try? await world.advance(by: .milliseconds(100))
            await stop(because: "done", within: .seconds(1))
        }
    }

    private func stop(because reason: StopReason, within limit: Duration) async {
        let before = world.now
        auditor.mayStop = true
        await link.stop(because: reason, within: limit)
        let time = world.now - before
        ledger.check(link.waitingMessages == 0, "client \(index): \(link.waitingMessages) messages wait for a stopped link")
        ledger.check(time <= limit, "client \(index): a stop within \(limit) took \(time)")
        ledger.check(host.openTransports == 0, "client \(index): a stopped link has a connection")
    }

    /// Returns when the link was stopped, or when all is over.
    private func stopSometime() async throws {
        let start = world.now
        while !isOver {
            if case .stopped = link.status, world.now > start { return }
            try await world.advance(by: .seconds(2))
            if !isCalm, let stops = plan.stopsEvery, world.now - start > stops {
                // In structured use the return is followed by a cancellation.
                if plan.runsStructured, chance(0.3) { return }
                await stop(because: "tired", within: chance(0.3) ? .zero : .milliseconds(500))
                return
            }
        }
    }
}

// Registering and reading.
extension ClientApp {
    private func register(_ connection: Connection<PostCodec>) async throws {
        ledger.count("registrations")
        let book = ledger.clients[index]
        ledger.check(book.requestsDue.isEmpty, "client \(index): \(book.requestsDue.count) requests of an older connection are due")
        ledger.clients[index].isRegistering = true
        defer { ledger.clients[index].isRegistering = false }
        try await connection.send(Note(kind: .login, client: Int32(index)))
        while let letter = try await connection.next() {
            ledger.clients[index].unread -= 1
            ledger.clients[index].registered.insert(letter)
            switch letter.note.kind {
            case .welcome: return
            case .news: continue
            case .wish:
                let hint: ReconnectHint =
                    switch letter.note.number {
                    case -1: .never
                    case -2: .elsewhere(.tcp("branch", 7000))
                    default: .after(.milliseconds(Int(letter.note.number)), spread: .milliseconds(Int(letter.note.number) % 3 * 100))
                    }
                auditor.hint = .certain(hint)
                throw hint
            case .refusal:
                auditor.hasRefused = true
                throw Refused()
            default: fault("the server began with \(letter.note)")
            }
        }
    }

    private func watch(_ updates: AsyncStream<LinkStatus>) async {
        for await status in updates {
            if let complaint = auditor.follow(status, at: world.now) { fault(complaint) }
            statuses.append(status)
            ledger.count(status.isConnected ? "connected" : "other statuses")
            world.record("client \(index) \(status)")
            // A link that was lost and dials again, all in this moment, is told of here no sooner.
            if status.isConnected, ledger.clients[index].verdict == .due, ledger.clients[index].lastRedial != world.now {
                fault("it is told to be connected before its verdict")
            }
            if status.isConnected, let reader = ledger.clients[index].readers.last { ledger.clients[index].connected.insert(reader) }
        }
    }

    /// A reader of the statuses that is late sees the same ones, those that it missed as a number.
    private func watchLazily(_ updates: AsyncStream<LinkStatus>) async throws {
        for await status in updates {
            if case .skipped(let count) = status {
                lateStatuses += Array(repeating: nil, count: count)
            } else {
                lateStatuses.append(status)
            }
            if !isOver { try await pause(upTo: .seconds(20)) }
        }
    }

    private func checkStatuses() {
        ledger.check(statuses.last == link.status, "client \(index): the last update was \(statuses.last as Any), and \(link.status) is")
        let isSame = zip(statuses, lateStatuses).allSatisfy { $1 == nil || $0 == $1 }
        ledger.check(
            isSame && lateStatuses.count == statuses.count, "client \(index): a late reader of the statuses saw others: \(lateStatuses)")
    }

    private func read() async throws {
        while true {
            do {
                while let letter = try await link.next() {
                    ledger.clients[index].received.append(letter)
                    ledger.clients[index].takes()
                    ledger.check(letter.isForUser, "client \(index): \(letter.note.kind) came to the user")
                    if letter.note.kind == .wish {
                        let hint = ReconnectHint.after(.milliseconds(Int(letter.note.number)))
                        auditor.hint = .possible(hint)
                        await link.obey(hint)
                    }
                    if let dawdles = plan.dawdles, !isCalm { try await pause(upTo: dawdles) }
                }
            } catch is SocketError {}
            if isOver { return }
            // It ends behind the last message of a run, and begins anew with the next.
            for await status in link.statusUpdates { if case .stopped = status { continue } else { break } }
            try Task.checkCancellation()
        }
    }

    private func readSubscription() async throws {
        while !isOver {
            let subscription = link.subscribe { $0.note.kind == .news }
            do {
                while let letter = try await subscription.next() {
                    ledger.clients[index].subscribed.append(letter)
                    ledger.clients[index].takes()
                    if let dawdles = plan.dawdles, !isCalm { try await pause(upTo: dawdles / 10) }
                }
            } catch is SocketError {}
            for await status in link.statusUpdates { if case .stopped = status { continue } else { break } }
            try Task.checkCancellation()
        }
    }
}
