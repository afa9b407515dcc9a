import LifelineCore
import LifelineRuntime
import LifelineTesting
import Synchronization
import Testing

@Suite struct FaultRuleTests {
    /// What an echo of "x" takes with `rules` on a link of 10 ms.
    private func echo(_ rules: @escaping @Sendable (SimulatedNetwork) -> Void) async throws -> Duration {
        try await simulate { world in
            let network = world.simulated
            network.links.latency = .milliseconds(10)
            let (server, phone) = (network.host("server"), network.host("phone"))
            let start = Mutex(Duration.zero)
            let end = Mutex(Duration.zero)
            try await withEchoServer(on: server) {
                let connection = try await connect(from: phone)
                try await world.advance(by: .seconds(1))
                rules(network)
                start.withLock { $0 = world.now }
                try await connection.send("x")
                #expect(try await connection.next() == "x")
                end.withLock { $0 = world.now }
            }
            return end.withLock { $0 } - start.withLock { $0 }
        }
    }

    @Test func `a delay is added, in one direction`() async throws {
        #expect(try await echo { _ in } == .milliseconds(20))
        #expect(
            try await echo { $0.addRule { $0.from == "phone" && $0.kind == .data ? .delay(.seconds(1)) : .pass } } == .milliseconds(1_020))
    }

    @Test func `the first verdict holds`() async throws {
        let time = try await echo { network in
            network.addRule { _ in .pass }
            network.addRule { $0.to == "server" ? .deliver : .pass }
            network.addRule { _ in .delay(.seconds(1)) }
        }
        #expect(time == .milliseconds(1_020), "only the way back is delayed")
    }

    @Test func `a packet that is dropped is sent again after a while`() async throws {
        let drops = Atomic(0)
        let time = try await echo { network in
            network.addRule { packet in
                guard packet.kind == .data, packet.isFromDialer, packet.offset == 0 else { return .pass }
                return drops.wrappingAdd(1, ordering: .relaxed).oldValue < 2 ? .drop : .pass
            }
        }
        #expect(drops.load(ordering: .relaxed) == 3)
        #expect(time == .milliseconds(620), "0.2 s and 0.4 s, and the way there and back")
    }

    @Test func `a rule sees what is sent`() async throws {
        let seen = Mutex<[String]>([])
        _ = try await echo { network in
            network.addRule { packet in
                let text = String(decoding: packet.bytes, as: UTF8.self).dropLast()
                seen.withLock { $0.append("\(packet.from) \(packet.to) \(packet.connection) \(packet.kind) \(packet.endpoint) \(text)") }
                return .pass
            }
        }
        #expect(
            seen.withLock { $0.prefix(4) } == [
                "phone server 1 data tcp://server:7000 x", "server phone 1 acknowledgement tcp://server:7000 ",
                "server phone 1 data tcp://server:7000 x", "phone server 1 acknowledgement tcp://server:7000 ",
            ])
    }

    @Test(arguments: [true, false])
    func `what a rule holds comes when it is released or removed`(isRemoved: Bool) async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                let connection = try await connect(from: phone)
                let rule = network.addRule { $0.kind == .data && $0.isFromDialer ? .hold : .pass }
                for number in 0..<5 {
                    try await connection.send("\(number)")
                    try await connection.flush()
                }
                try await world.advance(by: .seconds(5_000))
                #expect(connection.closeReason == nil, "nothing is missed")
                if isRemoved { rule.remove() } else { rule.release() }
                for number in 0..<5 { #expect(try await connection.next() == "\(number)") }
                try await connection.send("more")
                try await world.advance(by: .seconds(1))
                if !isRemoved { rule.release() }
                #expect(try await connection.next() == "more")
                rule.remove()
                rule.remove()
            }
        }
    }

    @Test func `a reset breaks both ends`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            let listening = try await Server.bind(.tcp("server", 7000), codec: .lines, on: server)
            async let running: Void = listening.run { connection in
                let first = try await connection.next()
                #expect(first == "x")
                await expect(.reset) { _ = try await connection.next() }
            }
            let connection = try await connect(from: phone)
            network.addRule { $0.bytes.contains(UInt8(ascii: "!")) ? .reset : .pass }
            try await connection.send("x")
            try await connection.flush()
            try await connection.send("!")
            await expect(.reset) { _ = try await connection.next() }
            await world.settle()
            #expect(await listening.shutdown())
            try await running
            expectNothingLeft(network)
        }
    }

    @Test func `a reset that is lost is asked for again`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                let resets = Atomic(0)
                network.addRule { packet in
                    packet.kind == .reset && resets.wrappingAdd(1, ordering: .relaxed).oldValue == 0 ? .drop : .pass
                }
                // The dialer is gone before the answer comes; that is answered with a reset.
                await expect(.timedOut) { try await connect(from: phone, within: .milliseconds(1)) }
                try await world.advance(by: .seconds(2))
                #expect(resets.load(ordering: .relaxed) == 2)
                #expect(network.liveConnections == 0)
            }
        }
    }

    @Test func `a rule may change the network`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                let connection = try await connect(from: phone)
                network.addRule { packet in
                    if packet.bytes.count > 1 { server.crash() }
                    return .pass
                }
                try await connection.send("x")
                await expect(.timedOut) { _ = try await connection.next() }
            }
        }
    }

    @Test func `rules go with the simulation, whatever they hold`() async throws {
        final class Witness: Sendable {}
        struct Memory: Sendable { weak let witness: Witness? }
        let memory = try await simulate { world in
            let captured = Witness()
            world.simulated.addRule { _ in
                // As a rule that records does, it holds the world, and so the network that holds it.
                withExtendedLifetime((captured, world)) { .pass }
            }
            return Memory(witness: captured)
        }
        #expect(memory.witness == nil)
    }
}
