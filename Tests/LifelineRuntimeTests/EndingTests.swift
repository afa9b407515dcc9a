import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Nothing is lost at the end")
struct LastBytesTests {
    @Test("C30: frames sent right before a close are delivered to a reader who comes late")
    func lastFrames() async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed)
            for number in 0..<5 { try await pair.peer.write(frame("\(number)")) }
            async let closed = pair.peer.close()
            try await world.clock.sleep(for: .milliseconds(200))
            var frames: [String] = []
            for try await next in pair.connection.messages { frames.append(String(next)) }
            #expect(frames == ["0", "1", "2", "3", "4"])
            #expect(pair.connection.closeReason == .closedByPeer)
            await pair.connection.close()
            #expect(await closed)
        }
    }

    @Test("C32: what was sent before a close arrives whole at a slow peer, and the close returns after that")
    func closeBehindData() async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed, options: .small(4096), peer: .slow)
            let large = pattern(1_048_576)
            try await pair.connection.send(large)
            let done = Log<Duration>()
            async let closed = {
                let result = await pair.connection.close()
                done.add(world.now)
                return result
            }()
            var received: [UInt8] = []
            while let some = try await pair.peer.read(atMost: 8192) {
                some.withUnsafeBytes { received.append(contentsOf: $0) }
                #expect(done.count == 0)
                try await world.clock.sleep(for: .milliseconds(5))
            }
            #expect(received.count == 4 + large.count)
            #expect(Bytes(received[4...]) == large)
            await pair.peer.close()
            #expect(await closed)
        }
    }

    @Test("C33: a graceful close ends at its limit when the peer doesn't read, and waiting sends throw")
    func closeLimit() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small { $0.outbox = Marks(high: 16_384) }
            let pair = try await world.pair(lengthPrefixed, options: options, peer: .slow)
            let sent = Log<Int>()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    await expectError(.closed) {
                        while true {
                            try await pair.connection.send(Bytes(repeatElement(1, count: 1000)))
                            sent.add(1)
                        }
                    }
                    #expect(world.now == .seconds(1))
                }
                try await world.clock.sleep(for: .seconds(1))
                #expect(sent.count > 10)
                #expect(await pair.connection.close(within: .milliseconds(300)) == false)
                #expect(world.now == .milliseconds(1300))
                try await group.waitForAll()
            }
            #expect(try await pair.connection.next() == nil)
            #expect(pair.connection.closeReason == .closedHere)
            await expectError(.reset) { try await pair.peer.readAll() }
        }
    }

    @Test("a close with unread input loses nothing of what was written", arguments: 1...20)
    func closeWithUnreadInput(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let options = ConnectionOptions.small { $0.inbox = Marks(high: 1000) }
            let pair = try await world.pair(.raw, options: options, peer: .slow)
            async let written: Void = {
                for _ in 0..<50 { try await pair.peer.write(pattern(4000)) }
                try await pair.peer.finishSending()
            }()
            await world.settle()
            try await pair.connection.send(pattern(50_000))
            async let closed = pair.connection.close()
            #expect(try await pair.peer.readAll() == Array(pattern(50_000)))
            try await written
            #expect(await closed)
            #expect(pair.connection.closeReason == .closedHere)
        }
    }

    @Test("C41: a client that sends and half-closes before the handler looks is heard")
    func earlyHalfClose() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("late"), codec: lengthPrefixed, on: world.network)
            async let running: Void = server.run { connection in
                try await world.clock.sleep(for: .milliseconds(100))
                #expect(try await connection.next().map(String.init) == "x")
                #expect(try await connection.next() == nil)
                try await connection.send(Bytes("still"))
            }
            let client = try await Connection.connect(to: .inMemory("late"), codec: lengthPrefixed, on: world.network)
            try await client.send(Bytes("x"))
            try await client.finishSending()
            await expectError(.closed) { try await client.send(Bytes("y")) }
            #expect(try await client.next().map(String.init) == "still")
            #expect(try await client.next() == nil)
            await server.shutdown()
            try await running
        }
    }

    @Test("C40: accept and immediate close, 500 times")
    func immediateClose() async throws {
        try await simulate(loops: 3) { world in
            let server = try await Server.bind(.inMemory("rude"), codec: .lines, on: world.network)
            async let running: Void = server.run { $0.closeNow() }
            for _ in 0..<500 {
                let client = try await Connection.connect(to: .inMemory("rude"), codec: .lines, on: world.network)
                do {
                    try await client.send("hello")
                    #expect(try await client.next() == nil)
                } catch let error as SocketError {
                    #expect(error.code == .reset || error.code == .closed)
                }
                #expect(client.closeReason != nil)
            }
            #expect(world.now == .zero)
            #expect(await server.shutdown())
            try await running
        }
    }
}

/// The ways to end.
enum Ending: CaseIterable, Sendable {
    case ownClose, ownCloseNow, peerClose, peerReset, cancelledOwner, violation, truncation, idleLimit, finishedBoth

    func isRight(_ reason: CloseReason?) -> Bool {
        switch self {
        case .ownClose, .ownCloseNow, .cancelledOwner: reason == .closedHere
        case .peerClose, .finishedBoth: reason == .closedByPeer
        case .peerReset: reason?.error?.code == .reset
        case .violation: reason?.error?.code == .frameTooLarge
        case .truncation: reason?.error?.code == .truncated
        case .idleLimit: reason?.error?.phase == .idle
        }
    }

