import LifelineCore
import LifelineRuntime
import LifelineTesting

/// A chat server as an application: it greets, echoes, answers and lets go, is shut down and bound again.
final class ServerApp: @unchecked Sendable {  // Used in one simulation, whose loops share a thread.
    typealias Link = Connection<PostCodec>

    /// How the present server ends.
    enum End: Sendable { case inGoodOrder(Duration), dead }

    /// The number of a question that has no answer.
    static let unanswerable: Int32 = -2

    struct Weak { weak var object: AnyObject? }

    let world: World
    let host: SimulatedHost
    let ledger: Ledger
    let beats: Bool
    let moodiness: Double
    let protection: Protection?
    private let network: any Network
    private(set) var server: Server<PostCodec>?
    /// What has to be gone in the end.
    private(set) var objects: [Weak] = []
    private var end: OneShot<End>?
    /// Whether the last shutdown has ended everything in good order.
    private(set) var isLastEndComplete = true
    private var newsSoFar: Int32 = 0
    var isOver = false
    /// Nobody is turned away any more.
    var isCalm = false
    /// What it has given on clients, and the handlers that were begun since.
    var verdicts = 0
    private var handlers = 0

    init(_ world: World, _ ledger: Ledger, _ scenario: Scenario, on host: SimulatedHost) throws {
        self.world = world
        self.ledger = ledger
        self.host = host
        beats = scenario.serversBeat
        moodiness = scenario.moodiness
        protection = scenario.protection
        let box = Box()
        network = try protection?.network(over: host, server: { try await box.server?.judge($0) }) ?? host
        if protection?.serversThink != nil { ledger.clientsMayTalk = 0 }
        box.server = self
    }

    private final class Box: @unchecked Sendable {  // As above.
        weak var server: ServerApp?
    }

    /// Ends the server that is there; another one follows.
    func end(_ end: End) { self.end?.succeed(end) }

    func run() async throws {
        var dice = world.random
        while !isOver {
            let server: Server<PostCodec>
            do {
                server = try await bind()
            } catch let error as SocketError where error.code == .unreachable {
                try await world.advance(by: .milliseconds(300))
                continue
            }
            self.server = server
            objects.append(Weak(object: server))
            let end = OneShot<End>()
            self.end = end
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await server.run { try await self.serve($0) } }
                switch try await end.value() {
                case .inGoodOrder(let limit):
                    let before = world.now
                    isLastEndComplete = await server.shutdown(within: limit)
                    ledger.check(world.now - before <= limit, "a shutdown within \(limit) took \(world.now - before)")
                case .dead: await server.shutdown(within: .zero)
                }
                try await group.waitForAll()
            }
            self.server = nil
            if !isOver { try await world.advance(by: .milliseconds(Int.random(in: 0...4_000, using: &dice))) }
        }
    }

    private func bind() async throws -> Server<PostCodec> {
        var dice = world.random
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        options.onAcceptError = { _ in }
        options.acceptQueue = Int.random(in: 1...4, using: &dice)
        options.connection.idleLimit = .seconds(45)
        options.connection.writeLimit = .seconds(20)
        options.connection.inboxFrames = [2, 10, 1_000].randomElement(using: &dice)!
        if Bool.random(using: &dice) { options.connection.outbox = Marks(high: Int.random(in: 100...20_000, using: &dice)) }
        let answering = Heartbeat<PostCodec>.answering { letter in
            letter.note.kind == .ping ? Note(kind: .pong, number: letter.note.number, client: letter.note.client) : nil
        }
        let heartbeat = answering.and(.dropping { $0.note.kind == .pong })
        return try await Server.bind(
            .tcp(host.name, 7000), codec: PostCodec(ledger: ledger, side: .server), on: network, options: options,
            tooBusy: Note(kind: .wish, number: 500),
            heartbeat: beats ? heartbeat.and(.oneWay(every: .seconds(5), jitter: 0.2, sending: Note(kind: .ping))) : heartbeat)
    }

    /// Sends news to everybody.
    func spread(size: Int, slow: SlowRule) async throws {
        guard let server else { return }
        newsSoFar += 1
        // Each server counts its own.
        let number = newsSoFar * 2 + (host.name == "office" ? 0 : 1)
        let result = try await server.broadcast(Note(kind: .news, number: number, size: size), slow: slow)
        let written = ledger.newsWritten[number] ?? 0
        ledger.check(result.accepted == written, "\(result.accepted) have accepted news that were written \(written) times")
    }
}

