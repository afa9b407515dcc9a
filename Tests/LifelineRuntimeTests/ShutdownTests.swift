import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Shutting a server down")
struct ShutdownTests {
    private static let seeds: ClosedRange<UInt64> = 1...20

    private var quiet: ServerOptions {
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        return options
    }

    @Test("C119: clients that are idle, in the middle of a frame, or deaf are all gone at the limit", arguments: seeds)
    func shutdownWithClients(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(
                .inMemory("s"), codec: .lengthPrefixed(UInt32.self, max: 1 << 24), on: world.network, options: quiet)
            let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
                while let frame = try await connection.next() {
                    // Whoever says something is flooded.
                    while !frame.isEmpty { try await connection.send(block(100_000, of: 1)) }
                }
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run(handler) }
                let idle = try await (0..<20).asyncMap { _ in try await ByteStream.connect(to: .inMemory("s"), on: world.network) }
                let sending = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                group.addTask {
                    // A frame of 10 MB, of which a part is on its way.
                    try await sending.write(Bytes([0, 0x98, 0x96, 0x80]))
                    do {
                        for _ in 0..<1_000 {
                            try await sending.write(block(10_000, of: 2))
                            try await world.clock.sleep(for: .milliseconds(1))
                        }
                        Issue.record("the server has taken everything")
                    } catch {
                        #expect((error as? SocketError)?.code == .closed)
                    }
                }
                let deaf = try await ByteStream.connect(to: .inMemory("s"), on: world.network, options: deafOptions)
                try await deaf.write(Bytes("x"), with: .lengthPrefixed(UInt32.self))
                try await world.advance(by: .milliseconds(100))
                #expect(server.connections.count == 22)

