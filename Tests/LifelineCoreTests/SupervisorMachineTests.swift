import LifelineCore
import Testing

@Suite("The life of a link")
struct SupervisorMachineTests {
    private typealias Action = SupervisorMachine.Action
    private static let home = Endpoint.inMemory("home")
    private let refused = OfflineReason.refused(SocketError(.refused, "x"))

    /// A machine and what a test tells it, at a time that the test moves.
    private struct Script {
        var machine: SupervisorMachine
        var now = Duration.zero
        var generator = Numbers(4)

        init(_ policy: ReconnectPolicy) { machine = SupervisorMachine(endpoint: home, policy: policy) }

        mutating func start() -> Action { machine.start(now: now) }
        mutating func dialed() -> Action { machine.dialed(machine.generation) }
        mutating func registered() -> Action { machine.registered(machine.generation, now: now) }
        mutating func lost(_ why: OfflineReason) -> Action { machine.lost(machine.generation, why, now: now, using: &generator) }
        mutating func waited() -> Action { machine.waited(machine.generation, now: now) }

        mutating func connect() {
            _ = dialed()
            _ = registered()
        }

        /// Lets every attempt fail at once and returns the moments at which they began, up to the end or to `count`.
        mutating func attempts(_ count: Int, first: Action, failing why: OfflineReason) -> [Duration] {
            var moments: [Duration] = []
            var action = first
            while moments.count < count {
                switch action {
                case .dial:
                    moments.append(now)
                    action = lost(why)
                case .wait(let delay):
                    now += delay
                    action = waited()
                default: return moments
                }
            }
            return moments
        }
    }

    // The arrows.

    @Test("idle → connecting → registering → connected → waiting → connecting")
    func life() {
        var script = Script(.every(.seconds(5)))
        #expect(script.machine.status == .idle && !script.machine.isRunning)
        #expect(script.start() == .dial(Self.home))
        #expect(script.machine.status == .connecting(attempt: 1))
        #expect(script.start() == .ignore)
        #expect(script.dialed() == .register)
        #expect(script.machine.phase == .registering && script.machine.status == .connecting(attempt: 1))
        #expect(script.dialed() == .ignore)
        #expect(script.registered() == .open)
        #expect(script.machine.status == .connected)
        #expect(script.registered() == .ignore)
        script.now = .seconds(60)
        #expect(script.lost(.byServer) == .wait(.seconds(5)))
        #expect(script.machine.status == .waiting(for: .seconds(5), why: .byServer) && script.machine.isWaiting)
        #expect(script.dialed() == .ignore && script.registered() == .ignore)
        #expect(script.lost(.byServer) == .ignore)
        #expect(script.waited() == .dial(Self.home))
        #expect(script.machine.status == .connecting(attempt: 1))
        #expect(script.waited() == .ignore)
    }

    @Test("connecting → waiting, registering → waiting, → stopped where no further attempt is allowed, and back by a start")
    func failures() {
        var script = Script(.delays([.seconds(1), .seconds(2)]))
        _ = script.start()
        #expect(script.lost(refused) == .wait(.seconds(1)))
        _ = script.waited()
        _ = script.dialed()
        #expect(script.lost(.byServer) == .wait(.seconds(2)))
        _ = script.waited()
        script.connect()
        let gaveUp = OfflineReason.gaveUp(attempts: 3, last: .byServer)
        #expect(script.lost(.byServer) == .end(gaveUp))
        #expect(script.machine.status == .stopped(why: gaveUp) && !script.machine.isRunning)
        #expect(script.lost(.byServer) == .ignore && script.waited() == .ignore && script.dialed() == .ignore)
        #expect(script.start() == .dial(Self.home))
        #expect(script.machine.status == .connecting(attempt: 1))
    }

    @Test("C69: stop in each phase: what was under way is interrupted, and whatever it says then is the end", arguments: 0..<4, 0..<4)
    func stopping(phase: Int, event: Int) {
        var script = Script(.every(.zero))
        #expect(script.machine.stop(because: .user) == .ignore)
        _ = script.start()
        if phase == 1 || phase == 2 { _ = script.dialed() }
        if phase == 2 { _ = script.registered() }
        if phase == 3 { _ = script.lost(refused) }
        #expect(script.machine.stop(because: .background) == .interrupt)
        #expect(script.machine.status == nil && script.machine.isRunning)
        #expect(script.machine.stop(because: .user) == .ignore)
        let action =
            switch event {
            case 0: script.dialed()
            case 1: script.registered()
            case 2: script.lost(refused)
            default: script.machine.over()
            }
        #expect(action == .end(.byUser(.background)))
        #expect(script.machine.status == .stopped(why: .byUser(.background)))
        #expect(script.machine.over() == .ignore)
        #expect(script.machine.stop(because: .user) == .ignore)
    }

