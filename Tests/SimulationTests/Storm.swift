import LifelineCore
import LifelineRuntime
import LifelineTesting
import Synchronization

/// The faults of a scenario, one after the other; in the end all is well.
final class Storm: Sendable {
    let world: World
    let scenario: Scenario
    let servers: [ServerApp]
    let clients: [ClientApp]
    private let rules = Mutex<[FaultRule]>([])

    init(_ world: World, _ scenario: Scenario, _ servers: [ServerApp], _ clients: [ClientApp]) {
        self.world = world
        self.scenario = scenario
        self.servers = servers
        self.clients = clients
    }

    private var network: SimulatedNetwork { world.simulated }

    func run() async throws {
        let end = world.now + scenario.storm
        try await withThrowingTaskGroup(of: Void.self) { group in
            while world.now < end {
                var dice = world.random
                try await world.advance(by: .nanoseconds(Int64.random(in: 0...scenario.pace.clampedNanoseconds, using: &dice)))
                try await strike(scenario.faults.randomElement(using: &dice)!, &group)
            }
            group.cancelAll()
        }
        calm()
    }

    /// Nobody hears anything: each client finds that out in its time. Behind it all is well again.
    func silence() async throws {
        let isOneWay = world.random.next() % 2 == 0
        for server in servers {
            for client in clients {
                network.cut(from: server.host, to: client.host)
                if !isOneWay { network.cut(from: client.host, to: server.host) }
            }
        }
        let start = world.now
        let before = clients.map(\.statuses.count)
        for (client, before) in zip(clients, before).sorted(by: { $0.0.plan.noticesWithin < $1.0.plan.noticesWithin }) {
            try await world.advance(by: max(.zero, start + client.plan.noticesWithin - world.now))
            if client.statuses.count == before {
                client.fault("it hears nothing for \(client.plan.noticesWithin), and is \(client.link.status)")
            }
        }
        network.heal()
    }

    /// Takes everything back.
    private func calm() {
        for rule in rules.withLock({ $0 }) { rule.remove() }
        network.heal()
        for host in servers.map(\.host) + clients.map(\.host) {
            host.restart()
            host.kernel = Self.kernel
        }
        for server in servers {
            server.isCalm = true
            for client in clients { network.setLink(between: server.host, and: client.host, LinkSettings()) }
        }
        for client in clients { client.isCalm = true }
        world.record("all is calm")
    }

    static var kernel: KernelSettings {
        var kernel = KernelSettings()
        kernel.retransmissionLimit = .seconds(60)
        return kernel
    }

    private func strike(_ fault: Fault, _ group: inout ThrowingTaskGroup<Void, any Error>) async throws {
        var dice = world.random
        let (world, network) = (world, network)
        let app = servers.randomElement(using: &dice)!
        let client = clients.randomElement(using: &dice)!
        let (server, phone) = (app.host, client.host)
        let lasting = Duration.milliseconds(Int.random(in: 100...25_000, using: &dice))
        world.record("\(fault) between \(phone.name) and \(server.name) for \(lasting)")
        func later(_ undo: @escaping @Sendable () -> Void) {
            group.addTask {
                try? await world.advance(by: lasting)
                if !Task.isCancelled { undo() }
            }
        }
        func apply(_ judge: @escaping @Sendable (SimulatedPacket) -> FaultVerdict) {
            let rule = network.addRule(judge)
            rules.withLock { $0.append(rule) }
            later { rule.remove() }
        }
        switch fault {
        case .partition:
            network.partition(server, phone)
            later { network.heal(server, phone) }
        case .cutForth:
            network.cut(from: phone, to: server)
            later { network.heal(server, phone) }
        case .cutBack:
            network.cut(from: server, to: phone)
            later { network.heal(server, phone) }
        case .heal: network.heal()
        case .crash:
            server.crash()
            app.end(.dead)
            later { server.restart() }
        case .killServer:
            server.killProcess()
            app.end(.dead)
        case .restartServer: app.end(.inGoodOrder(.milliseconds(Int.random(in: 0...5_000, using: &dice))))
        case .badLink:
            network.setLink(between: server, and: phone, Self.badLink(using: &dice))
            later { network.setLink(between: server, and: phone, LinkSettings()) }
        case .reset:
            let isDone = Atomic(false)
            let name = phone.name
            apply { packet in
                guard packet.kind == .data, packet.from == name || packet.to == name else { return .pass }
                return isDone.exchange(true, ordering: .relaxed) ? .pass : .reset
            }
        case .loseSome:
            let (name, period) = (phone.name, Int.random(in: 2...5, using: &dice))
            apply { $0.to == name && $0.offset % period == 0 ? .drop : .pass }
        case .hold:
            let (name, isInbound) = (phone.name, Bool.random(using: &dice))
            apply { (isInbound ? $0.to : $0.from) == name && $0.kind == .data ? .hold : .pass }
        case .delay:
            let (name, delay) = (phone.name, Duration.milliseconds(Int.random(in: 1...4_000, using: &dice)))
            apply { $0.to == name ? .delay(delay) : .pass }
        case .blackHole:
            let (name, kind) = (phone.name, [SimulatedPacket.Kind.connect, .accept].randomElement(using: &dice)!)
            apply { $0.kind == kind && ($0.from == name || $0.to == name) ? .drop : .pass }
        case .clientDown:
            if Bool.random(using: &dice) {
                phone.crash()
                later { phone.restart() }
            } else {
                phone.killProcess()
            }
        case .hangUp:
            guard let connection = app.server?.connections.randomElement(using: &dice) else { return }
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: connection.closeNow()
            case 1: group.addTask { await connection.close(within: .seconds(2)) }
            default: try await connection.finishSending()
            }
        case .news:
            let rule = [SlowRule.skip, .skipping(after: .seconds(1)), .evict(after: .seconds(1))].randomElement(using: &dice)!
            let (number, size) = (Int.random(in: 1...20, using: &dice), Int.random(in: 0...2_000, using: &dice))
            group.addTask { for _ in 0..<number { try await app.spread(size: size, slow: rule) } }
        case .acceptSlowly:
            server.kernel.acceptDelay = .milliseconds(Int.random(in: 0...8_000, using: &dice))
            server.kernel.receiveBuffer = Int.random(in: 200...20_000, using: &dice)
            server.kernel.sendBuffer = Int.random(in: 200...20_000, using: &dice)
            later { server.kernel = Self.kernel }
        case .hurry:
            // Only of a wait that the auditor knows.
            if client.statuses.last == client.link.status, case .waiting = client.link.status {
                client.auditor.mayHurry = true
                await client.link.reconnectNow()
            }
        }
    }

    private static func badLink(using dice: inout some RandomNumberGenerator) -> LinkSettings {
        LinkSettings(
            latency: .microseconds(Int.random(in: 1...800_000, using: &dice)),
            jitter: .milliseconds(Int.random(in: 0...500, using: &dice)),
            bandwidth: Bool.random(using: &dice) ? nil : Int.random(in: 4_000...100_000, using: &dice),
            cuts: Double.random(in: 0...0.5, using: &dice), loss: Bool.random(using: &dice) ? 0 : Double.random(in: 0...0.3, using: &dice))
    }
}
