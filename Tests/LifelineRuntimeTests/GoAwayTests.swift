import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("A server that lets a link go")
struct GoAwayTests {
    /// How the servers of these tests say it.
    static let goAway: @Sendable (String) -> GoAway? = { line in
        let words = line.split(separator: " ")
        switch words.first {
        case "kicked": return .kicked(words.dropFirst().joined(separator: " "))
        case "busy": return .tooBusy(after: words.count > 1 ? Int(words[1]).map { .milliseconds($0) } : nil)
        case "back": return Int(words[1]).map { .comeBack(after: .milliseconds($0)) }
        case "move": return .elsewhere(.inMemory(String(words[1])))
        default: return nil
        }
    }

    private func link(
        _ world: World, reconnect: ReconnectPolicy = .every(.seconds(1)), options: SupervisorOptions = SupervisorOptions(),
        register: Supervisor<LineCodec>.Registration? = nil, goAway: @escaping @Sendable (String) -> GoAway? = Self.goAway
    ) -> Supervisor<LineCodec> {
        Supervisor(
            endpoint: .inMemory("home"), codec: .lines, on: world.network, reconnect: reconnect, options: options, register: register,
            goAway: goAway)
    }

    private struct Refused: Error {}

    /// Says "login" and wants to hear "welcome".
    private static let register: Supervisor<LineCodec>.Registration = { connection in
        try await connection.send("login")
        guard try await connection.next() == "welcome" else { throw Refused() }
    }

    /// The end of a test: nothing is left.
    private func end(_ link: Supervisor<LineCodec>, _ lobbies: Lobby..., in world: World) async {
        await link.stop(within: .zero)
        for lobby in lobbies { await lobby.kill() }
        await world.expectQuiet()
    }

