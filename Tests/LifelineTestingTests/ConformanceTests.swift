import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// The networks of a simulation keep the contract of transports.
@Suite struct ConformanceTests {
    @Test(arguments: TransportConformance.checks)
    func `the transport in memory`(check: TransportConformance.Check) async throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            try await simulate(seed: seed) { world in
                try await TransportConformance(name: "in memory", loop: world.loops[1]) { loop in
                    try await pair(on: loop, world.network)
                }.run(check)
            }
        }
    }

    @Test(arguments: TransportConformance.checks)
    func `simulated sockets, whatever the link is like`(check: TransportConformance.Check) async throws {
        let links = [
            LinkSettings(latency: .zero),
            LinkSettings(latency: .milliseconds(20)),
            LinkSettings(latency: .milliseconds(5), jitter: .milliseconds(30), cuts: 0.3),
            LinkSettings(latency: .zero, cuts: 0.9),
            LinkSettings(latency: .microseconds(10), bandwidth: 50_000_000, cuts: 0.1),
        ]
        for (seed, link) in links.enumerated() {
            try await simulate(seed: UInt64(seed), limit: .seconds(1_000_000)) { world in
                world.simulated.links = link
                try await TransportConformance(
                    name: "simulated over \(link)", loop: world.loops[1], travelTime: (link.latency + link.jitter) * 3 + .milliseconds(10)
                ) { loop in
                    try await pair(
                        on: loop, world.simulated.host("near"), at: .tcp("far", 1), listening: world.simulated.host("far"))
                }.run(check)
            }
        }
    }

    @Test(arguments: TransportConformance.checks)
    func `simulated sockets with the smallest buffers`(check: TransportConformance.Check) async throws {
        try await simulate(limit: .seconds(1_000_000)) { world in
            let (near, far) = (world.simulated.host("near"), world.simulated.host("far"))
            for host in [near, far] {
                host.kernel.sendBuffer = 6_000
                host.kernel.receiveBuffer = 4_000
            }
            world.simulated.links = LinkSettings(latency: .microseconds(1))
            try await TransportConformance(name: "simulated, small", loop: world.loops[1], travelTime: .milliseconds(1)) { loop in
                try await pair(on: loop, near, at: .tcp("far", 1), listening: far)
            }.run(check)
        }
    }
}

/// Two ends of one connection over `network`, both on `loop`.
func pair(on loop: any EventLoop, _ network: some Network) async throws -> (any Transport, any Transport) {
    try await pair(on: loop, network, at: .inMemory("conformance"), listening: network)
}

/// As above; the far end's network is another.
func pair(
    on loop: any EventLoop, _ network: some Network, at endpoint: Endpoint, listening: some Network
) async throws -> (any Transport, any Transport) {
    let sink = OneSink()
    let listener = try await listening._driver.base.listen(
        endpoint, on: loop, dealingTo: [loop], options: SocketOptions(), sink: sink)
    let near = try await network._driver.base.dial(endpoint, on: loop, options: SocketOptions(), within: .seconds(1))
    let far = try await sink.first.value()
    await listener.close()
    return (near, far)
}

/// Waits for one connection.
final class OneSink: ListenerSink {
    let first = OneShot<any Transport>()
    func accepted(_ transport: any Transport) { first.succeed(transport) }
    func acceptFailed(_ error: SocketError) { first.fail(error) }
}
