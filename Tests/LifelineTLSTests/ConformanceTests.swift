import LifelineCore
import LifelineRuntime
import LifelineSockets
import LifelineTLS
import LifelineTesting
import Testing

/// TLS over any transport keeps the contract of transports.
///
/// (Where a record is larger than all buffers on the way, a byte counts as written only when the peer has read on; see TrafficTests.)
@Suite struct TLSConformanceTests {
    private static let checks = TransportConformance.checks

    @Test(arguments: checks)
    func `over the transport in memory`(check: TransportConformance.Check) async throws {
        for seed in 1...3 as ClosedRange<UInt64> {
            try await simulate(seed: seed) { world in
                let network = try Protected.network(over: world.network)
                try await TransportConformance(name: "TLS in memory", loop: world.loops[1]) { loop in
                    try await pair(on: loop, network, at: .inMemory("conformance"))
                }.run(check)
            }
        }
    }

    @Test(arguments: checks)
    func `over simulated sockets that cut what they carry`(check: TransportConformance.Check) async throws {
        let link = LinkSettings(latency: .milliseconds(5), jitter: .milliseconds(30), cuts: 0.3)
        try await simulate(limit: .seconds(1_000_000)) { world in
            world.simulated.links = link
            let near = try Protected.network(over: world.simulated.host("near"))
            let far = try Protected.network(over: world.simulated.host("far"))
            let travel = (link.latency + link.jitter) * 3 + .milliseconds(10)
            try await TransportConformance(name: "TLS, simulated", loop: world.loops[1], travelTime: travel) { loop in
                try await pair(on: loop, near, at: .tls("far", 1), listening: far)
            }.run(check)
        }
    }

    @Test(arguments: checks)
    func `over TCP on loopback`(check: TransportConformance.Check) async throws {
        let loops = EventLoops(count: 1)
        let network = try Protected.network(over: SystemNetwork(loops: loops))
        try await TransportConformance(name: "TLS over TCP", loop: loops.next()) { loop in
            try await pair(on: loop, network, at: .tls("127.0.0.1", 0))
        }.run(check)
    }
}

/// Two ends of one connection over `network`, both on `loop`, with their handshakes behind them.
func pair(on loop: any EventLoop, _ network: TLSNetwork, at endpoint: Endpoint) async throws -> (any Transport, any Transport) {
    try await pair(on: loop, network, at: endpoint, listening: network)
}

/// As above; the far end's network is another.
func pair(
    on loop: any EventLoop, _ network: TLSNetwork, at endpoint: Endpoint, listening: TLSNetwork
) async throws -> (any Transport, any Transport) {
    let sink = OneSink()
    let listener = try await listening._driver.base.listen(endpoint, on: loop, dealingTo: [loop], options: SocketOptions(), sink: sink)
    let target = endpoint.port == 0 ? listener.endpoint : endpoint
    let near = try await network._driver.base.dial(target, on: loop, options: SocketOptions(), within: .seconds(300))
    let far = try await sink.first.value()
    try await far.handshake?.complete()
    await listener.close()
    return (near, far)
}

/// Waits for one connection.
final class OneSink: ListenerSink {
    let first = OneShot<any Transport>()
    func accepted(_ transport: any Transport) { first.succeed(transport) }
    func acceptFailed(_ error: SocketError) { first.fail(error) }
}
