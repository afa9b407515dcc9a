import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Broadcast to slow connections")
struct BroadcastSlowTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    /// A server with small outboxes, `fast` clients that read and `deaf` ones whose outbox is full; the deaf ones came first.
    private func withSlowClients(
        _ world: World, fast: Int, deaf: Int, errors: Log<SocketError> = Log(),
        _ body: (Server<LineCodec>, _ fast: [Connection<LineCodec>], _ deaf: [ByteStream]) async throws -> Void
    ) async throws {
        var options = ServerOptions()
        options.connection.outbox = Marks(high: 1000, low: 500)
        options.onHandlerError = { error in
            if let error = error as? SocketError { errors.add(error) }
        }
        let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options)
        try await serving(server, waitForEnd) {
            var smallInbox = ConnectionOptions.small(100)
            smallInbox.inbox = Marks(high: 1)
            let slow = try await (0..<deaf).asyncMap { _ in
                try await ByteStream.connect(to: .inMemory("s"), on: world.network, options: smallInbox)
            }
            let clients = try await world.clients(fast)
            await world.settle()
            for connection in server.connections.prefix(deaf) {
                try await connection.send(String(repeating: "x", count: 1_400))
            }
            await world.settle()
            try await body(server, clients, slow)
            for client in clients { await client.close() }
        }
    }

    @Test("skip: the slow one doesn't get it, and nobody waits", arguments: seeds)
    func skip(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            try await withSlowClients(world, fast: 3, deaf: 1) { server, fast, deaf in
                let result = try await server.broadcast("all")
                #expect(result.accepted == 3)
                #expect(result.skipped == 1)
                #expect(result.evicted == 0)
                #expect(world.now == .zero)
                for client in fast {
                    let line = try await client.next()
                    #expect(line == "all")
                }
                #expect(try await deaf[0].read(exactly: 1_401)?.count == 1_401)
                try await server.broadcast("again")
                #expect(try await deaf[0].read(with: .lines) == "again")
            }
        }
    }

    @Test("evict: all slow ones are waited for once and together, then closed", arguments: seeds)
    func evict(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let errors = Log<SocketError>()
            try await withSlowClients(world, fast: 3, deaf: 5, errors: errors) { server, fast, deaf in
                async let result = server.broadcast("all", slow: .evict(after: .seconds(2)))
                for client in fast {
                    let line = try await client.next()
                    #expect(line == "all")
                    #expect(world.now == .zero)
                }
                let counts = try await result
                #expect(counts.accepted == 3)
                #expect(counts.evicted == 5)
                #expect(counts.skipped == 0)
                #expect(world.now == .seconds(2))
                await world.settle()
                #expect(errors.entries.map(\.code) == Array(repeating: .evicted, count: 5))
                #expect(server.connections.count == 3)
                #expect(try await server.broadcast("again", slow: .evict(after: .seconds(2))).accepted == 3)
                #expect(world.now == .seconds(2))
            }
        }
    }

    @Test("skipping: who isn't below the mark in time isn't waited for again until it has drained", arguments: seeds)
    func skipping(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            try await withSlowClients(world, fast: 2, deaf: 2) { server, _, deaf in
                let first = try await server.broadcast("1", slow: .skipping(after: .seconds(1)))
                #expect(first.accepted == 2)
                #expect(first.skipped == 2)
                #expect(world.now == .seconds(1))
                let second = try await server.broadcast("2", slow: .skipping(after: .seconds(1)))
                #expect(second.accepted == 2)
                #expect(second.skipped == 2)
                #expect(world.now == .seconds(1))

                // One drains, and is waited for again once it is full again.
                #expect(try await deaf[0].read(exactly: 1_401)?.count == 1_401)
                let third = try await server.broadcast("3", slow: .skipping(after: .seconds(1)))
                #expect(third.accepted == 3)
                #expect(third.skipped == 1)
                #expect(world.now == .seconds(1))
                #expect(try await deaf[0].read(with: .lines) == "3")
                try await server.connections[0].send(String(repeating: "x", count: 1_400))
                await world.settle()
                _ = try await server.broadcast("4", slow: .skipping(after: .seconds(1)))
                #expect(world.now == .seconds(2))
            }
        }
    }

    @Test("one that drains in time gets it at once, whatever another one does", arguments: seeds, [true, false])
    func drainsInTime(seed: UInt64, evicts: Bool) async throws {
        try await simulate(seed: seed) { world in
            try await withSlowClients(world, fast: 0, deaf: 3) { server, _, deaf in
                let rule: SlowRule = evicts ? .evict(after: .seconds(5)) : .skipping(after: .seconds(5))
                async let result = server.broadcast("all", slow: rule)
                try await world.advance(by: .seconds(1))
                #expect(try await deaf[1].read(exactly: 1_401)?.count == 1_401)
                #expect(try await deaf[1].read(with: .lines) == "all")
                #expect(world.now == .seconds(1))
                // Full again before the limit: it has got the frame, which is all that was asked.
                try await server.connections[1].send(String(repeating: "y", count: 1_400))
                let counts = try await result
                #expect(counts.accepted == 1)
                #expect(counts.evicted == (evicts ? 2 : 0))
                #expect(counts.skipped == (evicts ? 0 : 2))
                #expect(world.now == .seconds(5))
                #expect(try await deaf[1].read(exactly: 1_401)?.count == 1_401)
            }
        }
    }

    @Test("one that drains isn't evicted because senders of its own wait, too", arguments: seeds)
    func sendersWait(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            try await withSlowClients(world, fast: 0, deaf: 1) { server, _, deaf in
                let connection = server.connections[0]
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        for number in 0..<20 { try await connection.send("\(number) " + String(repeating: "y", count: 400)) }
                    }
                    await world.settle()
                    group.addTask {
                        let result = try await server.broadcast("all", slow: .evict(after: .seconds(60)))
                        #expect(result.accepted == 1)
                    }
                    await world.settle()
                    var lines: [String] = []
                    while lines.count < 22 {
                        let line = try #require(try await deaf[0].read(with: .lines))
                        lines.append(line)
                        try await world.advance(by: .milliseconds(10))
                    }
                    try await group.waitForAll()
                    // Behind the one sender that was there before.
                    #expect(lines.firstIndex(of: "all") == 2)
                }
            }
        }
    }

    @Test("a cancelled broadcast waits no longer, closes nobody and leaves nothing in the way", arguments: seeds)
    func cancelled(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            try await withSlowClients(world, fast: 1, deaf: 2) { server, _, deaf in
                let result = try await withThrowingTaskGroup { group in
                    group.addTask { try await server.broadcast("all", slow: .evict(after: .seconds(5))) }
                    try await world.advance(by: .seconds(1))
                    group.cancelAll()
                    return try await group.next()
                }
                #expect(world.now == .seconds(1))
                #expect(result?.accepted == 1)
                #expect(result?.skipped == 2)
                #expect(result?.evicted == 0)
                #expect(server.connections.count == 3)
                for stream in deaf {
                    let bytes = try await stream.read(exactly: 1_401)
                    #expect(bytes?.count == 1_401)
                }
                #expect(try await server.broadcast("next", slow: .evict(after: .seconds(5))).accepted == 3)
                for stream in deaf {
                    let line = try await stream.read(with: .lines)
                    #expect(line == "next")
                }
            }
        }
    }

    @Test("a connection that ends while it is waited for is neither waited for longer nor evicted", arguments: seeds)
    func endsMeanwhile(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            try await withSlowClients(world, fast: 1, deaf: 1) { server, _, deaf in
                async let result = server.broadcast("all", slow: .evict(after: .seconds(5)))
                try await world.advance(by: .seconds(1))
                deaf[0].closeNow()
                let counts = try await result
                #expect(counts.accepted == 1)
                #expect(counts.skipped == 1)
                #expect(counts.evicted == 0)
                #expect(world.now == .seconds(1))
            }
        }
    }
}
