import LifelineCore
import LifelineRuntime

@testable import LifelineTesting

/// What came of a seed.
struct Outcome: Sendable {
    let seed: UInt64
    let hash: UInt64
    let faults: [String]
    let tally: [String: Int]
    let lines: [String]
}

/// Plays what `seed` draws: the real server, supervisors and connections on a simulated network, and a ledger of all that they do.
///
/// - Parameter overTLS: whether the same befalls connections that are protected; nil: the seed decides.
func play(_ seed: UInt64, overTLS: Bool? = nil, keepingLines: Bool = false) async throws -> Outcome {
    let scenario = Scenario(seed: seed, overTLS: overTLS)
    // A link that tries again and again without a pause is found soon.
    let bounds = VirtualScheduler.Bounds(limit: .seconds(1_500), turnsPerMoment: 100_000)
    return try await simulate(seed: seed, loops: scenario.loops, bounds: bounds, place: "SimulationTests") { world in
        let ledger = Ledger(world, clients: scenario.clients.count)
        if scenario.protection != nil { ledger.count("over TLS") }
        let objects = try await perform(scenario, in: world, ledger)
        await world.settle()
        let left = objects.filter { $0.object != nil }
        ledger.check(left.isEmpty, "\(left.count) objects are left, first \(left.first?.object as Any)")
        let network = world.simulated
        ledger.check(world.armedTimers == 0, "\(world.armedTimers) timers are left")
        ledger.check(network.openTransports == 0, "\(network.openTransports) transports are left")
        ledger.check(network.openListeners == 0, "\(network.openListeners) listeners are left")
        // So long kernels may try to say their last words.
        try await world.advance(by: .seconds(300))
        ledger.check(network.liveConnections == 0, "kernels know of \(network.liveConnections) connections")
        ledger.checkDeliveries()
        ledger.checkFates()
        return Outcome(
            seed: seed, hash: world.traceHash, faults: ledger.faults, tally: ledger.tally, lines: keepingLines ? world.trace.lines : [])
    }
}

/// From the first bind to the last close. Returns what has to be gone then.
private func perform(_ scenario: Scenario, in world: World, _ ledger: Ledger) async throws -> [ServerApp.Weak] {
    let network = world.simulated
    let (office, branch) = (network.host("office"), network.host("branch"))
    let servers =
        [try ServerApp(world, ledger, scenario, on: office)]
        + (scenario.servers == 1 ? [] : [try ServerApp(world, ledger, scenario, on: branch)])
    let clients = try scenario.clients.map { try ClientApp(world, ledger, $0, scenario.protection, on: network.host("phone \($0.index)")) }
    for host in [office, branch] + clients.map(\.host) { host.kernel = Storm.kernel }
    Wire(clients, scenario.protection, ledger).watch(network)
    let storm = Storm(world, scenario, servers, clients)
    try await withThrowingTaskGroup(of: Void.self) { group in
        for server in servers { group.addTask { try await server.run() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients { group.addTask { try await client.run() } }
            try await storm.run()
            func checkAreUp() async throws {
                let start = world.now
                for client in clients { try await client.checkIsUp(by: start + scenario.recoversWithin(client.plan)) }
            }
            try await checkAreUp()
            try await storm.silence()
            try await checkAreUp()
            // In good weather nothing changes.
            ledger.isWeatherGood = true
            let before = clients.map(\.statuses)
            try await world.advance(by: .seconds(15))
            for (client, before) in zip(clients, before) where client.statuses != before {
                client.fault("in good weather it went from \(before.last as Any) to \(client.statuses.dropFirst(before.count))")
            }
            for server in servers { server.end(.inGoodOrder(.seconds(5))) }
            try await world.advance(by: .seconds(5))
            for server in servers where !server.isLastEndComplete { ledger.fault("in good weather a shutdown isn't complete after 5 s") }
            try await checkAreUp()
            for client in clients { client.isOver = true }
            try await group.waitForAll()
        }
        for client in clients { try await client.appearOnceMore() }
        for server in servers {
            server.isOver = true
            server.end(.inGoodOrder(.seconds(5)))
        }
        try await group.waitForAll()
    }
    return servers.flatMap(\.objects) + servers.map { .init(object: $0) } + clients.flatMap { [.init(object: $0), .init(object: $0.link)] }
}