    @Test("a stop during a wait ends with the wait")
    func stoppingWait() {
        var script = Script(.every(.zero))
        _ = script.start()
        _ = script.lost(refused)
        _ = script.machine.stop(because: "maintenance")
        #expect(script.waited() == .end(.byUser("maintenance")))
    }

    @Test("events of an older connection don't reach the newer one")
    func generations() {
        var script = Script(.every(.seconds(1)))
        _ = script.start()
        script.connect()
        let old = script.machine.generation
        _ = script.lost(.byServer)
        let wait = script.machine.generation
        _ = script.waited()
        script.connect()
        #expect(script.machine.lost(old, .byServer, now: script.now, using: &script.generator) == .ignore)
        #expect(script.machine.waited(wait, now: script.now) == .ignore)
        #expect(script.machine.dialed(old) == .ignore && script.machine.registered(old, now: script.now) == .ignore)
        #expect(script.machine.status == .connected)
    }

    // The schedules.

    /// The schedules in the field: the moments at which attempts begin behind the loss of a stable connection.
    static let schedules: [(policy: ReconnectPolicy, moments: [Int], goesOn: Bool)] = [
        (.delays([.zero, .seconds(2), .seconds(4)]), [0, 2, 6], false),
        (.delays([.zero, .seconds(2), .seconds(6)]), [0, 2, 8], false),
        (.delays([.zero, .seconds(1), .seconds(3)]), [0, 1, 4], false),
        (.every(.seconds(50)), [50, 100, 150, 200, 250], true),
        (.atOnce(spacing: .zero), [0, 0, 0, 0, 0], true),
        (.exponential(jitter: .none), [1, 3, 7, 15, 31, 61, 91], true),
        (.never, [], false),
    ]

    @Test("each schedule of the field, to the moment", arguments: schedules.indices)
    func schedule(index: Int) {
        let (policy, moments, goesOn) = Self.schedules[index]
        var script = Script(policy)
        _ = script.start()
        script.connect()
        script.now = .seconds(1000)
        let found = script.attempts(goesOn ? moments.count : 100, first: script.lost(.byServer), failing: refused)
        #expect(found == moments.map { .seconds(1000 + $0) })
        #expect(script.machine.isRunning == goesOn)
        if !goesOn, !moments.isEmpty {
            #expect(script.machine.status == .stopped(why: .gaveUp(attempts: moments.count, last: refused)))
        }
    }

    @Test("at a start the first attempt needs no delay, and the schedule follows")
    func scheduleAtStart() {
        var script = Script(.delays([.zero, .seconds(2), .seconds(4)]))
        #expect(script.attempts(9, first: script.start(), failing: refused) == [0, 0, 2, 6].map { .seconds($0) })
    }

    @Test("never is never: the reason stays what it was")
    func never() {
        var script = Script(.never)
        _ = script.start()
        script.connect()
        script.machine.obey(.after(.seconds(1)))
        #expect(script.lost(.byServer) == .end(.byServer))
    }

    @Test("attempts that fail at once begin the spacing apart; one that took longer is followed at once")
    func spacing() {
        var script = Script(.atOnce())
        #expect(script.attempts(3, first: script.start(), failing: refused) == [0, 100, 200].map { .milliseconds($0) })
        script.now += .seconds(3)
        _ = script.waited()
        script.now += .seconds(3)
        #expect(script.lost(refused) == .wait(.zero))
    }

    // Limits.

    @Test("C74: so many attempts and no more, with the last error; the next start has as many again")
    func attempts() {
        var policy = ReconnectPolicy.every(.seconds(1))
        policy.attempts = 3
        var script = Script(policy)
        for _ in 0..<2 {
            let start = script.now
            #expect(script.attempts(99, first: script.start(), failing: refused) == [0, 1, 2].map { start + .seconds($0) })
            #expect(script.machine.status == .stopped(why: .gaveUp(attempts: 3, last: refused)))
        }
        #expect(refused == script.machine.status?.offlineReason.flatMap { if case .gaveUp(_, let last) = $0 { last } else { nil } })
    }

    @Test("no attempt begins behind the total time, and nobody waits for one that couldn't")
    func totalTime() {
        var script = Script(.every(.seconds(4), within: .seconds(10)))
        #expect(script.attempts(99, first: script.start(), failing: refused) == [0, 4, 8].map { .seconds($0) })
        #expect(script.now == .seconds(8) && !script.machine.isRunning)
    }

