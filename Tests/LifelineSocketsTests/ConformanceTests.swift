import LifelineCore
import LifelineRuntime
import LifelineSockets
import LifelineTesting
import Testing

/// Every transport keeps the contract, with real loops under it.
@Suite(.serialized) struct ConformanceTests {
    private static let checks = TransportConformance.checks
    private let group = EventLoops(count: 1)

    @Test(arguments: checks, ["127.0.0.1", "::1"])
    func TCP(check: TransportConformance.Check, host: String) async throws {
        try await run(check, "TCP at \(host)", SystemDriver(group), .tcp(host, 0))
    }

    @Test(arguments: checks)
    func TCPWithSmallBuffers(check: TransportConformance.Check) async throws {
        var options = SocketOptions()
        options.sendBuffer = 4096
        options.receiveBuffer = 4096
        try await run(check, "TCP with small buffers", SystemDriver(group), .tcp("127.0.0.1", 0), options: options)
    }

    @Test(arguments: checks)
    func unix(check: TransportConformance.Check) async throws {
        let folder = Folder()
        try await run(check, "Unix", SystemDriver(group), .unix(folder.path + "/s"), tellsResets: false)
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: checks)
    func adoptedPair(check: TransportConformance.Check) async throws {
        let network = SystemNetwork(loops: group)
        try await TransportConformance(name: "an adopted pair", loop: group.next(), tellsResets: false) { loop in
            let (near, far) = Raw.pair()
            return (try await network.adopt(near, on: loop), try await network.adopt(far, on: loop))
        }.run(check)
    }

    @Test(arguments: checks, [65_536, 10_000])
    func inMemory(check: TransportConformance.Check, capacity: Int) async throws {
        let network = InMemoryNetwork(loops: [group.next()], pipeCapacity: capacity)
        try await run(check, "in memory, \(capacity) bytes", network._driver.base, .inMemory("x"))
    }

    private func run(
        _ check: TransportConformance.Check, _ name: String, _ driver: any NetworkDriver, _ endpoint: Endpoint,
        options: SocketOptions = SocketOptions(), tellsResets: Bool = true
    ) async throws {
        try await TransportConformance(name: name, loop: driver.nextLoop(), tellsResets: tellsResets) { loop in
            let sink = Sink()
            let listener = try await driver.listen(endpoint, on: loop, dealingTo: [loop], options: options, sink: sink)
            let near = try await driver.dial(listener.endpoint, on: loop, options: options, within: outerLimit)
            let far = try await sink.transports.next()
            await listener.close()
            return (near, far)
        }.run(check)
    }
}
