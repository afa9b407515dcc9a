import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("Heartbeats and requests of a link")
struct SupervisorControlTests {
    private static let heartbeat = Heartbeat<LineCodec>.pingPong(
        every: .milliseconds(100), answerWithin: .milliseconds(150), ping: "ping"
    ) { $0 == "pong" }
    .and(.answering({ $0 == "are you there" }, with: "yes"))

    /// `7 text` asks, `=7 text` answers.
    private static let pairing = Pairing<LineCodec>.byID(
        Int.self, assign: { message, id in message = "\(id) \(message)" },
        idOf: { $0.first == "=" ? Int($0.dropFirst().prefix { $0 != " " }) : nil })

    private func link(
        _ world: World, heartbeat: Heartbeat<LineCodec> = .none, pairing: Pairing<LineCodec>? = nil,
        register: Supervisor<LineCodec>.Registration? = nil
    ) -> Supervisor<LineCodec> {
        Supervisor(
            endpoint: .inMemory("home"), codec: .lines, pairing: pairing, on: world.network, heartbeat: heartbeat,
            reconnect: .every(.seconds(1)), register: register)
    }

    @Test("C59: a peer that falls silent is noticed in time, and the link starts again")
    func silence() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world, heartbeat: Self.heartbeat)
            await link.start()
            let peer = try await lobby.peer(0)
            for _ in 0..<3 {
                await peer.expect("ping")
                try await world.advance(by: .milliseconds(20))
                try await peer.say("pong")
            }
            await world.settle()
            #expect(link.roundTrip == .milliseconds(20))
            let heard = world.now
            let why = await world.wait(for: link) { $0.isWaiting }.offlineReason
            guard case .heartbeatMissed = why else {
                Issue.record("\(String(describing: why))")
                return
            }
            #expect(world.now - heard <= .milliseconds(250))
            _ = try await lobby.peer(1)
            await world.settle()
            #expect(link.status == .connected)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("during the registration the peer's pings are answered; beats of its own begin behind it, and none after the end")
    func registration() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world, heartbeat: Self.heartbeat) { connection in
                try await connection.send("login")
                #expect(try await connection.next() == "welcome")
            }
            await link.start()
            let peer = try await lobby.peer(0)
            await peer.expect("login")
            try await world.advance(by: .seconds(2))
            try await peer.say("are you there")
            await peer.expect("yes")
            try await peer.say("welcome")
            await peer.expect("ping")
            #expect(world.now == .milliseconds(2100))
            try await peer.say("are you there")
            await peer.expect("yes")
            await link.stop(within: .zero)
            await peer.expect(nil)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("C66: a heartbeat that can't be meant stops the link as soon as it is started")
    func invalid() async throws {
        try await simulate { world in
            let link = link(world, heartbeat: .oneWay(every: .zero, sending: "x"))
            await expectError(.invalidSetting) { try await link.run() }
            #expect(link.status.isStopped)
        }
    }

    @Test("C81: requests under way end with the link and its reason; the next connection has none of them")
    func requests() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world, pairing: Self.pairing)
            await expectError(.offline) { try await link.request("early", within: nil) as Any }
            await link.start()
            let peer = try await lobby.peer(0)
            await world.settle()
            await withTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        let error = await expectError(.closed) { try await link.request("\(number)", within: .seconds(60)) as Any }
                        #expect((error?.cause as? SocketError)?.code == .reset)
                    }
                }
                await world.settle()
                peer.reset()
            }
            await expectError(.offline) { try await link.request("late", within: nil) as Any }
            let second = try await lobby.peer(1)
            await world.settle()
            async let answer = link.request("question", within: .seconds(1))
            let line = try #require(try await second.line())
            try await second.say("pushed\n=\(line.prefix { $0 != " " }) answer")
            #expect(try await answer.hasSuffix("answer"))
            #expect(try await link.next() == "pushed")
            #expect(await link.info?.requests?.due == 0)
            await link.stop(within: .zero)
            await expectError(.closed) { try await link.request("stopped", within: nil) as Any }
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("C82: a late answer to a request of the registration reaches no request of the link")
    func lateAnswer() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = link(world, pairing: Self.pairing) { connection in
                await expectError(.timedOut, .answer) { try await connection.request("login", within: .milliseconds(50)) as Any }
            }
            await link.start()
            let peer = try await lobby.peer(0)
            let login = try #require(try await peer.line())
            _ = await world.wait(for: link) { $0 == .connected }
            async let answer = link.request("question", within: .seconds(1))
            let question = try #require(try await peer.line())
            let ids = [login, question].map { $0.prefix { $0 != " " } }
            #expect(ids[0] != ids[1])
            try await peer.say("=\(ids[0]) late\n=\(ids[1]) right")
            #expect(try await answer == "=\(ids[1]) right")
            #expect(await link.info?.requests?.late == 1)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }
}
