import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("A link that is kept up")
struct SupervisorTests {
    @Test("registers first, and what the registration leaves unread is the first message")
    func registers() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let kept = Log<Connection<LineCodec>>()
            let link = world.link { connection in
                kept.add(connection)
                try await connection.send("login")
                #expect(try await connection.next() == "welcome")
            }
            #expect(link.status == .idle)
            #expect(await link.start())
            #expect(await link.start() == false)
            let peer = try await lobby.peer(0)
            #expect(try await peer.line() == "login")
            await world.settle()
            #expect(link.status == .connecting(attempt: 1))
            try await peer.write(Bytes("welcome\nfirst\nsec"))
            await world.settle()
            #expect(link.status == .connected)
            try await peer.say("ond")
            #expect(try await link.next() == "first")
            #expect(try await link.next() == "second")
            try await link.send("hello")
            #expect(try await peer.line() == "hello")

            // The registration is over.
            await expectError(.misuse) { try await kept.entries[0].send("late") }
            await expectError(.misuse) { try await kept.entries[0].next() as Any }
            kept.entries[0].closeNow()
            kept.removeAll()
            await world.settle()
            #expect(link.status == .connected)

            async let ended: Void = {
                await peer.expect(nil)
                await peer.close()
            }()
            await link.stop()
            #expect(link.status == .stopped(why: .byUser(.user)))
            #expect(try await link.next() == nil)
            await ended
            await world.expectQuiet()
        }
    }

    @Test("a server that is killed and comes back: the link is there again, and each message arrives once")
    func restart() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link(reconnect: .delays([.zero, .seconds(2), .seconds(4)])) { try await $0.send("login") }
            let updates = link.statusUpdates
            await link.start()
            #expect(try await lobby.peer(0).line() == "login")
            try await lobby.peer(0).say("one")
            try await world.advance(by: .seconds(60))
            await lobby.kill()
            try await world.advance(by: .seconds(3))
            try await lobby.open()
            #expect(try await lobby.peer(1).line() == "login")
            try await lobby.peer(1).say("two")
            #expect(try await link.next() == "one")
            #expect(try await link.next() == "two")
            #expect(lobby.accepted == [.zero, .seconds(66)])
            await link.stop(within: .zero)
            await lobby.kill()
            var seen: [String] = []
            for await status in updates {
                seen.append("\(status)")
                if status.isStopped { break }
            }
            let reset = "reset: "
            let refused = "refused: "
            let expected = [
                "idle", "connecting (1)", "connected", "waiting 0.0 seconds: \(reset)", "connecting (1)", "waiting 2.0 seconds: \(refused)",
                "connecting (2)", "waiting 4.0 seconds: \(refused)", "connecting (3)", "connected", "stopped: stopped by the user",
            ]
            #expect(seen.count == expected.count && zip(seen, expected).allSatisfy { $0.hasPrefix($1) }, "\(seen)")
            await world.expectQuiet()
        }
    }

    @Test("C35: each way to end is told once, with its reason", arguments: ["close", "reset", "violation", "truncation", "idle"])
    func endings(way: String) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var options = SupervisorOptions()
            if way == "idle" { options.connection.idleLimit = .seconds(20) }
            var policy = ReconnectPolicy.every(.seconds(1000))
            policy.decide = { _ in .retry }
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: LengthPrefixCodec(layout: LengthLayout(width: .four, order: .big)), on: world.network,
                reconnect: policy, options: options)
            let updates = link.statusUpdates
            await link.start()
            let peer = try await lobby.peer(0)
            await world.settle()
            switch way {
            case "close": try await peer.finishSending()
            case "reset": peer.reset()
            case "violation": try await peer.write([255, 255, 255, 255])
            case "truncation":
                try await peer.write([0, 0])
                try await peer.finishSending()
            default: break
            }
            try await world.advance(by: .seconds(100))
            await link.stop()
            var reasons: [OfflineReason] = []
            var count = 0
            for await status in updates {
                count += 1
                if case .waiting(_, let why) = status { reasons.append(why) }
                if status.isStopped { break }
            }
            #expect(count == 5 && reasons.count == 1)
            let isRight =
                switch reasons.first {
                case .byServer: way == "close"
                case .networkGone(let error): error.code == (way == "reset" ? .reset : .truncated)
                case .protocolViolation: way == "violation"
                case .timedOut(.idle, _): way == "idle"
                default: false
                }
            #expect(isRight, "\(reasons)")
            await peer.close(within: .zero)
            await world.expectQuiet()
        }
    }

    @Test("C74: exactly as many attempts as allowed, then it gives up with the last error; the next start has as many again")
    func givesUp() async throws {
        try await simulate { world in
            var policy = ReconnectPolicy.every(.seconds(1))
            policy.attempts = 3
            let link = world.link(reconnect: policy)
            let updates = link.statusUpdates
            let error = await expectError(.gaveUp) { try await link.run() }
            #expect((error?.cause as? SocketError)?.code == .refused)
            var attempts = 0
            for await status in updates {
                if status.isConnecting { attempts += 1 }
                if status.isStopped { break }
            }
            #expect(attempts == 3 && world.now == .seconds(2))
            await expectError(.gaveUp) { try await link.next() as Any }
            guard case .stopped(why: .gaveUp(attempts: 3, last: .refused)) = link.status else {
                Issue.record("\(link.status)")
                return
            }

            let lobby = Lobby(world)
            #expect(await link.start())
            try await world.advance(by: .milliseconds(1500))
            try await lobby.open()
            try await world.advance(by: .seconds(1))
            #expect(link.status == .connected)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a link that flaps isn't hammered")
    func flapping() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link(reconnect: .exponential(jitter: .none))
            async let dropping: Void = {
                for number in 0..<8 { try await lobby.peer(number).close(within: .zero) }
            }()
            await link.start()
            try await dropping
            #expect(lobby.accepted == [0, 1, 3, 7, 15, 31, 61, 91].map { .seconds($0) })
            await link.stop(within: .zero)
            await world.expectQuiet()
        }
    }

    @Test("C72: a thousand clients of one server don't come back at the same moment; the same seed, the same moments")
    func spread() async throws {
        let moments = { (seed: UInt64) in
            try await simulate(seed: seed) { world in
                let lobby = Lobby(world)
                try await lobby.open(backlog: 2000)
                let policy = ReconnectPolicy.exponential(first: .seconds(4), cap: .seconds(30), jitter: .full)
                let links = (0..<1000).map { _ in world.link(reconnect: policy) }
                for link in links { await link.start() }
                try await world.advance(by: .seconds(60))
                await lobby.kill()
                try await lobby.open(backlog: 2000)
                try await world.advance(by: .seconds(10))
                for link in links { await link.stop(within: .zero) }
                await lobby.kill()
                await world.expectQuiet()
                return lobby.accepted.dropFirst(1000).map { $0 - .seconds(60) }
            }
        }
        let first = try await moments(72)
        #expect(first.count == 1000 && first.allSatisfy { $0 > .zero && $0 <= .seconds(4) })
        let slots = Dictionary(grouping: first) { Int($0 / .milliseconds(10)) }
        #expect(slots.values.allSatisfy { $0.count <= 50 } && slots.count > 200)
        #expect(try await moments(72) == first)
        #expect(try await moments(73) != first)
    }

    @Test("a shared budget spreads what would be a storm")
    func budget() async throws {
        try await simulate { world in
            var options = SupervisorOptions()
            options.retryBudget = RetryBudget(burst: 2, every: .seconds(1))
            let lobby = Lobby(world)
            try await lobby.open()
            let links = (0..<5).map { _ in world.link(reconnect: .atOnce(spacing: .zero), options: options) }
            for link in links { await link.start() }
            try await world.advance(by: .seconds(60))
            await lobby.kill()
            try await lobby.open()
            try await world.advance(by: .seconds(20))
            #expect(lobby.accepted == [0, 0, 0, 0, 0, 60, 60, 61, 62, 63].map { .seconds($0) })
            for link in links { await link.stop(within: .zero) }
        }
    }

    @Test("C79: an attempt that never finishes ends at its limit, and the next begins")
    func attemptLimit() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open(backlog: 1)
            lobby.pause()
            // It takes the only place, and nobody accepts.
            let first = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
            var options = SupervisorOptions()
            options.connectLimit = .seconds(3)
            let link = world.link(reconnect: .every(.seconds(2)), options: options)
            await link.start()
            let why = await world.wait(for: link) { $0.isWaiting }.offlineReason
            guard case .timedOut(.connect, _) = why else {
                Issue.record("\(String(describing: why))")
                return
            }
            #expect(world.now == .seconds(3))
            _ = await world.wait(for: link) { $0 == .connecting(attempt: 2) }
            #expect(world.now == .seconds(5))
            await link.stop()
            await first.close(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("C79: a registration that never finishes ends at its limit, and the next attempt begins")
    func registrationLimit() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var options = SupervisorOptions()
            options.registrationLimit = .seconds(5)
            let link = world.link(options: options) { connection in
                try await connection.send("login")
                _ = try await connection.next()
            }
            await link.start()
            _ = await world.wait(for: link) { $0.isWaiting }
            guard case .waiting(_, why: .timedOut(.registration, _)) = link.status else {
                Issue.record("\(link.status)")
                return
            }
            #expect(world.now == .seconds(5))
            try await lobby.peer(1).say("ok")
            await world.settle()
            #expect(world.now == .seconds(6) && link.status == .connected)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("reconnectNow cuts a wait short, and nothing else")
    func reconnectNow() async throws {
        try await simulate { world in
            let link = world.link(reconnect: .every(.seconds(50)))
            await link.reconnectNow()
            await link.start()
            await link.reconnectNow()
            _ = await world.wait(for: link) { $0.isWaiting }
            try await world.advance(by: .seconds(10))
            let lobby = Lobby(world)
            try await lobby.open()
            await link.reconnectNow()
            _ = try await lobby.peer(0)
            await world.settle()
            #expect(world.now == .seconds(10) && link.status == .connected)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    struct Refused: Error {}

    @Test("C78: a refused login isn't tried again, whatever it throws, unless the connection had ended before it knew", arguments: 0..<5)
    func refusedLogin(way: Int) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link { connection in
                try await connection.send("login")
                guard try await connection.next() == "yes" else {
                    switch way {
                    case 0, 1: throw Refused()
                    case 2: throw SocketError(.kicked, "logged in elsewhere")
                    case 3: throw ReconnectHint.never
                    default: throw ReconnectHint.after(.milliseconds(700))
                    }
                }
            }
            async let running: Void = link.run()
            let peer = try await lobby.peer(0)
            #expect(try await peer.line() == "login")
            if way != 1 { try await peer.say("no") }
            try await peer.finishSending()
            let status = await world.wait(for: link) { $0.isStopped || $0.isWaiting }
            switch (way, status) {
            case (0, .stopped(why: .loginRefused(let error))): #expect(error.cause is Refused)
            case (1, .waiting(for: .seconds(1), why: .byServer)): await link.stop()
            case (2, .stopped(why: .kicked)), (3, .stopped(why: .kicked)): break
            case (4, .waiting(for: .milliseconds(700), why: _)): await link.stop()
            default: Issue.record("\(status)")
            }
            do {
                try await running
                #expect(way == 1 || way == 4)
            } catch let error as SocketError {
                #expect(error.code == (way == 0 ? .loginRefused : .kicked))
            }
            #expect(lobby.accepted.count == 1)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a hint that came with the messages is obeyed at the end of the connection")
    func hint() async throws {
        try await simulate { world in
            let (home, other) = (Lobby(world), Lobby(world, name: "other"))
            try await home.open()
            try await other.open()
            let link = world.link()
            await link.start()
            let peer = try await home.peer(0)
            await world.settle()
            await link.obey(.elsewhere(.inMemory("other")))
            try await peer.finishSending()
            let second = try await other.peer(0)
            await world.settle()
            #expect(world.now == .zero && link.status == .connected)
            second.reset()
            _ = try await home.peer(1)
            await link.stop(within: .zero)
            await home.kill()
            await other.kill()
            await world.expectQuiet()
        }
    }

    @Test("a run that is cancelled ends everything at once")
    func cancelledRun() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link()
            await withTaskGroup { group in
                group.addTask {
                    do {
                        try await link.run()
                        Issue.record("no error")
                    } catch { #expect(error is CancellationError) }
                }
                _ = await world.wait(for: link) { $0 == .connected }
                group.cancelAll()
            }
            #expect(link.status == .stopped(why: .byUser(.cancelled)))
            #expect(try await lobby.peer(0).line() == nil)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("nothing is left of a link that was stopped and let go")
    func released() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            weak var gone: Supervisor<LineCodec>?
            let updates = try await {
                let link = world.link { try await $0.send("login") }
                gone = link
                await link.start()
                _ = try await lobby.peer(0).line()
                await link.stop(within: .zero)
                return link.statusUpdates
            }()
            await lobby.kill()
            await world.expectQuiet()
            #expect(gone == nil)
            var left: [LinkStatus] = []
            for await status in updates { left.append(status) }
            #expect(left == [.stopped(why: .byUser(.user))])
        }
    }
}
