import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("A shutdown with a last message")
struct ShutdownSayingTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    @Test("each client gets its own, behind the answers that still went out", arguments: seeds, [1, 3])
    func answersFirst(seed: UInt64, loops: Int) async throws {
        try await simulate(seed: seed, loops: loops) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                while let line = try await connection.next() {
                    try await world.clock.sleep(for: .seconds(1))
                    try await connection.send("got \(line)")
                }
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run(handler) }
                var clients: [ByteStream] = []
                for number in 0..<5 {
                    let client = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                    try await client.say("\(number) a\n\(number) b")
                    clients.append(client)
                }
                await world.settle()
                let number = Counter()
                async let isInTime = server.shutdown(within: .seconds(5)) { _ in "back in \(number.next())" }
                var words: [String?] = []
                for (number, client) in clients.enumerated() {
                    await client.expect("got \(number) a", "got \(number) b")
                    words.append(try await client.line())
                    await client.expect(nil)
                    await client.close()
                }
                #expect(Set(words) == Set((1...5).map { "back in \($0)" }))
                #expect(try await isInTime && world.now == .seconds(2))
                try await group.waitForAll()
            }
        }
    }

    @Test("it passes a full outbox")
    func fullOutbox() async throws {
        try await simulate { world in
            var options = ServerOptions()
            options.connection.outbox = Marks(high: 32, low: 0)
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options)
            let long = String(repeating: "a", count: 200)
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run { while try await $0.next() != nil {} } }
                let slow = try await ByteStream.connect(
                    to: .inMemory("s"), on: world.network, options: .small(16) { $0.inbox = Marks(high: 1, low: 0) })
                await world.settle()
                #expect(try await server.broadcast(long).accepted == 1)
                await world.settle()
                #expect(try await server.broadcast("skipped").skipped == 1)
                async let isInTime = server.shutdown { _ in "bye" }
                await world.settle()
                await slow.expect(long, "bye", nil)
                await slow.close()
                #expect(try await isInTime && world.now == .zero)
                try await group.waitForAll()
            }
        }
    }

    @Test("those that nobody has served yet get it, those in their handshake don't", arguments: [false, true])
    func unserved(shakesHands: Bool) async throws {
        try await simulate { world in
            let greeting: @Sendable (ByteStream) async throws -> Void = { stream in _ = try await stream.read(exactly: 1) }
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network, handshake: shakesHands ? greeting : nil)
            let client = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
            await world.settle()
            async let isInTime = server.shutdown { _ in "bye" }
            if !shakesHands { await client.expect("bye") }
            await client.expect(nil)
            await client.close()
            #expect(try await isInTime)
        }
    }

    @Test("at the limit, one whose handler goes on gets it all the same, and who takes nothing is broken off")
    func atTheLimit() async throws {
        try await simulate(loops: 2) { world in
            var options = ServerOptions()
            options.onHandlerError = { _ in }
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { connection in
                        if try await connection.next() == "flood" {
                            while true { try await connection.send(String(repeating: "a", count: 10_000)) }
                        }
                        try await world.clock.sleep(for: .seconds(3600))
                    }
                }
                let patient = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                try await patient.say("hello")
                let deaf = try await ByteStream.connect(to: .inMemory("s"), on: world.network, options: .slow)
                try await deaf.say("flood")
                await world.settle()
                #expect(try await server.shutdown(within: .seconds(5)) { _ in "bye" } == false)
                #expect(world.now == .seconds(5))
                await patient.expect("bye", nil)
                try await group.waitForAll()
                #expect(server.connections.isEmpty)
                _ = deaf
            }
        }
    }

    @Test("a message that the codec refuses is thrown when all is over; others got theirs, and none is sent where there is none")
    func refused() async throws {
        try await simulate { world in
            let server = try await Server.bind(
                .inMemory("s"), codec: .lengthPrefixed(UInt32.self, max: 100, maxOutgoing: 3), on: world.network)
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run { while try await $0.next() != nil {} } }
                var clients: [ByteStream] = []
                for _ in 0..<3 { clients.append(try await ByteStream.connect(to: .inMemory("s"), on: world.network)) }
                await world.settle()
                let names = server.connections.map { ObjectIdentifier($0) }
                let words = [names[0]: Bytes("bye"), names[1]: Bytes("too long")]
                async let error = expectError(.frameTooLarge) {
                    try await server.shutdown { words[ObjectIdentifier($0)] }
                }
                #expect(try await clients[0].readAll() == [0, 0, 0, 3] + Array("bye".utf8))
                for client in clients[1...] { #expect(try await client.readAll() == []) }
                for client in clients { await client.close() }
                _ = await error
                #expect(world.now == .zero)
                try await group.waitForAll()
            }
        }
    }
}

/// 1, 2, 3 and so on.
final class Counter: @unchecked Sendable {  // `number` is guarded by `lock`.
    private let lock = Lock()
    private var number = 0

    func next() -> Int {
        lock.withLock {
            number += 1
            return number
        }
    }
}
