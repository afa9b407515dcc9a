import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Use and misuse")
struct UseTests {
    @Test("C43, C58: state read by eight tasks while it closes never goes back", arguments: Ending.allCases)
    func stateWhileClosing(ending: Ending) async throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            try await simulate(seed: seed, loops: 4) { world in
                let pair = try await world.pair(lengthPrefixed, options: ending.options)
                try await withThrowingTaskGroup { group in
                    for task in 0..<8 {
                        group.addTask(executorPreference: world.loops[task % 4].tasks) {
                            var seen: CloseReason?
                            for round in 0..<125 {
                                let reason = pair.connection.closeReason
                                if let seen { #expect(reason == seen) }
                                seen = reason
                                _ = pair.connection.core.outbox.waitingBytes
                                if round % 5 == 0 { _ = await pair.connection.info }
                                try? await pair.connection.send(Bytes("x"))
                                await Task.yield()
                            }
                        }
                    }
                    try? await ending.happen(to: pair, in: world)
                    try await group.waitForAll()
                }
                #expect(pair.connection.closeReason != nil)
            }
        }
    }

    @Test("C43: once a reader has seen the end, the reason is there")
    func reasonBeforeEnd() async throws {
        for seed in 0..<100 as Range<UInt64> {
            try await simulate(seed: seed, loops: 3) { world in
                let pair = try await world.pair(.lines)
                async let end: Void = withTaskExecutorPreference(world.loops[2].tasks) {
                    for try await _ in pair.connection.messages {}
                    #expect(pair.connection.closeReason != nil)
                }
                async let closed = pair.peer.close()
                try await end
                await pair.connection.close()
                _ = await closed
            }
        }
    }

    @Test("C132: a flood on one connection holds up no echo on others of the same loop")
    func fairness() async throws {
        try await simulate(seed: 132, loops: 1) { world in
            let server = try await Server.bind(.inMemory("echo"), codec: .raw, on: world.network)
            let isDone = Log<Int>()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { connection in
                        while let bytes = try await connection.next() {
                            if bytes.count <= 10 { try await connection.send(bytes) }
                        }
                    }
                }
                let flood = try await Connection.connect(to: .inMemory("echo"), codec: .raw, on: world.network)
                group.addTask {
                    let block = pattern(100_000)
                    while isDone.count < 20 { try await flood.send(block) }
                    await flood.close()
                }
                let worst = Log<Int>()
                try await withThrowingTaskGroup { clients in
                    for _ in 0..<20 {
                        clients.addTask {
                            let client = try await Connection.connect(to: .inMemory("echo"), codec: .raw, on: world.network)
                            for _ in 0..<50 {
                                let before = world.trace.count
                                try await client.send(pattern(10))
                                var count = 0
                                while count < 10 { count += try await client.next()?.count ?? 10 }
                                worst.add(world.trace.count - before)
                            }
                            isDone.add(1)
                            await client.close()
                        }
                    }
                    try await clients.waitForAll()
                }
                // The first echo of a client includes its being accepted.
                #expect(worst.entries.max() ?? 0 <= 24, "turns of the loop for one echo")
                #expect(await server.shutdown())
                try await group.waitForAll()
            }
        }
    }

    @Test("C132: one connection reads only so much in a turn, however much is there")
    func readBudget() async throws {
        try await simulate(loops: 1) { world in
            var options = ConnectionOptions()
            options.inbox = Marks(high: 100_000_000)
            options.socket.receiveBuffer = 8_000_000
            var peerOptions = ConnectionOptions()
            peerOptions.outbox = Marks(high: 100_000_000)
            let (stream, peer) = try await world.streams(options: options, peer: peerOptions)
            try await peer.write(pattern(4_000_000))
            peer.core.flushAll()
            let connection = try await stream.framed(with: .raw)
            var total = 0
            while total < 4_000_000, let batch = try await connection.inbox.nextBatch() {
                let size = batch.reduce(0) { $0 + $1.count }
                total += size
                #expect(size <= 512 * 1024)
            }
            #expect(total == 4_000_000)
        }
    }

    @Test("C141: wrong use is an error or nothing, never a trap or a deadlock")
    func wrongUse() async throws {
        try await simulate { world in
            // Closing twice, at once and in order, in each mixture.
            let pair = try await world.pair(.lines)
            pair.connection.closeNow()
            pair.connection.closeNow()
            await pair.connection.close()
            try await pair.connection.finishSending()
            try await pair.connection.finishSending()
            await pair.connection.close(within: .zero)
            await pair.connection.close(within: .seconds(-1))
            await pair.peer.close()

            // Reading twice at a time.
            let other = try await world.pair(.lines)
            async let first = other.connection.next()
            await world.settle()
            await expectError(.misuse) { try await other.connection.next() }
            await expectError(.misuse) { try await other.connection.next(within: .seconds(1)) }
            await expectError(.misuse) { for try await _ in other.connection.batches {} }
            try await other.peer.write(Bytes("x\n"))
            #expect(try await first == "x")

            // Closing from inside the loop over frames, and in the middle of it.
            try await other.peer.write(Bytes("a\nb\nc\n"))
            var lines: [String] = []
            async let closed: Void = {
                _ = try await other.peer.readAll()
                await other.peer.close()
            }()
            for try await line in other.connection.messages {
                lines.append(line)
                await other.connection.close()
            }
            #expect(lines == ["a", "b", "c"])
            try await closed

            // A stream that was handed over.
            let (stream, peer) = try await world.streams()
            let connection = try await stream.framed(with: .lines)
            await expectError(.misuse) { try await stream.read(atMost: 1) }
            await expectError(.misuse) { try await stream.write(Bytes("x")) }
            await expectError(.misuse) { try await stream.framed(with: .lines) }
            stream.closeNow()
            #expect(await stream.close() == false)
            try await stream.finishSending()
            try await connection.send("alive")
            #expect(try await peer.read(exactly: 6) == Bytes("alive\n"))
        }
    }

    @Test("C141: closing from what a decoder reports, in the middle of decoding")
    func closeInFinding() async throws {
        try await simulate { world in
            let box = Log<Connection<LineCodec>>()
            defer { box.removeAll() }
            var options = ConnectionOptions()
            options.onFinding = { _ in box.entries.first?.closeNow() }
            let pair = try await world.pair(.lines(max: 5, overlong: .drop), options: options)
            box.add(pair.connection)
            try await pair.peer.write(Bytes("ab\nmuch too long\ncd\n"))
            await world.settle()
            #expect(pair.connection.closeReason == .closedHere)
            while try await pair.connection.next() != nil {}
        }
    }

    @Test("C141: a server that runs twice, stops twice, and closes inside its handler")
    func wrongServerUse() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network)
            async let running: Void = server.run { connection in
                await connection.close(within: .zero)
                connection.closeNow()
            }
            await world.settle()
            await expectError(.misuse) { try await server.run { _ in } }
            let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
            _ = try? await client.next()
            #expect(await server.shutdown())
            #expect(await server.shutdown())
            try await running
            await expectError(.misuse) { try await server.run { _ in } }
            await expectError(.refused) { try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network) }
        }
    }
}