// Connections.
extension ServerApp {
    func chance(_ share: Double) -> Bool {
        var dice = world.random
        return !isCalm && share > 0 && Double.random(in: 0..<1, using: &dice) < share
    }

    private func serve(_ connection: Link) async throws {
        objects.append(Weak(object: connection))
        handlers += 1
        if protection?.serversThink != nil { ledger.check(handlers <= verdicts, "a handler is begun before the verdict on its client") }
        var last: Letter?
        do {
            guard let first = try await connection.next() else { return }
            last = first
            ledger.served(first)
            if first.note.kind == .login { try await welcome(first, connection) }
            try await withThrowingDiscardingTaskGroup { group in
                if first.note.kind != .login { try await answer(first, connection, &group) }
                while let letter = try await connection.next() {
                    last = letter
                    ledger.served(letter)
                    if chance(moodiness / 20) { try await world.advance(by: .seconds(3)) }
                    try await answer(letter, connection, &group)
                }
                group.cancelAll()
            }
        } catch {
            // What was decoded can be read all the same, unless this is to end at once.
            while let letter = try await Self.rest(of: connection) {
                last = letter
                ledger.served(letter)
            }
        }
        if let last, !Task.isCancelled { ledger.servedAll(of: last.reader) }
    }

    /// What was decoded before the end.
    private static func rest(of connection: Link) async throws -> Letter? {
        if connection.closeReason == nil { connection.closeNow() }
        do { return try await connection.next() } catch is SocketError { return nil }
    }

    private func welcome(_ first: Letter, _ connection: Link) async throws {
        var dice = world.random
        var number: Int32 = 0
        if chance(moodiness) {
            switch Int.random(in: 0..<8, using: &dice) {
            case 0, 1: number = Int32.random(in: 1...5_000, using: &dice)
            case 2, 3: number = -2
            case 4:
                try await connection.send(Note(kind: .refusal, client: first.note.client))
                return
            case 5: number = -1
            case 6:
                // It waits in vain.
                try await world.advance(by: .seconds(30))
                return
            default:
                connection.closeNow()
                return
            }
        }
        if number != 0 {
            try await connection.send(Note(kind: .wish, number: number, client: first.note.client))
        } else {
            try await connection.send(Note(kind: .welcome, client: first.note.client))
            if chance(0.3) { try await connection.send(Note(kind: .news, number: 0, client: first.note.client)) }
        }
    }

    private func answer(_ letter: Letter, _ connection: Link, _ group: inout ThrowingDiscardingTaskGroup<any Error>) async throws {
        var dice = world.random
        let note = letter.note
        switch note.kind {
        case .chat:
            try await connection.send(Note(kind: .echo, number: note.number, client: note.client, size: note.size))
        case .question where note.number == Self.unanswerable: break
        case .question:
            let answer = Note(kind: .answer, number: note.number, client: note.client, serial: note.serial)
            // Answers in order have no serial.
            let mood = chance(moodiness * 2) ? Int.random(in: 0..<(note.serial == 0 ? 1 : 4), using: &dice) : -1
            switch mood {
            case 0 where note.serial == 0: try await world.advance(by: .milliseconds(Int.random(in: 1...3_000, using: &dice)))
            case 0:
                let delay = Duration.milliseconds(Int.random(in: 1...6_000, using: &dice))
                group.addTask {
                    try? await self.world.advance(by: delay)
                    try? await connection.send(answer)
                }
                return
            case 1: return
            case 2: try await connection.send(answer)
            case 3: try await connection.send(Note(kind: .answer, number: -1, client: note.client, serial: 1_000_000))
            default: break
            }
            try await connection.send(answer)
            if chance(moodiness / 10) {
                try await connection.send(Note(kind: .wish, number: Int32.random(in: 1...5_000, using: &dice), client: note.client))
                await connection.close(within: .seconds(2))
            }
        default: break
        }
    }
}