    @Test("a link that flaps isn't taken for a success; one that was stable is")
    func flapping() {
        var script = Script(.exponential(jitter: .none))
        _ = script.start()
        for delay in [1, 2, 4, 8] {
            script.connect()
            script.now += .seconds(9)
            #expect(script.lost(.byServer) == .wait(.seconds(delay)))
            script.now += .seconds(delay)
            _ = script.waited()
        }
        #expect(script.machine.status == .connecting(attempt: 5))
        script.connect()
        script.now += .seconds(10)
        #expect(script.lost(.byServer) == .wait(.seconds(1)))
        _ = script.waited()
        #expect(script.machine.status == .connecting(attempt: 1))
    }

    @Test("a shared budget lengthens the delay once it is over, and once only; the total time holds all the same")
    func budget() {
        var script = Script(.every(.seconds(1), within: .seconds(10)))
        _ = script.start()
        #expect(script.lost(refused) == .wait(.seconds(1)))
        script.now = .seconds(1)
        #expect(script.machine.waited(script.machine.generation, now: script.now) { .seconds(5) } == .wait(.seconds(5)))
        #expect(script.machine.status == .waiting(for: .seconds(5), why: refused))
        script.now = .seconds(6)
        #expect(script.machine.waited(script.machine.generation, now: script.now) { .seconds(5) } == .dial(Self.home))
        #expect(script.lost(refused) == .wait(.seconds(1)))
        script.now = .seconds(7)
        let late = script.machine.waited(script.machine.generation, now: script.now) { .seconds(5) }
        #expect(late == .end(.gaveUp(attempts: 2, last: refused)))
    }

    // Reasons.

    static let hopeless: [SocketError.Code] = [
        .certificateRefused, .loginRefused, .kicked, .frameTooLarge, .protocolViolation, .invalidBody, .misuse, .unsupportedEndpoint,
    ]
    static let transient: [SocketError.Code] = [
        .refused, .reset, .unreachable, .unknownHost, .timedOut, .heartbeatMissed, .truncated, .tooBusy, .handshakeFailed, .system,
    ]

    @Test("C78: hopeless failures aren't tried again, others are, and the cause reaches the user", arguments: hopeless + transient)
    func causes(code: SocketError.Code) {
        var script = Script(.every(.seconds(1)))
        _ = script.start()
        let why = OfflineReason(SocketError(code, "x"))
        let action = script.lost(why)
        #expect(action == (Self.hopeless.contains(code) ? .end(why) : .wait(.seconds(1))))
        #expect(script.machine.status?.offlineReason?.error?.code == code)
    }

    @Test("C78: the application decides otherwise")
    func decisions() {
        var policy = ReconnectPolicy.every(.seconds(1))
        policy.decide = { why in
            switch why {
            case .loginRefused: .retryAfter(.seconds(60))
            case .protocolViolation: .retry
            case .refused: .goTo(.inMemory("spare"))
            case .byServer: .stop
            default: nil
            }
        }
        var script = Script(policy)
        _ = script.start()
        #expect(script.lost(OfflineReason(SocketError(.loginRefused, "x"))) == .wait(.seconds(60)))
        _ = script.waited()
        #expect(script.lost(OfflineReason(SocketError(.protocolViolation, "x"))) == .wait(.seconds(1)))
        _ = script.waited()
        #expect(script.lost(refused) == .wait(.zero))
        #expect(script.waited() == .dial(.inMemory("spare")))
        #expect(script.lost(OfflineReason(SocketError(.reset, "x"))) == .wait(.seconds(1)))
        #expect(script.waited() == .dial(Self.home))
        script.connect()
        #expect(script.lost(.byServer) == .end(.byServer))
    }

    @Test("hints of the server are obeyed, once")
    func hints() {
        var script = Script(.every(.seconds(1)))
        _ = script.start()
        script.connect()
        script.machine.obey(.after(.milliseconds(250)))
        #expect(script.lost(.byServer) == .wait(.milliseconds(250)))
        script.machine.obey(.never)  // Nobody is there to have said it.
        _ = script.waited()
        #expect(script.lost(refused) == .wait(.seconds(1)))
        _ = script.waited()
        _ = script.dialed()
        script.machine.obey(.never)
        #expect(script.lost(.byServer) == .end(.kicked(SocketError(.kicked, "x"))))
    }

    @Test("two servers that send a client to each other aren't hammered")
    func elsewhere() {
        var script = Script(.every(.seconds(1)))
        _ = script.start()
        for (delay, name) in [(0, "b"), (1, "a"), (1, "b")] {
            script.connect()
            script.machine.obey(.elsewhere(.inMemory(name)))
            #expect(script.lost(.byServer) == .wait(.seconds(delay)))
            #expect(script.waited() == .dial(.inMemory(name)))
        }
        #expect(script.lost(refused) == .wait(.seconds(1)))
        #expect(script.waited() == .dial(Self.home))
    }

