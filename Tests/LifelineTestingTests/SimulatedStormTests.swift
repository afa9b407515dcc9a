import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// Random faults over minutes of virtual time: bytes stay in order, and in the end nothing is left.
@Suite struct SimulatedStormTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `whatever befalls the network, lines come in order and nothing is left`(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            var dice = world.random
            let network = world.simulated
            network.links = LinkSettings(
                latency: .milliseconds(Int.random(in: 0...50, using: &dice)), jitter: .milliseconds(Int.random(in: 0...30, using: &dice)),
                bandwidth: Bool.random(using: &dice) ? nil : Int.random(in: 1_000...1_000_000, using: &dice),
                cuts: Double.random(in: 0...0.5, using: &dice), loss: Double.random(in: 0...0.1, using: &dice))
            let server = network.host("server")
            server.kernel.acceptDelay = .milliseconds(Int.random(in: 0...100, using: &dice))
            server.kernel.sendBuffer = Int.random(in: 1...20_000, using: &dice)
            server.kernel.receiveBuffer = Int.random(in: 1...20_000, using: &dice)
            server.kernel.retransmissionLimit = .seconds(60)
            let clients = (0..<3).map { network.host("client \($0)") }
            for client in clients { client.kernel = server.kernel }

            let storm = Storm(world: world, server: server, clients: clients)
            try await withThrowingTaskGroup { group in
                group.addTask { try await storm.serve() }
                for index in clients.indices { group.addTask { try await storm.talk(index) } }
                group.addTask { try await storm.blow() }
                try await group.waitForAll()
            }
            // So long may kernels try to say their last words.
            try await world.advance(by: .seconds(500))
            expectNothingLeft(network)
            #expect(world.armedTimers == 0)
        }
    }
}

private struct Storm: Sendable {
    let world: World
    let server: SimulatedHost
    let clients: [SimulatedHost]
    let isOver = Flag()

    /// An echo server that is shut down and bound again.
    func serve() async throws {
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        options.connection.idleLimit = .seconds(100)
        options.connection.socket.backlog = 3
        while !isOver.isSet {
            do {
                var dice = world.random
                let life = Duration.seconds(Int.random(in: 1...60, using: &dice))
                try await withEchoServer(on: server, options: options) { try await world.advance(by: life) }
            } catch is SocketError {
                try await world.advance(by: .seconds(1))
            }
        }
    }

    /// A client that expects its own lines back, and connects again whatever happens.
    func talk(_ index: Int) async throws {
        var dice = world.random
        var options = ConnectionOptions()
        options.idleLimit = .seconds(30)
        while !isOver.isSet {
            do {
                let connection = try await connect(from: clients[index], within: .seconds(10), options: options)
                for round in 0..<Int.random(in: 1...10, using: &dice) {
                    let lines = (0..<Int.random(in: 1...5, using: &dice)).map {
                        "\(index) \(round) \($0) " + String(repeating: "z", count: Int.random(in: 0...2_000, using: &dice))
                    }
                    for line in lines { try await connection.send(line) }
                    for line in lines {
                        guard let answer = try await connection.next() else { break }
                        #expect(answer == line)
                    }
                }
                if Bool.random(using: &dice) { await connection.close(within: .seconds(5)) } else { connection.closeNow() }
            } catch is SocketError {
                try await world.advance(by: .milliseconds(Int.random(in: 1...3_000, using: &dice)))
            }
        }
    }

    /// The faults; in the end all is well.
    func blow() async throws {
        var dice = world.random
        var rules: [FaultRule] = []
        let network = world.simulated
        for _ in 0..<30 {
            try await world.advance(by: .milliseconds(Int.random(in: 0...10_000, using: &dice)))
            let client = clients[Int.random(in: clients.indices, using: &dice)]
            switch Int.random(in: 0..<11, using: &dice) {
            case 0: network.partition(server, client)
            case 1: network.cut(from: server, to: client)
            case 2: network.cut(from: client, to: server)
            case 3, 4: network.heal()
            case 5: server.crash()
            case 6, 7: server.restart()
            case 8: (Bool.random(using: &dice) ? server : client).killProcess()
            case 9:
                let verdict = [FaultVerdict.drop, .hold, .reset, .delay(.seconds(1))][Int.random(in: 0..<4, using: &dice)]
                let period = Int.random(in: 1...7, using: &dice)
                rules.append(network.addRule { $0.to == client.name && $0.offset % period == 0 ? verdict : .pass })
            default: if !rules.isEmpty { rules.removeFirst().remove() }
            }
        }
        for rule in rules { rule.remove() }
        network.heal()
        server.restart()
        isOver.set()
    }
}
