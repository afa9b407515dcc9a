import LifelineCore
import LifelineRuntime
import LifelineTesting

/// What one client is like: its policies and its habits. Each seed draws others.
struct ClientPlan: Sendable {
    /// How it finds out that the server is dead.
    enum Watch: Sendable, CaseIterable {
        case pingPong, numberedPings, expectedAnswers, keepAlive, serverBeats
    }

    let index: Int
    let watch: Watch
    var schedule: Schedule
    var heartbeat: Heartbeat<PostCodec>
    /// By then it has noticed, if it can send and reads.
    var noticesWithin: Duration
    var options = SupervisorOptions()
    let offline: OfflineRule<Note>
    /// Beyond it nothing waits.
    let mostWaiting: Int
    let pairing: Pairing<PostCodec>
    let answersInOrder: Bool
    /// False: it sends no login.
    let registers: Bool
    let subscribes: Bool
    /// It reads with pauses of up to this.
    let dawdles: Duration?
    /// From one burst of chat to the next, on average.
    let chatEvery: Duration
    let askEvery: Duration
    let askers: Int
    /// Of padding.
    let largest: Int
    let cancels: Bool
    let stopsEvery: Duration?
    let runsStructured: Bool

    var longestAttempt: Duration { (options.connectLimit ?? .zero) + options.registrationLimit }

    init(_ index: Int, budget: RetryBudget?, using dice: inout some RandomNumberGenerator) {
        self.index = index
        watch = Watch.allCases.randomElement(using: &dice)!
        schedule = Schedule.random(using: &dice)
        var connection = ConnectionOptions()
        let period = Duration.seconds(Int.random(in: 2...10, using: &dice))
        let answer = Duration.milliseconds(Int.random(in: 1_500...5_000, using: &dice))
        let misses = Int.random(in: 1...2, using: &dice)
        let ping = Note(kind: .ping, client: Int32(index))
        switch watch {
        case .pingPong:
            heartbeat = .pingPong(
                every: period, answerWithin: answer, misses: misses, atOnce: Bool.random(using: &dice), jitter: 0.3, ping: ping
            ) { $0.note.kind == .pong }
            noticesWithin = (period + answer) * (misses + 1)
        case .numberedPings:
            heartbeat = .pingPong(
                every: period, answerWithin: answer, misses: misses, anyByteCounts: Bool.random(using: &dice),
                numberedPing: { Note(kind: .ping, number: Int32(truncatingIfNeeded: $0), client: Int32(index)) },
                pongNumber: { $0.note.kind == .pong ? UInt32(bitPattern: $0.note.number) : nil })
            noticesWithin = (period + answer) * (misses + 1)
        case .expectedAnswers:
            heartbeat = .expectingAnswers(within: answer)
            // It sends something at least every 10 s.
            noticesWithin = .seconds(10) + answer * 2
        case .keepAlive:
            heartbeat = .oneWay(every: period, sending: ping).and(.dropping { $0.note.kind == .pong })
            connection.socket.keepAlive = .init(idle: .seconds(5), interval: .seconds(2), count: 3)
            connection.socket.userTimeout = .seconds(15)
            noticesWithin = .seconds(40)
        case .serverBeats:
            // The server sends a beat every 5 s.
            heartbeat = .none
            connection.idleLimit = .seconds(12)
            noticesWithin = .seconds(12)
        }
        // The server's own beats aren't the user's business.
        heartbeat = heartbeat.and(
            Bool.random(using: &dice)
                ? .answering({ $0.note.kind == .ping }, with: Note(kind: .pong, client: Int32(index))) : .dropping { $0.note.kind == .ping }
        )
        connection.writeLimit = .seconds(Int.random(in: 3...12, using: &dice))
        noticesWithin += connection.writeLimit ?? .zero
        connection.inboxFrames = [4, 16, 64, 4096].randomElement(using: &dice)!
        if Bool.random(using: &dice) { connection.inbox = Marks(high: Int.random(in: 100...20_000, using: &dice)) }
        if Bool.random(using: &dice) { connection.outbox = Marks(high: Int.random(in: 100...20_000, using: &dice)) }
        if Bool.random(using: &dice) {
            connection.socket.sendBuffer = Int.random(in: 200...20_000, using: &dice)
            connection.socket.receiveBuffer = Int.random(in: 200...20_000, using: &dice)
        }
        if Int.random(in: 0..<4, using: &dice) == 0 { connection.unfinishedFrameLimit = .seconds(10) }
        options.connection = connection
        options.connectLimit = .seconds(Int.random(in: 2...10, using: &dice))
        options.registrationLimit = .seconds(Int.random(in: 2...10, using: &dice))
        options.retryBudget = budget
        schedule.isShared = budget != nil

        let room = Int.random(in: 1...6, using: &dice)
        switch Int.random(in: 0..<6, using: &dice) {
        case 0: (offline, mostWaiting) = (.fail, .max)
        case 1, 2: (offline, mostWaiting) = (.wait, 1_001)
        case 3: (offline, mostWaiting) = (.keep(room), room + 1)
        case 4: (offline, mostWaiting) = (.dropOldest(room), room + 1)
        default: (offline, mostWaiting) = (.latest(room) { $0.number % 3 }, room + 1)
        }
        answersInOrder = Int.random(in: 0..<3, using: &dice) == 0
        pairing =
            answersInOrder
            ? .inOrder { $0.note.kind == .answer }
            : .byID(Int32.self, assign: { $0.serial = $1 }, idOf: { $0.note.kind == .answer ? $0.note.serial : nil })
        registers = Int.random(in: 0..<5, using: &dice) > 0
        subscribes = Int.random(in: 0..<4, using: &dice) == 0
        dawdles = Int.random(in: 0..<3, using: &dice) == 0 ? .milliseconds(Int.random(in: 10...5_000, using: &dice)) : nil
        chatEvery = .milliseconds(Int.random(in: 400...5_000, using: &dice))
        askEvery = .milliseconds(Int.random(in: 1_000...8_000, using: &dice))
        askers = Int.random(in: 1...2, using: &dice)
        largest = [0, 40, 200, 4_000].randomElement(using: &dice)!
        cancels = Bool.random(using: &dice)
        stopsEvery = Int.random(in: 0..<3, using: &dice) == 0 ? .seconds(Int.random(in: 5...40, using: &dice)) : nil
        runsStructured = Bool.random(using: &dice)
    }
}

