import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Server")
struct ServerTests {
    private static let seeds: ClosedRange<UInt64> = 1...20

    private struct Oops: Error {}

    @Test("connections are dealt to the loops in turn, served there, and listed in order of arrival", arguments: seeds)
    func roundRobin(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                #expect(connection.core.loop.isCurrent)
                _ = try await connection.next()
                #expect(connection.core.loop.isCurrent)
            }
            try await serving(server, handler) {
                var clients: [Connection<LineCodec>] = []
                for _ in 0..<9 { clients.append(try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)) }
                await world.settle()
                let served = server.connections
                var order: [Endpoint?] = []
                for connection in served { order.append(await connection.info.remote) }
                #expect(order == (1...9).map { .inMemory("s#\($0)") })
                let loops = served.map { ($0.core.loop as? VirtualEventLoop)?.index }
                #expect((0..<3).allSatisfy { index in loops.count { $0 == index } == 3 })
                #expect(loops[0..<3] == loops[3..<6])

                await clients[4].close()
                await world.settle()
                order.remove(at: 4)
                var rest: [Endpoint?] = []
                for connection in server.connections { rest.append(await connection.info.remote) }
                #expect(rest == order)
            }
            #expect(server.connections.isEmpty)
        }
    }

    @Test("a handler that throws ends its own connection and is reported", arguments: seeds)
    func handlerThrows(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let errors = Log<any Error>()
            var options = ServerOptions()
            options.onHandlerError = { errors.add($0) }
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                while let line = try await connection.next() {
                    if line == "bad" { throw Oops() }
                    try await connection.send(line)
                }
            }
            try await serving(server, handler) {
                let bad = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                let good = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                try await bad.send("bad")
                #expect(try await bad.next() == nil)
                #expect(bad.closeReason == .closedByPeer)
                try await good.send("good")
                #expect(try await good.next() == "good")
                #expect(errors.entries.count == 1)
                #expect(errors.entries.first is Oops)
                await bad.close()
                await good.close()
            }
            #expect(errors.entries.count == 1)
        }
    }

    @Test("C12: one client's violation or reset touches neither another client nor the listener", arguments: seeds)
    func clientsAreApart(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let errors = Log<SocketError.Code?>()
            var options = ServerOptions()
            options.onHandlerError = { errors.add(($0 as? SocketError)?.code) }
            let server = try await Server.bind(.inMemory("s"), codec: .lines(max: 10), on: world.network, options: options)
            try await serving(server, echo) {
                let good = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                let violator = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                try await violator.write(Bytes("first\n"))
                #expect(try await violator.read(exactly: 6) == Bytes("first\n"))
                try await violator.write(Bytes("more than ten\n"))
                #expect(try await violator.read(atMost: 1) == nil)
                await violator.close()
                let breaker = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                try await breaker.write(Bytes("never sent\n"))
                breaker.closeNow()  // Before the loop has written it: a reset.
                await world.settle()
                #expect(errors.entries == [.frameTooLarge, .reset])
                try await good.send("good")
                #expect(try await good.next() == "good")
                let late = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                try await late.send("late")
                #expect(try await late.next() == "late")
                await good.close()
                await late.close()
            }
        }
    }

    @Test("C40: a handler that returns at once gives each client a prompt and clean end", arguments: seeds)
    func immediateClose(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            try await serving(server, { _ in }) {
                for _ in 0..<50 {
                    let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                    #expect(try await client.next() == nil)
                    #expect(await client.close())
                }
                #expect(world.now == .zero)
                await world.settle()
                #expect(server.connections.isEmpty)
            }
        }
    }

    @Test("C41: what a client sent and half-closed before its handler began is served", arguments: seeds)
    func earlyHalfClose(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let lines = Log<String?>()
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                try await world.clock.sleep(for: .milliseconds(100))
                lines.add(try await connection.next())
                lines.add(try await connection.next())
                #expect(connection.closeReason == .closedByPeer)
                try await connection.send("bye")
            }
            try await serving(server, handler) {
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                try await client.send("x")
                try await client.finishSending()
                #expect(try await client.next() == "bye")
                #expect(try await client.next() == nil)
            }
            #expect(lines.entries == ["x", nil])
        }
    }

    @Test("a second run is a misuse, during the first and after it")
    func runTwice() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            try await serving(server, echo) {
                await world.settle()
                #expect(await failure { try await server.run(echo) }?.code == .misuse)
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                try await client.send("still served")
                #expect(try await client.next() == "still served")
                await client.close()
            }
            #expect(await failure { try await server.run(echo) }?.code == .misuse)
        }
    }

    @Test("when the task of run is cancelled, handlers are, and all is closed at once", arguments: seeds)
    func cancelledRun(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let ends = Log<String>()
            var options = ServerOptions()
            options.onHandlerError = { ends.add("reported: \($0)") }
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options)
            let (first, second) = try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { connection in
                        do {
                            _ = try await connection.next()
                        } catch is CancellationError {
                            ends.add("cancelled")
                            throw CancellationError()
                        }
                    }
                }
                let first = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                let second = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                await world.settle()
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.waitForAll() }
                return (first, second)
            }
            #expect(ends.entries == ["cancelled", "cancelled"])
            #expect(server.connections.isEmpty)
            #expect(try await first.next() == nil)
            #expect(try await second.next() == nil)
            #expect(world.now == .zero)
            #expect(await failure { try await ByteStream.connect(to: .inMemory("s"), on: world.network) }?.code == .refused)
            let next = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            #expect(await next.shutdown())
        }
    }

    @Test("a server that is dropped closes its listener and those that wait, and leaks nothing", arguments: seeds)
    func dropped(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            var server: Server? = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
            await world.settle()
            weak let waiting = server?.connections.first
            weak let core = waiting?.core
            weak let object = server
            #expect(waiting != nil)
            server = nil
            await world.settle()
            #expect(object == nil)
            #expect(waiting == nil)
            #expect(core == nil)
            #expect(try await client.next() == nil)
            #expect(await failure { try await ByteStream.connect(to: .inMemory("s"), on: world.network) }?.code == .refused)
        }
    }

    @Test("C131: nothing is kept of a connection that has gone", arguments: seeds)
    func nothingIsKept(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let cores = Log<Weak<StreamCore>>()
            let connections = Log<Weak<Connection<LineCodec>>>()
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                cores.add(Weak(connection.core))
                connections.add(Weak(connection))
                try await echo(connection)
            }
            try await serving(server, handler) {
                for number in 0..<20 {
                    let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                    try await client.send("x")
                    _ = try await client.next()
                    if number.isMultiple(of: 2) { await client.close() }
                }
                await world.settle()
                #expect(cores.count == 20)
                #expect(cores.entries.allSatisfy { $0.object == nil })
                #expect(connections.entries.allSatisfy { $0.object == nil })
            }
        }
    }
}

/// Remembers an object without keeping it.
struct Weak<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?

    init(_ object: Object) { self.object = object }
}