    private static var goAways: [(GoAway, Action)] {
        [
            (.kicked("x"), .end(.kicked(SocketError(.kicked, "x")))),
            (.tooBusy(), .wait(.seconds(1))),
            (.tooBusy(after: .seconds(7)), .wait(.seconds(7))),
            (.comeBack(after: .milliseconds(250)), .wait(.milliseconds(250))),
            (.elsewhere(.inMemory("other")), .wait(.zero)),
            (.elsewhere(.inMemory("other"), after: .seconds(3)), .wait(.seconds(3))),
        ]
    }

    @Test(
        "C78: a server that lets the client go is obeyed once, whatever ends the connection or fails its registration",
        arguments: 0..<6, 0..<4)
    func goAway(index: Int, end: Int) {
        let (goAway, expected) = Self.goAways[index]
        let ends = [.byServer, OfflineReason(SocketError(.reset, "x")), OfflineReason(SocketError(.loginRefused, "x")), refused]
        var script = Script(.every(.seconds(1)))
        _ = script.start()
        _ = script.dialed()
        if end < 2 { _ = script.registered() }
        script.machine.letGo(.kicked())
        script.machine.letGo(goAway)
        #expect(script.lost(ends[end]) == expected)
        #expect(script.machine.status?.offlineReason == goAway.reason)
        script.machine.letGo(.kicked())  // Nobody is there to have said it.
        guard script.machine.isRunning else { return }
        _ = script.waited()
        #expect(script.lost(ends[1]) == .wait(.seconds(1)))
    }

    @Test("what the application was told goes before it; a start begins without either")
    func goAwayAndHint() {
        var script = Script(.every(.seconds(1)))
        _ = script.start()
        script.connect()
        script.machine.letGo(.tooBusy(after: .seconds(7)))
        script.machine.obey(.never)
        #expect(script.lost(.byServer) == .end(.kicked(SocketError(.kicked, "x"))))
        #expect((script.machine.status?.offlineReason?.error?.cause as? SocketError)?.code == .tooBusy)
        _ = script.start()
        script.connect()
        script.machine.letGo(.kicked())
        #expect(script.machine.stop(because: .user) == .interrupt && script.lost(.byServer) == .end(.byUser(.user)))
        _ = script.start()
        script.connect()
        #expect(script.lost(.byServer) == .wait(.seconds(1)))
    }

    @Test("a spread makes it later by chance, never earlier, and no time is too long", arguments: 1...100 as ClosedRange<UInt64>)
    func spread(seed: UInt64) {
        var script = Script(.every(.seconds(1)))
        script.generator = Numbers(seed)
        _ = script.start()
        script.connect()
        script.machine.obey(.after(.seconds(5), spread: .seconds(10)))
        guard case .wait(let delay) = script.lost(.byServer) else { preconditionFailure() }
        #expect(delay >= .seconds(5) && delay <= .seconds(15))
        let extremes: [(Duration, Duration)] = [(.seconds(-5), .seconds(-1)), (.zero, .zero), (.seconds(Int64.max), .seconds(Int64.max))]
        for (delay, spread) in extremes {
            _ = script.waited()
            script.connect()
            script.machine.letGo(.comeBack(after: delay, spread: spread))
            guard case .wait(let wait) = script.lost(.byServer) else { preconditionFailure() }
            #expect(wait == max(.zero, min(delay, wait)))
        }
    }

    @Test("reasons tell the kinds apart")
    func reasons() {
        #expect(OfflineReason(.closedByPeer) == .byServer)
        #expect(OfflineReason(.failed(SocketError(.reset, "x"))) == .networkGone(SocketError(.reset, "x")))
        let late = SocketError(timedOut: .connect, after: .seconds(3))
        #expect(OfflineReason(late) == .timedOut(.connect, late))
        let unacknowledged = SocketError(.timedOut, "x", errno: 110)
        #expect(OfflineReason(.failed(unacknowledged)) == .networkGone(unacknowledged))
        #expect(OfflineReason(unacknowledged) == .timedOut(.connect, unacknowledged))
        let silent = SocketError(timedOut: .idle, after: .seconds(60))
        #expect(OfflineReason(.failed(silent)) == .timedOut(.idle, silent))
        let all = SocketError(.allAddressesFailed, "x", cause: SocketError(.refused, "y"))
        #expect(OfflineReason(all) == .refused(all))
        #expect("\(OfflineReason.gaveUp(attempts: 3, last: .byServer))" == "gave up after 3 attempts: closed by the server")
    }
}