/// What can befall the network, the servers and the clients.
enum Fault: CaseIterable, Sendable {
    case partition, cutForth, cutBack, heal, crash, killServer, restartServer, badLink, reset, loseSome, hold, delay, blackHole
    case clientDown, hangUp, news, acceptSlowly, hurry
}

/// What a seed draws.
struct Scenario: Sendable {
    let clients: [ClientPlan]
    let servers: Int
    let serversBeat: Bool
    let loops: Int
    /// Those that befall this one: a few kinds at a time show more than all of them together.
    let faults: [Fault]
    let storm: Duration
    /// From one fault to the next, at most.
    let pace: Duration
    /// The share of logins and questions that aren't simply answered.
    let moodiness: Double
    /// How connections are protected; nil: not at all.
    let protection: Protection?

    /// Every fourth seed is played over TLS unless it is said otherwise: that takes twice the time.
    static let protectedSeeds: UInt64 = 4

    init(seed: UInt64, overTLS: Bool? = nil) {
        protection = overTLS ?? seed.isMultiple(of: Self.protectedSeeds) ? Protection(seed: seed) : nil
        var dice = SeededGenerator(seed: seed ^ 0x5EED)
        let number = Int.random(in: 1...3, using: &dice)
        let budget: RetryBudget? =
            Int.random(in: 0..<5, using: &dice) == 0
            ? RetryBudget(burst: Int.random(in: 1...3, using: &dice), every: .milliseconds(700)) : nil
        clients = (0..<number).map { ClientPlan($0, budget: budget, using: &dice) }
        serversBeat = clients.contains { $0.watch == .serverBeats } || Bool.random(using: &dice)
        servers = Int.random(in: 0..<3, using: &dice) == 0 ? 2 : 1
        loops = Int.random(in: 1...3, using: &dice)
        let share = Double.random(in: 0.15...0.8, using: &dice)
        let some = Fault.allCases.filter { _ in Double.random(in: 0..<1, using: &dice) < share }
        faults = some.isEmpty ? [.partition, .heal] : some
        storm = .seconds(Int.random(in: 40...90, using: &dice))
        pace = .milliseconds(Int.random(in: 1_000...20_000, using: &dice))
        moodiness = [0, 0.05, 0.25].randomElement(using: &dice)!
    }

    /// So long after the storm each link is up.
    func recoversWithin(_ plan: ClientPlan) -> Duration {
        let attempt = plan.longestAttempt
        // Who gave up is started again after at most 3 s; a hint's time is at most 5 s.
        return plan.noticesWithin + attempt + max(plan.schedule.longest, .seconds(5)) + .seconds(3) + attempt
            + .seconds(5 + 3 * clients.count) + (protection?.longest ?? .zero)
    }
}
