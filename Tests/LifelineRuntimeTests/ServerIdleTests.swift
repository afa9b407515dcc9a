import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Clients that say nothing, seen from the server")
struct ServerIdleTests {
    /// Why and when each connection of a server ended.
    private struct Ends {
        let log = Log<(SocketError, Duration)>()
        var codes: [SocketError.Code] { log.entries.map(\.0.code) }
        var times: [Duration] { log.entries.map(\.1) }
    }

    private func serve(
        _ world: World, _ ends: Ends, idle: Duration? = nil, heartbeat: Heartbeat<LineCodec>,
        handler: @escaping @Sendable (Connection<LineCodec>) async throws -> Void = { while try await $0.next() != nil {} },
        while body: () async throws -> Void
    ) async throws {
        var options = ServerOptions()
        options.connection.idleLimit = idle
        options.onHandlerError = { error in
            if let error = error as? SocketError { ends.log.add((error, world.now)) }
        }
        let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options, heartbeat: heartbeat)
        try await serving(server, handler, while: body)
    }

    @Test("without pings of its own: who beats, whatever it says, stays; who falls silent is gone after the limit, to the moment")
    func silent() async throws {
        try await simulate { world in
            let ends = Ends()
            let heartbeat = Heartbeat<LineCodec>.answering({ $0 == "ping" }, with: "pong").and(.dropping { $0 == "alive" })
            try await serve(world, ends, idle: .seconds(100), heartbeat: heartbeat) {
                let beating = try await Connection.connect(
                    to: .inMemory("s"), codec: .lines, on: world.network, heartbeat: .oneWay(every: .seconds(50), sending: "alive"))
                let asking = try await Connection.connect(
                    to: .inMemory("s"), codec: .lines, on: world.network, heartbeat: .pings(every: .seconds(90), within: .seconds(3)))
                let silent = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                try await world.advance(by: .seconds(30))
                try await silent.send("last")
                #expect(try await silent.next() == nil)
                #expect(world.now == .seconds(130))
                await silent.close()
                try await world.advance(by: .seconds(3600))
                #expect(ends.codes == [.timedOut] && ends.times == [.seconds(130)])
                #expect(ends.log.entries[0].0.phase == .idle)
                #expect(beating.closeReason == nil && asking.closeReason == nil)
                await beating.close()
                await asking.close()
            }
        }
    }

    @Test("with pings of its own: who answers stays for ever, though it says nothing; who doesn't is gone after ping and limit")
    func pinged() async throws {
        try await simulate { world in
            let ends = Ends()
            try await serve(world, ends, idle: .seconds(100), heartbeat: .pings(every: .seconds(60), within: .seconds(10))) {
                let answering = try await Connection.connect(
                    to: .inMemory("s"), codec: .lines, on: world.network, heartbeat: .answering({ $0 == "ping" }, with: "pong"))
                let deaf = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                try await world.advance(by: .seconds(3600))
                #expect(ends.codes == [.heartbeatMissed] && ends.times == [.seconds(70)])
                #expect(answering.closeReason == nil)
                await answering.close()
                await deaf.close()
            }
        }
    }

    @Test("who only beats, and never says anything to the handler, is let go by the handler's own limit, with words")
    func idleUser() async throws {
        try await simulate { world in
            let ends = Ends()
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                do {
                    while try await connection.next(within: .seconds(300)) != nil {}
                } catch let error as SocketError where error.phase == .read {
                    try await connection.close(saying: "are you there?")
                }
            }
            try await serve(world, ends, idle: .seconds(100), heartbeat: .dropping { $0 == "alive" }, handler: handler) {
                let client = try await Connection.connect(
                    to: .inMemory("s"), codec: .lines, on: world.network, heartbeat: .oneWay(every: .seconds(50), sending: "alive"))
                try await world.advance(by: .seconds(200))
                try await client.send("hello")
                #expect(try await client.next() == "are you there?")
                #expect(try await client.next() == nil)
                #expect(world.now == .seconds(500))
                await client.close()
                await world.settle()
                #expect(ends.codes == [])
            }
        }
    }

    @Test("time in which a slow handler lets reading pause doesn't count as silence; it counts anew when reading goes on")
    func slowHandler() async throws {
        try await simulate { world in
            let ends = Ends()
            var options = ServerOptions()
            options.connection.idleLimit = .seconds(10)
            options.connection.inboxFrames = 1
            options.onHandlerError = { error in
                if let error = error as? SocketError { ends.log.add((error, world.now)) }
            }
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                #expect(try await connection.next() == "one")
                try await world.clock.sleep(for: .seconds(100))
                #expect(try await connection.next() == "two")
                #expect(try await connection.next() == "three")
                _ = try await connection.next()
            }
            try await serving(server, handler) {
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                for line in ["one", "two", "three"] { try await client.send(line) }
                #expect(try await client.next() == nil)
                #expect(world.now == .seconds(110))
                await client.close()
                await world.settle()
                #expect(ends.codes == [.timedOut])
            }
        }
    }
}
