import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Time limits of a connection")
struct LimitTests {
    @Test("idle: ends when nothing is heard for so long, counted from the last byte")
    func idle() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.idleLimit = .seconds(10)
            let pair = try await world.pair(.lines, options: options)
            for _ in 0..<5 {
                try await world.clock.sleep(for: .seconds(9))
                try await pair.peer.write(Bytes("x\n"))
                #expect(try await pair.connection.next() == "x")
            }
            // What this side sends is no sign of the peer's life.
            try await world.clock.sleep(for: .seconds(9))
            try await pair.connection.send("y")
            await expectError(.timedOut, .idle) { try await pair.connection.next() }
            #expect(world.now == .seconds(55))
        }
    }

    @Test("idle: doesn't count while reading is paused by a slow reader")
    func idlePaused() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(1024) {
                $0.idleLimit = .seconds(10)
                $0.inbox = Marks(high: 100)
            }
            let pair = try await world.pair(.raw, options: options, peer: .small { $0.writeLimit = nil })
            try await pair.peer.write(pattern(50_000))
            try await world.clock.sleep(for: .seconds(100))
            #expect(pair.connection.closeReason == nil)
            var count = 0
            while count < 50_000 { count += try await pair.connection.next()?.count ?? 100_000 }
            #expect(count == 50_000)
            await expectError(.timedOut, .idle) { try await pair.connection.next() }
            #expect(world.now == .seconds(110))
        }
    }

    @Test("first frame: a peer that is silent, or drips bytes, has so long")
    func firstFrame() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.firstFrameLimit = .seconds(3)
            let pair = try await world.pair(.lines, options: options)
            async let drips: Void = {
                for _ in 0..<100 {
                    try await pair.peer.write(Bytes("x"))
                    try await world.clock.sleep(for: .milliseconds(100))
                }
            }()
            await expectError(.timedOut, .firstFrame) { try await pair.connection.next() }
            #expect(world.now == .seconds(3))
            _ = try? await drips

            let good = try await world.pair(.lines, options: options)
            try await good.peer.write(Bytes("hello\n"))
            try await world.clock.sleep(for: .seconds(1000))
            #expect(good.connection.closeReason == nil)
            #expect(try await good.connection.next() == "hello")
        }
    }

    @Test("write: ends when the peer takes nothing for so long, and not while it takes a little")
    func write() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(1000) {
                $0.writeLimit = .seconds(10)
                $0.outbox = Marks(high: 100_000)
            }
            let pair = try await world.pair(.raw, options: options, peer: .slow)
            try await pair.connection.send(pattern(20_000))
            for _ in 0..<10 {
                try await world.clock.sleep(for: .seconds(9))
                #expect(try await pair.peer.read(exactly: 1000)?.count == 1000)
            }
            await world.settle()
            #expect(pair.connection.closeReason == nil)
            await expectError(.timedOut, .write) { try await pair.connection.next() }
            #expect(world.now == .seconds(100))
            await expectError(.closed) { try await pair.connection.send(pattern(1)) }
            await expectError(.reset) { try await pair.peer.readAll() }
        }
    }

    @Test("half-open: after the peer's end this side may send for so long")
    func halfOpen() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.halfOpenLimit = .seconds(10)
            let pair = try await world.pair(.raw, options: options)
            try await pair.peer.finishSending()
            #expect(try await pair.connection.next() == nil)
            async let received = pair.peer.readAll()
            for _ in 0..<3 {
                try await world.clock.sleep(for: .seconds(3))
                try await pair.connection.send(Bytes("x"))
            }
            try await world.clock.sleep(for: .milliseconds(999))
            try await pair.connection.send(Bytes("y"))
            try await world.clock.sleep(for: .milliseconds(2))
            await expectError(.closed) { try await pair.connection.send(Bytes("z")) }
            #expect(try await received == Array("xxxy".utf8))
            #expect(pair.connection.closeReason == .closedByPeer)
            #expect(world.loops.allSatisfy { $0.timerCount == 0 })
        }
    }

    @Test("half-open the other way: after finishSending the peer may send as long as it likes")
    func finishSending() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines, peer: .small { $0.halfOpenLimit = nil })
            try await pair.connection.send("last")
            try await pair.connection.finishSending()
            await expectError(.closed) { try await pair.connection.send("more") }
            try await pair.connection.flush()
            #expect(try await pair.peer.readAll() == Array("last\n".utf8))
            for number in 0..<10 {
                try await world.clock.sleep(for: .seconds(30))
                try await pair.peer.write(Bytes("\(number)\n"))
                #expect(try await pair.connection.next() == "\(number)")
            }
            try await pair.peer.finishSending()
            #expect(try await pair.connection.next() == nil)
            #expect(pair.connection.closeReason == .closedByPeer)
            #expect(await pair.connection.close())
        }
    }

    @Test("linger: a close in good order waits for the peer's end no longer than its limit; a second close can only shorten it")
    func linger() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)
            async let long = pair.connection.close(within: .seconds(100))
            try await world.clock.sleep(for: .seconds(1))
            #expect(pair.connection.closeReason == .closedHere)
            async let short = pair.connection.close(within: .seconds(5))
            async let longer = pair.connection.close(within: .seconds(500))
            #expect(await long == false)
            #expect(await short == false)
            #expect(await longer == false)
            #expect(world.now == .seconds(6))
        }
    }

    @Test("linger: after a violation the peer has so long to end, and what it sends is thrown away")
    func violationLinger() async throws {
        try await simulate { world in
            let ended = Log<Duration>()
            let pair = try await world.pair(lengthPrefixed, options: .small { $0.lingerLimit = .seconds(7) })
            let core = pair.connection.core
            core.loop.run { core.onClosed = { ended.add(world.now) } }
            try await pair.peer.write([0xFF, 0, 0, 0])
            await expectError(.frameTooLarge) { try await pair.connection.next() }
            for _ in 0..<50 { try await pair.peer.write(pattern(4000)) }
            try await world.clock.sleep(for: .seconds(100))
            #expect(ended.entries == [.seconds(7)])
        }
    }

    @Test("next(within:) ends at its limit, closes nothing and loses nothing")
    func nextWithin() async throws {
        for seed in 0..<50 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                let pair = try await world.pair(.lines)
                await expectError(.timedOut, .read) { try await pair.connection.next(within: .milliseconds(100)) }
                #expect(world.now == .milliseconds(100))
                #expect(pair.connection.closeReason == nil)
                async let writing: Void = {
                    for number in 0..<20 {
                        try await pair.peer.write(Bytes("\(number)\n"))
                        try await world.clock.sleep(for: .milliseconds(10))
                    }
                }()
                var lines: [String] = []
                while lines.count < 20 {
                    let called = world.now
                    do {
                        if let line = try await pair.connection.next(within: .milliseconds(10)) { lines.append(line) }
                    } catch let error as SocketError {
                        #expect(error.phase == .read)
                        #expect(world.now == called + .milliseconds(10), "seed \(seed)")  // Not by the limit of a call before.
                    }
                }
                try await writing
                #expect(lines == (0..<20).map { "\($0)" }, "seed \(seed)")
                #expect(world.loops.allSatisfy { $0.timerCount == 0 })
            }
        }
    }
}