                async let isDone = server.shutdown(within: .milliseconds(500))
                await world.settle()
                #expect(await failure { try await ByteStream.connect(to: .inMemory("s"), on: world.network) }?.code == .refused)
                for stream in idle {
                    #expect(try await stream.read(atMost: 1) == nil)
                    await stream.close()
                }
                #expect(world.now == .milliseconds(100))
                #expect(await !isDone)
                #expect(world.now == .milliseconds(600))
                try await group.waitForAll()
                #expect(world.now <= .milliseconds(602))
                #expect(server.connections.isEmpty)
                let next = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
                #expect(await next.shutdown())
            }
        }
    }

    private var deafOptions: ConnectionOptions {
        var options = ConnectionOptions()
        options.inbox = Marks(high: 1)
        return options
    }

    @Test("frames that were decoded are still delivered, then the end with its reason, and answers still go out", arguments: seeds)
    func decodedFramesAreDelivered(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let lines = Log<String>()
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                try await world.clock.sleep(for: .seconds(1))
                while let line = try await connection.next() {
                    lines.add(line)
                    try await connection.send("got \(line)")
                }
                #expect(connection.closeReason == .shuttingDown)
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run(handler) }
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                for number in 0..<5 { try await client.send("\(number)") }
                await world.settle()
                async let isDone = server.shutdown(within: .seconds(5))
                await world.settle()
                try await client.send("too late")
                for number in 0..<5 { #expect(try await client.next() == "got \(number)") }
                #expect(try await client.next() == nil)
                #expect(client.closeReason == .closedByPeer)
                #expect(await client.close())
                #expect(await isDone)
                #expect(world.now == .seconds(1))
                try await group.waitForAll()
            }
            #expect(lines.entries == ["0", "1", "2", "3", "4"])
        }
    }

    @Test("each connection is closed when its own handler returns", arguments: seeds)
    func eachInItsTime(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                let delay = try #require(Int(try await connection.next() ?? ""))
                #expect(try await connection.next() == nil)
                try await world.clock.sleep(for: .seconds(delay))
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run(handler) }
                try await withThrowingTaskGroup { clients in
                    for delay in 1...3 {
                        clients.addTask {
                            let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                            try await client.send("\(delay)")
                            #expect(try await client.next() == nil)
                            #expect(world.now == .seconds(delay))
                            #expect(await client.close())
                        }
                    }
                    await world.settle()
                    #expect(await server.shutdown())
                    #expect(world.now == .seconds(3))
                    try await clients.waitForAll()
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("shutdown returns at its limit even if a handler ignores its cancellation; run waits for it", arguments: seeds)
    func stubbornHandler(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: quiet)
            let gate = Gate()
            let notes = Log<String>()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { _ in
                        await gate.pass()
                        notes.add(Task.isCancelled ? "cancelled" : "not cancelled")
                    }
                    notes.add("run returned")
                }
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                await world.settle()
                #expect(await !server.shutdown(within: .milliseconds(500)))
                #expect(world.now == .milliseconds(500))
                #expect(try await client.next() == nil)
                await world.settle()
                #expect(notes.entries.isEmpty)
                #expect(await !server.shutdown(within: .seconds(5)))
                #expect(world.now == .milliseconds(500))
                gate.open()
                try await group.waitForAll()
                #expect(notes.entries == ["cancelled", "run returned"])
                #expect(await server.shutdown())
            }
        }
    }

    @Test("a shutdown that is cancelled makes its moment the limit", arguments: seeds)
    func cancelledShutdown(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: quiet)
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run { _ in try await world.clock.sleep(for: .seconds(100)) } }
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                await world.settle()
                let isDone = await withTaskGroup { stopping in
                    stopping.addTask { await server.shutdown(within: .seconds(50)) }
                    try? await world.advance(by: .seconds(1))
                    stopping.cancelAll()
                    return await stopping.next()
                }
                #expect(isDone == false)
                try await group.waitForAll()
                #expect(world.now == .seconds(1))
                #expect(try await client.next() == nil)
            }
        }
    }

    @Test("two shutdowns at a time both return, at the shorter of their limits", arguments: seeds)
    func twoAtATime(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: quiet)
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run { _ in try await world.clock.sleep(for: .seconds(100)) } }
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                await world.settle()
                async let first = server.shutdown(within: .seconds(10))
                async let second = server.shutdown(within: .seconds(3))
                #expect(await !first)
                #expect(await !second)
                #expect(world.now == .seconds(3))
                try await group.waitForAll()
                client.closeNow()
            }
        }
    }

    @Test("shutdown without run closes those that wait, all of them within the limit", arguments: seeds, [true, false])
    func withoutRun(seed: UInt64, clientsClose: Bool) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let clients = try await (0..<20).asyncMap { _ in
                try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
            }
            await world.settle()
            async let isDone = server.shutdown(within: .seconds(1))
            for client in clients {
                #expect(try await client.next() == nil)
                if clientsClose { await client.close() }
            }
            #expect(world.now == .zero)
            let everybodyClosed = await isDone
            #expect(everybodyClosed == clientsClose)
            #expect(world.now == (clientsClose ? .zero : .seconds(1)))
            await world.settle()
            #expect(server.connections.isEmpty)
            try await server.run { _ in Issue.record("there is nobody to serve") }
        }
    }

    @Test("a connection that arrives while the accept queue ends is closed, and nobody waits for it", arguments: seeds)
    func lateArrival(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            server.shared.queue.end(.shuttingDown)
            let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
            #expect(try await client.next() == nil)
            #expect(await client.close())
            await world.settle()
            #expect(server.connections.isEmpty)
            #expect(await server.shutdown())
            #expect(world.now == .zero)
        }
    }

    @Test("run after a shutdown returns at once, and so does shutdown without a client")
    func shutdownFirst() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            #expect(await server.shutdown())
            #expect(await failure { try await ByteStream.connect(to: .inMemory("s"), on: world.network) }?.code == .refused)
            try await server.run(echo)
            #expect(await server.shutdown())
            #expect(world.now == .zero)
        }
    }

    @Test("C123: a name can be bound again at once, and a second server on a live one is refused", arguments: seeds)
    func bindAgain(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            for round in 0..<20 {
                let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
                try await withThrowingTaskGroup { group in
                    group.addTask { try await server.run(echo) }
                    let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                    try await client.send("\(round)")
                    #expect(try await client.next() == "\(round)")
                    let second = await failure { try await Server.bind(.inMemory("s"), codec: .lines, on: world.network) }
                    #expect(second?.code == .addressInUse)
                    #expect(await !server.shutdown(within: .zero))
                    try await group.waitForAll()
                }
            }
        }
    }
}

extension Sequence {
    /// The results of `transform`, one after the other.
    func asyncMap<R>(_ transform: (Element) async throws -> R) async throws -> [R] {
        var results: [R] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
