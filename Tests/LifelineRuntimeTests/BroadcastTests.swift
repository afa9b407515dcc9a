import LifelineCore
import LifelineRuntime
import LifelineTesting
import Synchronization
import Testing

@Suite("Broadcast")
struct BroadcastTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    /// Lines whose encodings are counted. An encoder may also number them, and has a state then.
    struct Counted: Codec {
        let count = Log<String>()

        func makeDecoder() -> LineCodec { .lines }
        func makeEncoder() -> Encoder { Encoder(count: count) }

        struct Encoder: FrameEncoder {
            static var isStateless: Bool { true }
            let count: Log<String>

            func encode(_ line: String, into output: inout ByteOutput) throws {
                count.add(line)
                try LineCodec.lines.encode(line, into: &output)
            }
        }
    }

    struct Numbered: Codec {
        let count = Log<String>()

        func makeDecoder() -> LineCodec { .lines }
        func makeEncoder() -> Encoder { Encoder(count: count) }

        struct Encoder: FrameEncoder {
            let count: Log<String>
            var number = 0

            mutating func encode(_ line: String, into output: inout ByteOutput) throws {
                number += 1
                count.add(line)
                try LineCodec.lines.encode("\(number) \(line)", into: &output)
            }
        }
    }

    @Test("all get it, encoded once by a stateless encoder", arguments: seeds)
    func encodedOnce(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let codec = Counted()
            let server = try await Server.bind(.inMemory("s"), codec: codec, on: world.network)
            try await serving(server, waitForEnd) {
                let clients = try await world.clients(10)
                await world.settle()
                let result = try await server.broadcast("all")
                #expect(result.accepted == 10)
                #expect(result.skipped == 0)
                for client in clients {
                    let line = try await client.next()
                    #expect(line == "all")
                }
                #expect(codec.count.entries == ["all"])
                await #expect(throws: SocketError.self) { try await server.broadcast("a\nb") }
                let error = await failure { try await server.broadcast("a\nb") }
                #expect(error?.code == .unencodable)
                try await server.broadcast("more")
                for client in clients {
                    let line = try await client.next()
                    #expect(line == "more")
                    await client.close()
                }
            }
        }
    }

    @Test("an encoder with a state encodes for each connection, in that connection's order", arguments: seeds)
    func encodedForEach(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let codec = Numbered()
            let server = try await Server.bind(.inMemory("s"), codec: codec, on: world.network)
            let handler: @Sendable (Connection<Numbered>) async throws -> Void = { connection in
                while let line = try await connection.next() { try await connection.send(line) }
            }
            try await serving(server, handler) {
                let clients = try await world.clients(4)
                for (index, client) in clients.enumerated() {
                    for _ in 0..<index { try await client.send("own") }
                }
                await world.settle()
                #expect(try await server.broadcast("all").accepted == 4)
                for (index, client) in clients.enumerated() {
                    for number in 0..<index {
                        let own = try await client.next()
                        #expect(own == "\(number + 1) own")
                    }
                    let all = try await client.next()
                    #expect(all == "\(index + 1) all")
                    await client.close()
                }
                #expect(codec.count.entries.count { $0 == "all" } == 4)
            }
        }
    }

    @Test("a connection that has ended, or was swapped to another codec, is passed over", arguments: [true, false])
    func passedOver(isStateless: Bool) async throws {
        try await simulate { world in
            if isStateless {
                try await passOver(Counted(), in: world)
            } else {
                try await passOver(Numbered(), in: world)
            }
        }
    }

    private func passOver<C: Codec>(_ codec: C, in world: World) async throws
    where C.Outgoing == String, C.Message == String {
        var options = ServerOptions()
        options.onHandlerError = { _ in }
        let server = try await Server.bind(.inMemory("s"), codec: codec, on: world.network, options: options)
        let handler: @Sendable (Connection<C>) async throws -> Void = { connection in
            if try await connection.next() == "swap" {
                let raw = try await connection.swap(to: .raw)
                while let bytes = try await raw.next() { try await raw.send(bytes) }
            } else {
                try await connection.finishSending()
                _ = try await connection.next()
            }
        }
        try await serving(server, handler) {
            let swapped = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
            try await swapped.write(Bytes("swap\n"))
            let ended = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
            try await ended.write(Bytes("end\n"))
            await world.settle()
            #expect(server.connections.count == 2)
            let result = try await server.broadcast("old format")
            #expect(result.accepted == 0)
            #expect(result.skipped == 2)
            try await swapped.write(Bytes("raw"))
            #expect(try await swapped.read(atMost: 100) == Bytes("raw"))
            #expect(try await ended.read(atMost: 100) == nil)
        }
    }

    @Test("C124: one client that stops reading delays nobody, and its memory is bounded", arguments: [1])
    func oneStopsReading(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lengthPrefixed(UInt32.self), on: world.network)
            let messages = 2_000
            try await serving(server, waitForEnd) {
                var deaf = ConnectionOptions()
                deaf.inbox = Marks(high: 1)
                let slow = try await Connection.connect(
                    to: .inMemory("s"), codec: .lengthPrefixed(UInt32.self), on: world.network, options: deaf)
                await world.settle()
                let slowEnd = try #require(server.connections.first)
                try await withThrowingTaskGroup { group in
                    for _ in 0..<49 {
                        group.addTask {
                            let client = try await Connection.connect(
                                to: .inMemory("s"), codec: .lengthPrefixed(UInt32.self), on: world.network)
                            for number in 0..<messages {
                                let message = try #require(try await client.next())
                                #expect(message.count == 1024)
                                guard message[0] == UInt8(truncatingIfNeeded: number) else {
                                    Issue.record("message \(message[0]) instead of \(number)")
                                    break
                                }
                            }
                            #expect(world.now == .zero)
                            await client.close()
                        }
                    }
                    await world.settle()
                    #expect(server.connections.count == 50)
                    var skipped = 0
                    for number in 0..<messages {
                        let result = try await server.broadcast(block(1024, of: UInt8(truncatingIfNeeded: number)))
                        #expect(result.accepted + result.skipped == 50)
                        #expect(result.skipped <= 1)
                        skipped += result.skipped
                        #expect(slowEnd.core.outbox.waitingBytes <= 256 * 1024 + 1028)
                        await world.settle()
                    }
                    #expect(skipped > messages / 2)
                    try await group.waitForAll()
                }
                slow.closeNow()
            }
        }
    }

    @Test("order is kept against sends of the connection itself", arguments: seeds)
    func order(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            var options = ServerOptions()
            options.connection.outbox = Marks(high: 200, low: 100)
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                _ = try await connection.next()
                for number in 0..<200 { try await connection.send("own \(number)") }
                _ = try await connection.next()
            }
            try await serving(server, handler) {
                let client = try await Connection.connect(
                    to: .inMemory("s"), codec: .lines, on: world.network, options: .small(64))
                await world.settle()
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        for number in 0..<200 {
                            let result = try await server.broadcast("all \(number)", slow: .evict(after: .seconds(1)))
                            #expect(result.accepted == 1)
                        }
                    }
                    try await client.send("go")
                    var next = ["own": 0, "all": 0]
                    for _ in 0..<400 {
                        let words = try await client.next()?.split(separator: " ").map(String.init) ?? []
                        try #require(words.count == 2)
                        #expect(Int(words[1]) == next[words[0]])
                        next[words[0]]? += 1
                    }
                    try await group.waitForAll()
                }
                await client.close()
            }
        }
    }
}

/// Reads and drops what comes.
func waitForEnd<C: Codec>(_ connection: Connection<C>) async throws {
    while try await connection.next() != nil {}
}

extension World {
    /// So many clients of the server at "s", on lines.
    func clients(_ count: Int, options: ConnectionOptions = ConnectionOptions()) async throws -> [Connection<LineCodec>] {
        try await (0..<count).asyncMap { _ in
            try await Connection.connect(to: .inMemory("s"), codec: .lines, on: network, options: options)
        }
    }
}
