import LifelineCore
import LifelineRuntime
import LifelineTesting
import Synchronization
import Testing

/// The real server and connections on a network that never existed.
@Suite struct SimulatedNetworkTests {
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `a line takes the latency there and back`(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let network = world.simulated
            network.links = LinkSettings(latency: .milliseconds(30))
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                let connection = try await connect(from: phone)
                #expect(world.now == .milliseconds(60), "the connect is one round trip")
                try await connection.send("hello")
                #expect(try await connection.next() == "hello")
                // The last packet of the hand-shake and the first line travel together.
                #expect(world.now == .milliseconds(120))
                #expect(await connection.info.remote == .tcp("server", 7000))
                #expect(await connection.info.roundTrip == .milliseconds(60))
                #expect(await connection.close())
            }
            try await world.advance(by: .seconds(61))
            expectNothingLeft(network)
        }
    }

    @Test func `bandwidth is shared by what crosses the link`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (one, other) = (network.host("one"), network.host("other"))
            network.setLink(from: one, to: other, LinkSettings(latency: .zero, bandwidth: 10_000))
            network.setLink(from: other, to: one, LinkSettings(latency: .zero))
            let server = try await Server.bind(.tcp("other", 7000), codec: .lines, on: other)
            async let running: Void = server.run { connection in
                let line = try await connection.next()
                #expect(line?.count == 4_999)
                #expect(try await connection.next() == nil)
            }
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask {
                        let connection = try await connect(from: one, to: .tcp("other", 7000))
                        try await connection.send(String(repeating: "x", count: 4_999))
                        #expect(await connection.close())
                    }
                }
                try await group.waitForAll()
            }
            #expect(world.now == .seconds(1))
            await server.shutdown()
            try await running
        }
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `jitter, cuts and loss change the reads and never the bytes`(seed: UInt64) async throws {
        let readings = try await simulate(seed: seed) { world in
            let network = world.simulated
            network.links = LinkSettings(latency: .milliseconds(5), jitter: .milliseconds(20), cuts: 0.5, loss: 0.02)
            let (server, phone) = (network.host("server"), network.host("phone"))
            let listening = try await Server.bind(.tcp("server", 7000), codec: .lines, on: server)
            async let running: Void = listening.run { connection in
                for number in 0..<200 {
                    let line = try await connection.next()
                    #expect(line == "line \(number)")
                }
                #expect(try await connection.next() == nil)
            }
            let connection = try await connect(from: phone)
            for number in 0..<200 {
                try await connection.send("line \(number)")
                if number % 3 == 0 { try await world.advance(by: .milliseconds(1)) }
            }
            #expect(await connection.close(within: .seconds(60)))
            await listening.shutdown()
            try await running
            return world.trace.lines.filter { $0.contains("→ data") && $0.hasSuffix("arrived") }
        }
        #expect(readings.count > 80)
        let moments = Set(readings.compactMap { $0.split(separator: " ").first })
        #expect(moments.count < readings.count, "some arrive together")
    }

    @Test func `a slow reader slows the sender`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            let listening = try await Server.bind(.tcp("server", 7000), codec: .lines, on: server)
            async let running: Void = listening.run { connection in
                try await world.clock.sleep(for: .seconds(30))
                var count = 0
                while try await connection.next() != nil { count += 1 }
                #expect(count == 2_000)
            }
            let connection = try await connect(from: phone)
            let line = String(repeating: "y", count: 1_000)
            for _ in 0..<2_000 { try await connection.send(line) }
            #expect(world.now >= .seconds(30), "two buffers, an inbox and an outbox hold less than two megabytes")
            #expect(await connection.close(within: .seconds(60)))
            await listening.shutdown()
            try await running
        }
    }

    @Test func `two full buffers take no more`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (one, other) = (network.host("one"), network.host("other"))
            one.kernel.sendBuffer = 1_000
            other.kernel.receiveBuffer = 500
            let (near, far) = try await pair(on: world.loops[0], one, at: .tcp("other", 1), listening: other)
            let bytes = Bytes([UInt8](repeating: 7, count: 400))
            let taken = Atomic(0)
            // In a minute a closed window is asked about many times.
            for _ in 0..<60 {
                world.loops[0].run { taken.wrappingAdd((try? near.write(bytes)) ?? 0, ordering: .relaxed) }
                try await world.advance(by: .seconds(1))
            }
            #expect(taken.load(ordering: .relaxed) == 1_500)
            // The word that there is room doesn't wait for the next question.
            let moment = world.now
            let reader = Drain(far)
            world.loops[0].run { reader.begin() }
            while reader.count < 1_500 { try await world.advance(by: .milliseconds(1)) }
            #expect(world.now - moment < .milliseconds(10))
            world.loops[0].run {
                near.close(reset: true)
                far.close(reset: true)
            }
        }
    }

    @Test func `an end whose acknowledgement is lost is acknowledged again`() async throws {
        try await simulate { world in
            let network = world.simulated
            let loop = world.loops[0]
            let (near, far) = try await pair(on: loop, network.host("near"), at: .tcp("far", 1), listening: network.host("far"))
            try await world.advance(by: .seconds(1))
            let drops = Atomic(0)
            network.addRule { packet in
                guard packet.kind == .acknowledgement, packet.isFromDialer else { return .pass }
                return drops.wrappingAdd(1, ordering: .relaxed).oldValue == 0 ? .drop : .pass
            }
            loop.run {
                near.close(reset: false)
                far.shutdownWrites()
            }
            try await world.advance(by: .seconds(1))
            loop.run { far.close(reset: false) }
            #expect(drops.load(ordering: .relaxed) == 2)
            #expect(!world.trace.lines.contains { $0.contains("reset") })
            expectNothingLeft(network)
        }
    }

    @Test func `hosts have names, ports and paths of their own`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (one, other) = (network.host("one"), network.host("other"))
            await expect(.unknownHost) { try await connect(from: one, to: .tcp("elsewhere", 1)) }
            await expect(.refused) { try await connect(from: one, to: .tcp("other", 1)) }
            await expect(.unsupportedEndpoint) { try await connect(from: one, to: .inMemory("name")) }
            await expect(.refused) { try await connect(from: one, to: .unix("/socket")) }
            await expect(.unreachable) { _ = try await Server.bind(.tcp("other", 1), codec: .lines, on: one) }
            let first = try await Server.bind(.tcp("one", 0), codec: .lines, on: one)
            let second = try await Server.bind(.tcp("", 0), codec: .lines, on: one)
            #expect(first.endpoint != second.endpoint)
            await expect(.addressInUse) { _ = try await Server.bind(first.endpoint, codec: .lines, on: one) }
            let port = try #require(first.endpoint.port)
            let third = try await Server.bind(.tcp("other", port), codec: .lines, on: other)
            let fourth = try await Server.bind(.unix("/socket"), codec: .lines, on: one)
            await expect(.refused) { try await connect(from: other, to: .unix("/socket")) }
            let local = try await connect(from: one, to: .unix("/socket"))
            let loopback = try await connect(from: one, to: .tcp("localhost", port))
            #expect(network.openListeners == 4)
            for connection in [local, loopback] { connection.closeNow() }
            for server in [first, second, third, fourth] { await server.shutdown(within: .zero) }
            #expect(network.openListeners == 0)
        }
    }

    @Test func `C123: a port can be bound again after a restart`() async throws {
        try await simulate { world in
            let (server, phone) = (world.simulated.host("server"), world.simulated.host("phone"))
            for _ in 0..<20 {
                try await withEchoServer(on: server) {
                    let connection = try await connect(from: phone)
                    try await connection.send("x")
                    #expect(try await connection.next() == "x")
                    await expect(.addressInUse) { _ = try await Server.bind(.tcp("server", 7000), codec: .lines, on: server) }
                }
            }
        }
    }
}
