import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("A close with a last message")
struct LastWordsTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    @Test("it passes the high mark, stands behind all that was accepted, and nothing is sent behind it", arguments: seeds)
    func order(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let options = ConnectionOptions.small(16) { $0.outbox = Marks(high: 32, low: 0) }
            let pair = try await world.pair(.lines, options: options, peer: .slow)
            let connection = pair.connection
            let long = String(repeating: "a", count: 200)
            try await connection.send(long)
            await world.settle()
            async let waiting = expectError(.closed) { try await connection.send("waited") }
            await world.settle()
            #expect(connection.core.outbox.waitingSenders == 1)

            async let isComplete = connection.close(saying: "bye", within: .seconds(3))
            await world.settle()
            _ = await waiting
            await expectError(.closed) { try await connection.send("late") }
            #expect(try await pair.peer.readAll() == Array("\(long)\nbye\n".utf8))
            await pair.peer.close()
            #expect(try await isComplete)
            #expect(connection.closeReason == .closedHere && world.now == .zero)
        }
    }

    @Test("whoever sends at the same time is before it or gets an error", arguments: 1...30 as ClosedRange<UInt64>)
    func race(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let options = ConnectionOptions.small(64) { $0.outbox = Marks(high: 128, low: 64) }
            let pair = try await world.pair(.lines, options: options)
            let accepted = Log<String>()
            let isTime = OneShot<Void>()
            let received = try await withThrowingTaskGroup { group in
                for sender in 0..<6 {
                    group.addTask(executorPreference: world.loops[sender % 3].tasks) {
                        for number in 0..<1000 {
                            do {
                                try await pair.connection.send("\(sender) \(number)")
                            } catch {
                                #expect((error as? SocketError)?.code == .closed)
                                return
                            }
                            accepted.add("\(sender) \(number)")
                            if accepted.count == 50 { isTime.succeed(()) }
                        }
                        Issue.record("the connection wasn't closed")
                    }
                }
                group.addTask(executorPreference: world.loops[Int(seed) % 3].tasks) {
                    try await isTime.value()
                    let isComplete = try await pair.connection.close(saying: "bye")
                    #expect(isComplete)
                }
                let all = try await pair.peer.readAll()
                await pair.peer.close()
                try await group.waitForAll()
                return String(decoding: all, as: UTF8.self).split(separator: "\n").map { String($0) }
            }
            #expect(received.last == "bye")
            #expect(received.dropLast().sorted() == accepted.entries.sorted())
        }
    }

    @Test("the reader here gets the reason, behind what had arrived")
    func reason() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)
            try await pair.peer.say("one\ntwo")
            await world.settle()
            async let isComplete = pair.connection.close(saying: "bye", because: SocketError(.kicked, "logged in elsewhere"))
            await pair.peer.expect("bye", nil)
            #expect(try await pair.connection.next() == "one")
            #expect(try await pair.connection.next() == "two")
            #expect(await expectError(.kicked) { try await pair.connection.next() }?.message == "logged in elsewhere")
            #expect(pair.connection.closeReason == .failed(SocketError(.kicked, "")))
            let cause = await expectError(.closed) { try await pair.connection.send("late") }?.cause
            #expect((cause as? SocketError)?.code == .kicked)
            await pair.peer.close()
            #expect(try await isComplete)
        }
    }

    @Test("a message that can't be encoded is thrown when the connection is closed, without it")
    func refused() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lengthPrefixed(UInt32.self, max: 100, maxOutgoing: 3))
            try await pair.connection.send(Bytes("abc"))
            async let refusal = expectError(.frameTooLarge) { try await pair.connection.close(saying: Bytes("abcd")) }
            #expect(try await pair.peer.readAll() == [0, 0, 0, 3] + Array("abc".utf8))
            #expect(pair.connection.closeReason == .closedHere)
            await pair.peer.close()
            _ = await refusal
            await expectError(.closed) { try await pair.connection.close(saying: Bytes("abc")) }
        }
    }

    @Test("a side that had finished sending is closed without it; one that was replaced isn't touched")
    func tooLate() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)
            try await pair.connection.finishSending()
            async let refusal = expectError(.closed) { try await pair.connection.close(saying: "bye") }
            await pair.peer.expect(nil)
            await pair.peer.close()
            _ = await refusal
            #expect(pair.connection.closeReason == .closedHere && world.now == .zero)

            let other = try await world.pair(.lines, name: "other")
            let replacement = try await other.connection.swap(to: .lines)
            await expectError(.misuse) { try await other.connection.close(saying: "bye") }
            try await replacement.send("alive")
            await other.peer.expect("alive")
        }
    }

    @Test("a peer that takes nothing is broken off at the limit, and a cancelled call ends at once")
    func bounded() async throws {
        try await simulate { world in
            let deaf = try await world.pair(.lines, options: .small(16), peer: .slow)
            try await deaf.connection.send(String(repeating: "a", count: 200))
            #expect(try await deaf.connection.close(saying: "bye", within: .seconds(3)) == false)
            #expect(world.now == .seconds(3))

            let other = try await world.pair(.lines, name: "other")
            let result = await withTaskGroup(of: Bool?.self) { group in
                group.addTask { try? await other.connection.close(saying: "bye", within: .seconds(60)) }
                await world.settle()
                group.cancelAll()
                return await group.next()
            }
            #expect(result == false && world.now == .seconds(3))
            await other.peer.expect("bye", nil)
        }
    }

    @Test("a handler that returns doesn't shorten the time that a client was given to hear it")
    func handlerReturns() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            let long = String(repeating: "a", count: 200)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                try await connection.send(long)
                #expect(try await connection.next() == nil)
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run(handler) }
                let client = try await ByteStream.connect(
                    to: .inMemory("s"), on: world.network, options: .small(16) { $0.inbox = Marks(high: 1, low: 0) })
                await world.settle()
                let connection = try #require(server.connections.first)
                group.addTask {
                    let isComplete = try await connection.close(saying: "bye", within: .seconds(10))
                    #expect(isComplete)
                }
                try await world.advance(by: .seconds(9))
                #expect(server.connections.count == 1)
                await client.expect(long, "bye", nil)
                await client.close()
                await world.settle()
                #expect(server.connections.isEmpty && world.now == .seconds(9))
                await server.shutdown()
                try await group.waitForAll()
            }
        }
    }
}