    /// Brings the end about, until both sides are through.
    func happen(to pair: Pair<LengthPrefixCodec>, in world: World) async throws {
        async let peerClosed: Void = { if try await pair.peer.readAll().count >= 0 { await pair.peer.close() } }()
        switch self {
        case .ownClose: #expect(await pair.connection.close())
        case .ownCloseNow: pair.connection.closeNow()
        case .peerClose:
            try await pair.peer.finishSending()
            #expect(try await pair.connection.next() == nil)
            await pair.connection.close()
        case .peerReset: pair.peer.reset()
        case .cancelledOwner:
            await withTaskGroup { group in
                group.addTask {
                    _ = try? await pair.connection.next()
                    await pair.connection.close()
                }
                await world.settle()
                group.cancelAll()
            }
        case .violation: try await pair.peer.write([0xFF, 0xFF, 0xFF, 0xFF])
        case .truncation:
            try await pair.peer.write([0, 0])
            try await pair.peer.finishSending()
        case .idleLimit: try await world.clock.sleep(for: .seconds(1000))
        case .finishedBoth:
            try await pair.connection.finishSending()
            try await pair.peer.finishSending()
        }
        try? await peerClosed
        await world.settle()
    }

    /// What a connection needs for it.
    var options: ConnectionOptions {
        var options = ConnectionOptions()
        if self == .idleLimit { options.idleLimit = .seconds(1000) }
        return options
    }
}

@Suite("One end, one reason")
struct EndingTests {
    @Test("C35, C39: each way to end gives one end with its reason, and nothing hangs afterwards", arguments: Ending.allCases)
    func oneEnd(ending: Ending) async throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            try await simulate(seed: seed) { world in
                let pair = try await world.pair(lengthPrefixed, options: ending.options)
                let ends = Log<Int>()
                let core = pair.connection.core
                core.loop.run { core.onClosed = { ends.add(1) } }
                let answer = pair.connection
                try await pair.peer.write(frame("before"))
                #expect(try await answer.next().map(String.init) == "before")
                try await ending.happen(to: pair, in: world)
                #expect(ending.isRight(pair.connection.closeReason), "\(ending): \(String(describing: pair.connection.closeReason))")
                try await expectEnded(pair.connection)
                #expect(ends.count == 1)
                #expect(ending.isRight(pair.connection.closeReason))
            }
        }
    }

    /// Everything answers at once.
    private func expectEnded(_ connection: Connection<LengthPrefixCodec>) async throws {
        for _ in 0..<2 {
            switch connection.closeReason {
            case nil: Issue.record("no reason")
            case .failed(let error):
                #expect(await expectError(error.code, error.phase) { try await connection.next() } == error)
                await expectError(error.code, error.phase) { try await connection.next(within: .seconds(1)) }
                await expectError(error.code, error.phase) { for try await _ in connection.messages {} }
                await expectError(error.code, error.phase) { for try await _ in connection.batches {} }
            default:
                #expect(try await connection.next() == nil)
                #expect(try await connection.next(within: .seconds(1)) == nil)
                for try await _ in connection.messages { Issue.record("a frame behind the end") }
                for try await _ in connection.batches { Issue.record("a frame behind the end") }
            }
            await expectError(.closed) { try await connection.send(Bytes("x")) }
            await expectError(.closed) { try await connection.send(Bytes("x"), within: .seconds(1)) }
            _ = try? await connection.flush()
            try await connection.finishSending()
            await connection.close()
            connection.closeNow()
            let info = await connection.info
            #expect(info.framesReceived == 1)
            #expect(info.bytesReceived >= 10)
            #expect(info.remote == .inMemory("peer"))
        }
    }

    @Test("C35: two sides that close at once, 200 times")
    func crossingCloses() async throws {
        for seed in 1...200 as ClosedRange<UInt64> {
            try await simulate(seed: seed, loops: 3) { world in
                let pair = try await world.pair(lengthPrefixed)
                try await pair.connection.send(Bytes("over there"))
                async let mine = pair.connection.close()
                async let theirs = pair.peer.close()
                #expect(await mine)
                #expect(await theirs)
                #expect(pair.connection.closeReason == .closedHere || pair.connection.closeReason == .closedByPeer)
                #expect(try await pair.connection.next() == nil)
                #expect(world.now == .zero, "seed \(seed)")
            }
        }
    }

    @Test("C39: after the peer has gone, sending fails soon and the reason stays")
    func sendingToNobody() async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed)
            async let closed = pair.peer.close(within: .seconds(1))
            #expect(try await pair.connection.next() == nil)
            #expect(await closed == false)
            await expectError(.closed) {
                for _ in 0..<10 {
                    try await pair.connection.send(Bytes("x"))
                    await world.settle()
                }
            }
            #expect(pair.connection.closeReason == .closedByPeer)
            await expectError(.closed) { try await pair.connection.flush() }
            #expect(await pair.connection.close() == false)
        }
    }

    @Test("frames sent by a peer before it broke off are delivered before the error")
    func framesBeforeReset() async throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            try await simulate(seed: seed) { world in
                let pair = try await world.pair(lengthPrefixed)
                try await pair.peer.write(frame("a"))
                try await pair.peer.flush()
                pair.peer.reset()
                // Some seeds find the reset by a write.
                _ = try? await pair.connection.send(Bytes("x"))
                #expect(try await pair.connection.next().map(String.init) == "a")
                await expectError(.reset) { try await pair.connection.next() }
                #expect(pair.connection.closeReason?.mayRetry == true)
            }
        }
    }
}
