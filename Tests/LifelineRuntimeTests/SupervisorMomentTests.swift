import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("A link in between")
struct SupervisorMomentTests {
    @Test("C69: a stop in the moment of the start interrupts the attempt", arguments: UInt64(0)..<20)
    func stopBehindStart(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let lobby = Lobby(world)
            try await lobby.open(backlog: 1)
            lobby.pause()
            // It takes the only place, and nobody accepts.
            let first = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
            let link = world.link()
            async let started = link.start()
            async let stopped: Void = link.stop()
            _ = await (started, stopped)
            await link.stop()
            #expect(world.now == .zero)
            await first.close(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a start begins a new run at once: what is sent and read right behind it belongs to it")
    func useBehindStart() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link()
            await link.start()
            _ = try await lobby.peer(0)
            await link.stop(within: .zero)
            #expect(await link.start())
            async let message = link.next()
            try await link.send("hello")
            let peer = try await lobby.peer(1)
            #expect(try await peer.line() == "hello")
            try await peer.say("hi")
            #expect(try await message == "hi")
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("who is told that it has stopped can start it", arguments: UInt64(0)..<20)
    func startWhenStopped(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 1 + Int(seed % 2)) { world in
            let link = world.link(reconnect: .never)
            let updates = link.statusUpdates
            await link.start()
            var stops = 0
            for await status in updates where status.isStopped {
                stops += 1
                if stops == 5 { break }
                #expect(await link.start())
            }
            #expect(link.status.isStopped)
            await link.stop()
            await world.expectQuiet()
        }
    }

    @Test("the time to live goes on where a connection was lost with the message before it")
    func timeToLive() async throws {
        try await simulate { world in
            let lobby = Lobby(world, options: .slow)
            try await lobby.open()
            var options = SupervisorOptions()
            options.connection.socket.sendBuffer = 64
            options.connection.outbox = Marks(high: 100)
            let link = world.link(reconnect: .every(.seconds(100)), options: options)
            await link.start()
            _ = await world.wait(for: link) { $0 == .connected }
            while try link.state.present().outbound.outbox.waitingBytes < 100 {
                try await link.send(String(repeating: "x", count: 50))
                await world.settle()
            }
            let start = world.now
            async let sending: Void = {
                await expectError(.expired) { try await link.send("late", timeToLive: .seconds(10)) }
                #expect(world.now - start == .seconds(10))
            }()
            try await world.advance(by: .seconds(8))
            try await lobby.peer(0).reset()
            _ = await sending
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("what still waits when the link itself goes was never sent")
    func forgotten() async throws {
        try await simulate { world in
            let receipt = try world.link().post("kept")
            #expect(try await receipt.outcome == .neverSent(SocketError(.closed, "x")))
        }
    }

    @Test("a shared budget holds also behind a schedule's delay")
    func budget() async throws {
        try await simulate { world in
            var options = SupervisorOptions()
            options.retryBudget = RetryBudget(burst: 1, every: .seconds(1))
            let lobby = Lobby(world)
            try await lobby.open()
            let links = (0..<5).map { _ in world.link(reconnect: .every(.seconds(10)), options: options) }
            for link in links { await link.start() }
            try await world.advance(by: .seconds(60))
            await lobby.kill()
            try await lobby.open()
            try await world.advance(by: .seconds(30))
            #expect(Array(lobby.accepted.dropFirst(5)) == [70, 71, 72, 73, 74].map { .seconds($0) })
            for link in links { await link.stop(within: .zero) }
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a wait for the budget is told, also when it is as long as the schedule's before it")
    func equalWaits() async throws {
        let board = StatusBoard()
        let reader = board.newReader()
        let waiting = LinkStatus.waiting(for: .seconds(1), why: .byServer)
        for status in [.connected, .connected, waiting, waiting] { board.post(status) }
        for expected in [.idle, .connected, waiting, waiting] { #expect(await reader.next() == expected) }
    }
}