    @Test("a kick behind messages in flight: all of them arrive, then the words, then the reason; nobody comes back", arguments: 1...20)
    func kick(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            var options = ServerOptions()
            options.connection.outbox = Marks(high: 256)
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: world.network, options: options)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { connection in
                        for number in 0..<100 { try await connection.send("\(number)") }
                        let isComplete = try await connection.close(saying: "kicked logged in elsewhere")
                        #expect(isComplete)
                    }
                }
                var options = SupervisorOptions()
                options.connection = .small(64)
                let link = link(world, options: options)
                let updates = link.statusUpdates
                await link.start()
                try await world.advance(by: .seconds(1000))
                guard case .stopped(why: .kicked(let error)) = link.status else {
                    Issue.record("\(link.status)")
                    return
                }
                #expect(error.code == .kicked && error.message == "logged in elsewhere")
                for number in 0..<100 { #expect(try await link.next() == "\(number)") }
                #expect(try await link.next() == "kicked logged in elsewhere")
                await expectError(.kicked) { try await link.next() as Any }
                var seen: [LinkStatus] = []
                for await status in updates {
                    seen.append(status)
                    if status.isStopped { break }
                }
                #expect(seen == [.idle, .connecting(attempt: 1), .connected, .stopped(why: .kicked(error))])
                #expect(server.connections.isEmpty)
                await server.shutdown()
                try await group.waitForAll()
            }
            await world.expectQuiet()
        }
    }

    @Test("come back later: to the moment, neither earlier nor later, and the schedule isn't used up by it")
    func comeBack() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world, reconnect: .delays([.seconds(1)]))
            await link.start()
            for number in 0..<3 {
                let peer = try await lobby.peer(number)
                try await peer.say("back 700")
                try await peer.finishSending()
                await world.settle()
                #expect(link.status == .waiting(for: .milliseconds(700), why: .byServer))
            }
            _ = try await lobby.peer(3)
            #expect(lobby.accepted == [0, 700, 1400, 2100].map { .milliseconds($0) })
            await end(link, lobby, in: world)
        }
    }

    @Test(
        "too busy, said before the registration is done: it is retried by the schedule or by the hint, whatever the registration makes of it",
        arguments: [false, true], 0..<3)
    func tooBusy(hasHint: Bool, way: Int) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world) { connection in
                try await connection.send("login")
                switch way {
                case 0: guard try await connection.next() == "welcome" else { throw Refused() }
                case 1: if try await connection.next() != "welcome" { throw SocketError(.loginRefused, "unexpected") }
                // It waits for something else, until the connection ends.
                default: while let line = try await connection.next() { if line == "welcome" { return } }
                }
                if way == 2 { throw Refused() }
            }
            await link.start()
            let first = try await lobby.peer(0)
            try await first.say(hasHint ? "busy 250" : "busy")
            try await first.finishSending()
            guard case .waiting(for: let delay, why: .refused(let error)) = await world.wait(for: link, { $0.isWaiting || $0.isStopped })
            else {
                Issue.record("\(link.status)")
                return
            }
            #expect(error.code == .tooBusy && delay == (hasHint ? .milliseconds(250) : .seconds(1)))
            let second = try await lobby.peer(1)
            #expect(lobby.accepted == [.zero, delay])
            try await second.say("welcome")
            await world.settle()
            #expect(link.status == .connected)
            await end(link, lobby, in: world)
        }
    }

    @Test("a real server that is too busy: the link comes when there is room", arguments: 1...10)
    func busyServer(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            var options = ServerOptions()
            options.maximumConnections = 1
            let server = try await Server.bind(.inMemory("home"), codec: .lines, on: world.network, options: options, tooBusy: "busy 300")
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { connection in
                        while let line = try await connection.next() { try await connection.send(line == "login" ? "welcome" : line) }
                    }
                }
                let first = try await Connection.connect(to: .inMemory("home"), codec: .lines, on: world.network)
                await world.settle()
                let link = link(world, register: Self.register)
                await link.start()
                try await world.advance(by: .seconds(1))
                guard case .waiting(for: .milliseconds(300), why: .refused) = link.status else {
                    Issue.record("\(link.status)")
                    return
                }
                await first.close()
                _ = await world.wait(for: link) { $0 == .connected }
                #expect(world.now == .milliseconds(1200))
                await link.stop()
                await server.shutdown()
                try await group.waitForAll()
            }
            await world.expectQuiet()
        }
    }

    @Test("a server that shuts down sends its clients away for the time that it needs", arguments: 1...10)
    func restart(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                while let line = try await connection.next() { try await connection.send(line == "login" ? "welcome" : line) }
            }
            let links = (0..<3).map { _ in link(world, reconnect: .every(.seconds(50)), register: Self.register) }
            for (round, delay) in [2000, 3000].enumerated() {
                let server = try await Server.bind(.inMemory("home"), codec: .lines, on: world.network)
                try await withThrowingTaskGroup { group in
                    group.addTask { try await server.run(handler) }
                    if round == 0 { for link in links { await link.start() } }
                    for link in links { #expect(await world.wait(for: link) { $0 == .connected } == .connected) }
                    #expect(world.now == .seconds(round * 2))
                    #expect(try await server.shutdown(within: .seconds(1)) { _ in "back \(delay)" })
                    try await group.waitForAll()
                }
                await world.settle()
                for link in links {
                    #expect(link.status == .waiting(for: .milliseconds(delay), why: .byServer))
                }
            }
            for link in links { await link.stop() }
            await world.expectQuiet()
        }
    }

    @Test("a kick while the link registers, also one that stands behind the welcome and one that nobody waits for", arguments: 0..<3)
    func kickInRegistration(way: Int) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world, register: Self.register)
            await link.start()
            let peer = try await lobby.peer(0)
            switch way {
            case 0: try await peer.say("kicked wrong version")
            case 1: try await peer.write(Bytes("welcome\nkicked wrong version\n"))
            default: try await peer.write(Bytes("kicked wrong version\nwelcome\n"))
            }
            try await peer.finishSending()
            _ = await world.wait(for: link) { $0.isStopped }
            guard case .stopped(why: .kicked(let error)) = link.status else {
                Issue.record("\(link.status)")
                return
            }
            #expect(error.message == "wrong version" && world.now == .zero)
            if way == 1 { #expect(try await link.next() == "kicked wrong version") }
            await expectError(.kicked) { try await link.next() as Any }
            try await world.advance(by: .seconds(100))
            #expect(lobby.accepted.count == 1)
            await end(link, lobby, in: world)
        }
    }

    @Test("of several wishes the last one counts, and a new connection begins without any")
    func several() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world)
            await link.start()
            let first = try await lobby.peer(0)
            try await first.say("kicked\nback 5000")
            try await first.say("busy 300")
            try await first.finishSending()
            let second = try await lobby.peer(1)
            #expect(world.now == .milliseconds(300))
            try await second.finishSending()
            #expect(await world.wait(for: link) { $0.isWaiting } == .waiting(for: .seconds(1), why: .byServer))
            await end(link, lobby, in: world)
        }
    }

    @Test("it is obeyed whatever ends the connection then", arguments: ["reset", "truncation", "violation", "silence"])
    func abruptEnd(way: String) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var options = SupervisorOptions()
            options.goAwayLimit = nil
            if way == "silence" { options.connection.idleLimit = .seconds(20) }
            let link = link(world, options: options)
            await link.start()
            let peer = try await lobby.peer(0)
            try await peer.say("kicked for good")
            await world.settle()
            #expect(link.status == .connected)
            switch way {
            case "reset": peer.reset()
            case "truncation":
                try await peer.write(Bytes("half a li"))
                try await peer.finishSending()
            case "violation": try await peer.write([0xFF, 0x0A])
            default: break
            }
            let status = await world.wait(for: link) { $0.isStopped || $0.isWaiting }
            guard case .stopped(why: .kicked(let error)) = status else {
                Issue.record("\(status)")
                return
            }
            #expect(error.message == "for good" && world.now == (way == "silence" ? .seconds(20) : .zero))
            await end(link, lobby, in: world)
        }
    }

    @Test("a server that doesn't end the connection: it is ended here at the limit, counted from the first wish; without one it goes on")
    func serverStays() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let strict = link(world)
            await strict.start()
            let peer = try await lobby.peer(0)
            try await peer.say("back 2000")
            try await world.advance(by: .seconds(4))
            try await peer.say("back 3000")
            try await strict.send("still here")
            await peer.expect("still here", nil)
            #expect(world.now == .seconds(5))
            await world.settle()
            #expect(strict.status == .waiting(for: .seconds(3), why: .byServer))
            // It doesn't fire into the next connection.
            _ = try await lobby.peer(1)
            try await world.advance(by: .seconds(60))
            #expect(strict.status == .connected)
            await strict.stop(within: .zero)

            var options = SupervisorOptions()
            options.goAwayLimit = nil
            let patient = link(world, options: options)
            await patient.start()
            let other = try await lobby.peer(2)
            try await other.say("back 2000")
            try await world.advance(by: .seconds(3600))
            #expect(patient.status == .connected)
            try await other.finishSending()
            await world.settle()
            #expect(patient.status == .waiting(for: .seconds(2), why: .byServer))
            await end(patient, lobby, in: world)
        }
    }

    @Test("a registration that waits on behind it ends at the limit, too")
    func registrationStays() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world) { connection in
                while let line = try await connection.next() { if line == "welcome" { return } }
                throw Refused()
            }
            await link.start()
            try await lobby.peer(0).say("busy 100")
            guard case .waiting(for: .milliseconds(100), why: .refused) = await world.wait(for: link, { $0.isWaiting || $0.isStopped })
            else {
                Issue.record("\(link.status)")
                return
            }
            #expect(world.now == .seconds(5))
            await end(link, lobby, in: world)
        }
    }

    @Test("each frame of each connection is shown once, in order, whether or not somebody reads, and goes where it goes without it")
    func shownOnce() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let shown = Log<String>()
            let look: @Sendable (String) -> GoAway? = { line in
                shown.add(line)
                return Self.goAway(line)
            }
            let link = link(world, register: Self.register, goAway: look)
            let kicks = link.subscribe { $0.hasPrefix("back") }
            await link.start()
            let peer = try await lobby.peer(0)
            try await peer.write(Bytes("welcome\none\nback 700\ntw"))
            await world.settle()
            try await peer.say("o")
            try await peer.finishSending()
            await world.settle()
            #expect(shown.entries == ["welcome", "one", "back 700", "two"])
            #expect(link.status == .waiting(for: .milliseconds(700), why: .byServer))
            #expect(try await link.next() == "one")
            #expect(try await link.next() == "two")
            #expect(try await kicks.next() == "back 700")
            try await lobby.peer(1).say("welcome")
            await world.settle()
            #expect(shown.entries.dropFirst(4) == ["welcome"])
            await end(link, lobby, in: world)
        }
    }

    @Test("what the application says goes before it, and a stop before everything")
    func obeyed() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world)
            await link.start()
            let first = try await lobby.peer(0)
            try await first.say("kicked by mistake")
            await world.settle()
            await link.obey(.after(.seconds(2)))
            try await first.finishSending()
            let second = try await lobby.peer(1)
            #expect(world.now == .seconds(2))
            try await second.say("kicked")
            await world.settle()
            await link.stop(within: .zero)
            #expect(link.status == .stopped(why: .byUser(.user)))
            #expect(await link.start())
            _ = try await lobby.peer(2)
            await end(link, lobby, in: world)
        }
    }

    @Test("elsewhere: at once, and home again when that one can't be had")
    func elsewhere() async throws {
        try await simulate { world in
            let (home, other) = (Lobby(world), Lobby(world, name: "other"))
            try await home.open()
            try await other.open()
            let link = link(world)
            await link.start()
            let first = try await home.peer(0)
            try await first.say("move other")
            try await first.finishSending()
            let second = try await other.peer(0)
            await world.settle()
            #expect(world.now == .zero && link.status == .connected)
            second.reset()
            _ = try await home.peer(1)
            #expect(world.now == .seconds(1))
            await end(link, home, other, in: world)
        }
    }

    @Test("C72: a thousand clients that were told one time come spread over what was asked for; the same seed, the same moments")
    func spread() async throws {
        let moments = { (seed: UInt64) in
            try await simulate(seed: seed) { world in
                let lobby = Lobby(world)
                try await lobby.open(backlog: 2000)
                let links = (0..<1000).map { _ in
                    link(world, goAway: { $0 == "bye" ? .comeBack(after: .seconds(5), spread: .seconds(10)) : nil })
                }
                for link in links { await link.start() }
                for number in 0..<1000 {
                    let peer = try await lobby.peer(number)
                    try await peer.say("bye")
                    try await peer.finishSending()
                }
                try await world.advance(by: .seconds(20))
                for link in links { await link.stop(within: .zero) }
                await lobby.kill()
                await world.expectQuiet()
                return Array(lobby.accepted.dropFirst(1000))
            }
        }
        let first = try await moments(72)
        #expect(first.count == 1000 && first.allSatisfy { $0 >= .seconds(5) && $0 <= .seconds(15) })
        let slots = Dictionary(grouping: first) { Int($0 / .milliseconds(10)) }
        #expect(slots.values.allSatisfy { $0.count <= 50 } && slots.count > 400)
        #expect(try await moments(72) == first)
        #expect(try await moments(73) != first)
    }
}
