import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

/// The schedules and time limits that are in use in the field, each set in one line, to the moment. Heartbeats are in ``HeartbeatTests``.
@Suite("The schedules of the field, to the moment")
struct ScheduleTests {
    // Limits.

    @Test("connect limit of a connection: 3 s, 20 s, none", arguments: [Duration.seconds(3), .seconds(20), nil])
    func connectLimit(limit: Duration?) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            let first = try await lobby.fill()
            if let limit {
                await expectError(.timedOut, .connect) {
                    try await Connection.connect(to: .inMemory("home"), codec: .lines, on: world.network, within: limit)
                }
                #expect(world.now == limit)
            } else {
                async let second = Connection.connect(to: .inMemory("home"), codec: .lines, on: world.network, within: nil)
                try await world.advance(by: .seconds(86_400))
                #expect(world.timerCount == 0)
                lobby.resume()
                #expect(try await second.closeReason == nil)
                #expect(world.now == .seconds(86_400))
            }
            await first.close(within: .zero)
            await lobby.kill()
        }
    }

    @Test("connect limit of a link: 3 s, 20 s, none", arguments: [Duration.seconds(3), .seconds(20), nil])
    func connectLimitOfALink(limit: Duration?) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            let first = try await lobby.fill()
            var options = SupervisorOptions()
            options.connectLimit = limit
            let link = world.link(reconnect: .every(.seconds(50)), options: options)
            await link.start()
            try await world.advance(by: limit ?? .seconds(86_400))
            if limit == nil {
                #expect(link.status == .connecting(attempt: 1))
                lobby.resume()
                _ = await world.wait(for: link) { $0 == .connected }
                #expect(world.now == .seconds(86_400))
            } else {
                let why = await world.wait(for: link) { $0.isWaiting }.offlineReason
                if case .timedOut(.connect, _) = why {} else { Issue.record("\(String(describing: why))") }
                #expect(world.now == limit)
            }
            await link.stop(within: .zero)
            await first.close(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("write limit: 1 s, 20 s, none", arguments: [Duration.seconds(1), .seconds(20), nil])
    func writeLimit(limit: Duration?) async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(1000) { $0.writeLimit = limit }
            let pair = try await world.pair(.raw, options: options, peer: .slow)
            try await pair.connection.send(pattern(20_000))
            if let limit {
                await expectError(.timedOut, .write) { try await pair.connection.next() as Any }
                #expect(world.now == limit)
            } else {
                try await world.advance(by: .seconds(86_400))
                #expect(pair.connection.closeReason == nil)
                var count = 0
                while count < 20_000 { count += try await pair.peer.read(atMost: 1000)?.count ?? 20_001 }
                #expect(count == 20_000)
            }
        }
    }

    // Reconnects.

    /// When attempts begin behind the loss of a connection that was stable, in seconds. The link gives up behind the last, or goes on.
    static let reconnects: [(policy: ReconnectPolicy, moments: [Int], goesOn: Bool)] = [
        (.delays([.zero, .seconds(2), .seconds(4)]), [0, 2, 6], false),
        (.delays([.zero, .seconds(2), .seconds(6)]), [0, 2, 8], false),
        (.delays([.zero, .seconds(1), .seconds(3)]), [0, 1, 4], false),
        (.atOnce(spacing: .seconds(1)), [0, 1, 2, 3, 4], true),
        (.every(.seconds(50)), [50, 100, 150, 200], true),
        (.exponential(first: .seconds(1), multiplier: 2, cap: .seconds(30), jitter: .none), [1, 3, 7, 15, 31, 61, 91], true),
        (.exponential(jitter: .none, attempts: 3), [1, 3, 7], false),
        (.exponential(jitter: .none, within: .seconds(20)), [1, 3, 7, 15], false),
        (.never, [], false),
    ]

    @Test("reconnects behind a loss", arguments: reconnects.indices)
    func reconnect(index: Int) async throws {
        let (policy, moments, goesOn) = Self.reconnects[index]
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link(reconnect: policy)
            await link.start()
            _ = await world.wait(for: link) { $0 == .connected }
            try await world.advance(by: .seconds(1000))
            let updates = link.statusUpdates
            await lobby.kill()
            var found: [Duration] = []
            var last: LinkStatus?
            for await status in updates {
                last = status
                if status.isConnecting { found.append(world.now - .seconds(1000)) }
                if status.isStopped || (goesOn && found.count == moments.count) { break }
            }
            #expect(found == moments.map { .seconds($0) })
            switch last {
            case .stopped(why: .gaveUp(attempts: let attempts, last: .refused)): #expect(!goesOn && attempts == moments.count)
            case .stopped(why: .networkGone(let error)): #expect(moments.isEmpty && error.code == .reset)
            default: #expect(goesOn)
            }
            await link.stop(within: .zero)
            await world.expectQuiet()
        }
    }

    @Test("reconnects at once, for ever, as often as the server lets go")
    func atOnce() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link(reconnect: .atOnce(spacing: .zero))
            await link.start()
            for number in 0..<100 { try await lobby.peer(number).close(within: .zero) }
            #expect(lobby.accepted.count >= 100 && world.now == .zero)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("after a success the schedule starts over, once the link has been stable", arguments: [9, 10])
    func startsOver(uptime: Int) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link(reconnect: .delays([.seconds(1), .seconds(2), .seconds(4)]))
            await link.start()
            try await lobby.peer(0).close(within: .zero)
            let second = try await lobby.peer(1)
            #expect(world.now == .seconds(1))
            try await world.advance(by: .seconds(uptime))
            await second.close(within: .zero)
            _ = try await lobby.peer(2)
            #expect(world.now == .seconds(1 + uptime + (uptime == 10 ? 1 : 2)))
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    enum Farewell: CaseIterable { case logout, background, loggedInElsewhere }

    @Test("never again after a logout, in the background, and once logged in elsewhere", arguments: Farewell.allCases)
    func never(farewell: Farewell) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link(reconnect: .atOnce())
            await link.start()
            let peer = try await lobby.peer(0)
            _ = await world.wait(for: link) { $0 == .connected }
            switch farewell {
            case .logout: await link.stop(because: .user, within: .zero)
            case .background: await link.stop(because: .background, within: .zero)
            case .loggedInElsewhere:
                await link.obey(.never)
                await peer.close(within: .zero)
            }
            let status = await world.wait(for: link) { $0.isStopped }
            switch (farewell, status.offlineReason) {
            case (.logout, .byUser(.user)), (.background, .byUser(.background)), (.loggedInElsewhere, .kicked): break
            default: Issue.record("\(status)")
            }
            try await world.advance(by: .seconds(86_400))
            #expect(lobby.accepted.count == 1)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("registration, and the join line again each 50 s, first at once")
    func joinLine() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: .lines, on: world.network,
                heartbeat: .oneWay(every: .seconds(50), atOnce: true, sending: "join"))
            await link.start()
            let peer = try await lobby.peer(0)
            for number in 0..<4 {
                await peer.expect("join")
                #expect(world.now == .seconds(50 * number))
            }
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }
}

extension Lobby {
    /// Listens without accepting, with one place, and that is taken by the stream that is returned.
    fileprivate func fill() async throws -> ByteStream {
        try await open(backlog: 1)
        pause()
        return try await dial()
    }
}
