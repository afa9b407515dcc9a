import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("Stopping a link")
struct SupervisorStopTests {
    enum Moment: CaseIterable {
        case waiting, connecting, registering, connected, asItConnects, asItRegisters, asItStarts
    }

    @Test("C69: stop at any moment: it returns, nothing is accepted after that and nothing is told", arguments: Moment.allCases)
    func stop(moment: Moment) async throws {
        for seed in 0..<200 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                let lobby = Lobby(world)
                if moment != .waiting { try await lobby.open(backlog: 1) }
                if moment == .connecting {
                    lobby.pause()
                    _ = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
                }
                let link = world.link { connection in
                    try await connection.send("login")
                    if moment == .registering { _ = try await connection.next() }
                }
                await link.start()
                switch moment {
                case .waiting:
                    _ = await world.wait(for: link) { $0.isWaiting }
                    try await world.advance(by: .milliseconds(300))
                case .connecting, .registering: await world.settle()
                case .connected: _ = await world.wait(for: link) { $0 == .connected }
                case .asItConnects: for _ in 0..<world.random.next() % 8 { await Task.yield() }
                case .asItRegisters:
                    _ = try await lobby.peer(0)
                    for _ in 0..<world.random.next() % 8 { await Task.yield() }
                case .asItStarts: break
                }
                await link.stop(because: .background, within: .zero)
                let updates = link.statusUpdates
                let accepted = lobby.accepted.count
                #expect(link.status == .stopped(why: .byUser(.background)))
                #expect(try await link.next() == nil)
                if moment == .waiting { try await lobby.open() }
                try await world.advance(by: .seconds(100))
                #expect(lobby.accepted.count <= max(accepted, moment == .waiting || moment == .registering ? 0 : 1))
                #expect(link.status == .stopped(why: .byUser(.background)))
                await lobby.kill()
                await world.expectQuiet()
                var iterator = updates.makeAsyncIterator()
                #expect(await iterator.next() == .stopped(why: .byUser(.background)))

                // And once more.
                try await lobby.open()
                let before = lobby.accepted.count
                #expect(await link.start())
                if moment != .registering {
                    _ = await world.wait(for: link) { $0 == .connected }
                    #expect(lobby.accepted.count == before + 1)
                }
                await link.stop(within: .zero)
                await lobby.kill()
                await world.expectQuiet()
            }
        }
    }

    @Test("a stop closes in good order: what was sent arrives, and the first reason stays")
    func goodOrder() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link()
            await link.start()
            let peer = try await lobby.peer(0)
            try await link.send("bye")
            try await withThrowingTaskGroup { group in
                group.addTask { await link.stop() }
                group.addTask {
                    await world.settle()
                    await link.stop(because: .background)
                }
                group.addTask {
                    await world.settle()
                    await expectError(.closed) { try await link.send("late") }
                    #expect(await link.start() == false)
                    try? await world.advance(by: .seconds(1))
                    await peer.expect("bye", nil)
                    try await peer.finishSending()
                }
                try await group.waitForAll()
            }
            #expect(world.now == .seconds(1))
            #expect(link.status == .stopped(why: .byUser(.user)))
            await link.stop()
            await expectError(.closed) { try await link.send("later") }
        }
    }

    @Test("a stop from inside the registration doesn't wait for itself")
    func fromInside() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let box = Log<Supervisor<LineCodec>>()
            let link = world.link { _ in await box.entries[0].stop() }
            box.add(link)
            try await link.run()
            #expect(link.status == .stopped(why: .byUser(.user)))
            box.removeAll()
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a link can be started again as soon as it tells that it has stopped by itself, and not before")
    func startedAtOnce() async throws {
        for seed in 0..<100 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                let link = world.link(reconnect: .never)  // Nobody listens.
                await link.start()
                for await status in link.statusUpdates where status.isStopped { break }
                for _ in 0..<10 {
                    #expect(await link.start())
                    for _ in 0..<world.random.next() % 8 { await Task.yield() }
                    let isStopped = link.status.isStopped
                    #expect(await link.start() || !isStopped)
                    for await status in link.statusUpdates where status.isStopped { break }
                }
                await link.stop()
                await world.expectQuiet()
            }
        }
    }

    @Test("C69: a stop right behind the start waits for no attempt")
    func stoppedAtOnce() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open(backlog: 1)
            lobby.pause()
            let first = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
            let link = world.link()
            await link.start()
            await link.stop(within: .zero)
            #expect(world.now == .zero && link.status == .stopped(why: .byUser(.user)))
            first.closeNow()
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("what is sent right behind another start belongs to the new run")
    func sentAtOnce() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            let link = world.link()
            await link.start()
            await link.stop()
            await link.start()
            #expect(link.status == .connecting(attempt: 1))
            let receipt = try link.post("hello")
            try await lobby.open()
            #expect(try await lobby.peer(0).line() == "hello")
            #expect(try await receipt.outcome == .written)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }
}
