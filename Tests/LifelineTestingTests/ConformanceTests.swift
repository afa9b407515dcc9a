import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// The network in memory keeps the contract of transports.
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
}

/// Two ends of one connection over `network`, both on `loop`.
func pair(on loop: any EventLoop, _ network: some Network) async throws -> (any Transport, any Transport) {
    let driver = network._driver.base
    let sink = OneSink()
    let listener = try await driver.listen(
        .inMemory("conformance"), on: loop, dealingTo: [loop], options: SocketOptions(), sink: sink)
    let near = try await driver.dial(.inMemory("conformance"), on: loop, options: SocketOptions(), within: .seconds(1))
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
