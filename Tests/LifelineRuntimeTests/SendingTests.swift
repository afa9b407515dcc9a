import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Sending")
struct SendingTests {
    @Test("C44: short writes lose and repeat nothing", arguments: [10_000_000, 1000])
    func shortWrites(size: Int) async throws {
        try await simulate(seed: 44) { world in
            let pair = try await world.pair(.raw, options: .small(4096), peer: .slow)
            let whole = pattern(10_000_000)
            async let sending: Void = {
                for place in stride(from: 0, to: 10_000_000, by: size) {
                    try await pair.connection.send(whole.slice(place..<place + size))
                }
                try await pair.connection.finishSending()
            }()
            var random = world.random
            var place = 0
            while let some = try await pair.peer.read(atMost: Int.random(in: 1...20_000, using: &random)) {
                #expect(some == whole.slice(place..<place + some.count))
                place += some.count
            }
            #expect(place == 10_000_000)
            try await sending
        }
    }

    @Test("C51: frames of concurrent senders are never mixed, and each sender's stay in order", arguments: 1...3)
    func concurrentSenders(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let pair = try await world.pair(.raw, options: .small(16_384))
            let blocks = (0..<250).map { pattern(65_536, from: $0) }  // Task by task, ten each.
            try await withThrowingTaskGroup { group in
                for task in 0..<25 {
                    group.addTask(executorPreference: world.loops[task % 3].tasks) {
                        for count in 0..<10 { try await pair.connection.send(blocks[10 * task + count]) }
                    }
                }
                var next = [Int](repeating: 0, count: 25)
                for _ in 0..<250 {
                    let block = try await pair.peer.read(exactly: 65_536)
                    let task = next.indices.first { next[$0] < 10 && block == blocks[10 * $0 + next[$0]] }
                    next[try #require(task, "a frame that nobody sent, or out of order")] += 1
                }
                #expect(next.allSatisfy { $0 == 10 })
                try await group.waitForAll()
            }
        }
    }

    @Test("C126: senders wait at the mark, in the order in which they came, and go on when the peer reads", arguments: 1...3)
    func slowPeer(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let size = 262_144
            let pair = try await world.pair(lengthPrefixed, options: .small(65_536), peer: .slow)
            let order = Log<Int>()
            try await withThrowingTaskGroup { group in
                for task in 0..<100 {
                    group.addTask {
                        order.add(task)
                        try await pair.connection.send(pattern(size, from: task))
                    }
                }
                try await world.clock.sleep(for: .seconds(30))
                #expect(order.count == 100)
                #expect(pair.connection.core.outbox.waitingBytes <= 2 * (size + 4))
                for task in order.entries {
                    let header = try await pair.peer.read(exactly: 4)
                    #expect(header == [0, 4, 0, 0])
                    #expect(try await pair.peer.read(exactly: size)?.first == UInt8(task))
                }
                try await group.waitForAll()
            }
            #expect(pair.connection.core.outbox.waitingBytes == 0)
        }
    }

    @Test("C126: senders that wait throw when the connection ends, each way", arguments: [Ending.ownClose, .ownCloseNow, .peerReset])
    func endWhileWaiting(ending: Ending) async throws {
        try await simulate { world in
            let pair = try await world.pair(lengthPrefixed, options: .small { $0.outbox = Marks(high: 1000) }, peer: .slow)
            try await pair.connection.send(pattern(100_000))
            await withTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { _ = await expectError(.closed) { try await pair.connection.send(pattern(1000)) } }
                }
                await world.settle()
                try? await ending.happen(to: pair, in: world)
            }
            #expect(await pair.connection.info.framesSent == 1)
        }
    }

    @Test("a newcomer never overtakes one that waits")
    func firstComeFirstServed() async throws {
        for seed in 0..<50 as Range<UInt64> {
            try await simulate(seed: seed, loops: 3) { world in
                let options = ConnectionOptions.small(256) { $0.outbox = Marks(high: 500) }
                let pair = try await world.pair(.lines, options: options)
                let order = Log<String>()
                try await withThrowingTaskGroup { group in
                    for task in 0..<10 {
                        // On the connection's loop, so that the order of the calls is known.
                        group.addTask(executorPreference: pair.connection.core.loop.tasks) {
                            for number in 0..<20 {
                                let line = "\(task).\(number) " + String(repeating: "x", count: task * 10)
                                order.add(line)
                                try await pair.connection.send(line)
                            }
                        }
                    }
                    for try await _ in group {}
                }
                async let closed = pair.connection.close()
                let text = String(try await Bytes(pair.peer.readAll()))
                await pair.peer.close()
                _ = await closed
                #expect(text == order.entries.map { $0 + "\n" }.joined(), "seed \(seed)")
            }
        }
    }

    @Test("a cancelled or expired send has encoded nothing, and leaves its place")
    func givenUp() async throws {
        for seed in 0..<50 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                let pair = try await world.pair(Numbering(), options: .small(64) { $0.outbox = Marks(high: 100) }, peer: .slow)
                try await pair.connection.send(String(repeating: "x", count: 500))
                await withTaskGroup { group in
                    for _ in 0..<5 {
                        group.addTask {
                            await #expect(throws: CancellationError.self) { try await pair.connection.send("cancelled") }
                            #expect(world.now == .seconds(2))
                        }
                        group.addTask {
                            await expectError(.timedOut, .write) { try await pair.connection.send("late", within: .seconds(2)) }
                            #expect(world.now == .seconds(2))
                        }
                    }
                    try? await world.clock.sleep(for: .seconds(2))
                    await world.settle()
                    group.cancelAll()
                }
                #expect(pair.connection.core.outbox.waitingSenders == 0)
                async let last: Void = pair.connection.send("last")
                await world.settle()
                async let all = pair.peer.readAll()
                try await last
                try await pair.connection.finishSending()
                #expect(try await all == Array(("1" + String(repeating: "x", count: 500) + "2last").utf8))
            }
        }
    }

    @Test("a frame larger than the mark passes alone")
    func largeFrame() async throws {
        try await simulate { world in
            let pair = try await world.pair(.raw, options: .small { $0.outbox = Marks(high: 10) }, peer: .slow)
            try await pair.connection.send(pattern(100_000))
            await expectError(.timedOut, .write) { try await pair.connection.send(pattern(100_000), within: .seconds(1)) }
            #expect(try await pair.peer.read(exactly: 100_000) == pattern(100_000))
            try await pair.connection.send(pattern(100_000), within: .seconds(1))
            #expect(try await pair.peer.read(exactly: 100_000) == pattern(100_000))
        }
    }

    @Test("C140: flush returns when the kernel has all that was accepted before, or says why not")
    func flush() async throws {
        try await simulate { world in
            let pair = try await world.pair(.raw, options: .small(1000), peer: .slow)
            try await pair.connection.flush()
            try await pair.connection.send(pattern(500))
            try await pair.connection.flush()
            try await pair.connection.send(pattern(5000))
            #expect(await pair.connection.info.bytesSent < 5500)
            await expectError(.timedOut, .write) { try await pair.connection.flush(within: .seconds(1)) }
            #expect(world.now == .seconds(1))
            let flushed = Log<Duration>()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await pair.connection.flush()
                    flushed.add(world.now)
                }
                await world.settle()
                try await pair.connection.send(pattern(100_000))  // Behind the flush: not its business.
                try await world.clock.sleep(for: .seconds(1))
                #expect(flushed.count == 0)
                #expect(try await pair.peer.read(exactly: 5500)?.count == 5500)
                try await group.waitForAll()
            }
            await withTaskGroup { group in
                group.addTask { _ = await expectError(.closed) { try await pair.connection.flush() } }
                group.addTask { _ = await expectError(.closed) { try await pair.connection.flush(within: .seconds(100)) } }
                await world.settle()
                pair.connection.closeNow()
            }
            await expectError(.closed) { try await pair.connection.flush() }
            await expectError(.reset) { try await pair.peer.readAll() }
        }
    }

    @Test("C140: an accepted send promises nothing about the peer; a close that waits does")
    func acceptedIsNotReceived() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)
            try await pair.connection.send("accepted")
            pair.peer.reset()
            #expect(await pair.connection.close() == false)

            let other = try await world.pair(.lines)
            try await other.connection.send("accepted")
            async let closed = other.connection.close()
            #expect(try await other.peer.readAll() == Array("accepted\n".utf8))
            await other.peer.close()
            #expect(await closed)
        }
    }

    @Test("what portions were written from is there for the next ones, from any connection; a quiet connection keeps nothing of it")
    func usedAgain() async throws {
        try await simulate(seed: 7) { world in
            let pairs = [try await world.pair(.raw), try await world.pair(.raw, name: "other")]
            let blocks = pairs[0].connection.core.loop.blocks
            func portion(_ pair: Pair<RawCodec>, _ number: Int) async throws {
                for part in 0..<10 { try await pair.connection.send(pattern(1000, from: number + part)) }
            }
            func arrived(_ pair: Pair<RawCodec>, _ number: Int) async throws {
                for part in 0..<10 { #expect(try await pair.peer.read(exactly: 1000) == pattern(1000, from: number + part)) }
            }
            // The first portion's size was unknown; what it has grown to is kept.
            try await portion(pairs[0], 0)
            #expect(blocks.keptBytes == 0)
            try await arrived(pairs[0], 0)
            let kept = blocks.keptBytes
            #expect((10_000..<20_000).contains(kept))
            for number in 1...20 {
                try await portion(pairs[0], number)
                #expect(blocks.keptBytes == 0)
                try await arrived(pairs[0], number)
                #expect(blocks.keptBytes == kept)
            }
            try await portion(pairs[1], 0)
            try await arrived(pairs[1], 0)
            let both = blocks.keptBytes
            #expect(both > kept)
            try await portion(pairs[1], 1)
            #expect(blocks.keptBytes < both)
            try await arrived(pairs[1], 1)
            #expect(blocks.keptBytes == both)
        }
    }

    @Test("senders that had to wait use the same blocks again, too")
    func usedAgainByAdmitted() async throws {
        try await simulate(seed: 9) { world in
            let pair = try await world.pair(.raw, options: .small(6000) { $0.outbox = Marks(high: 6000) }, peer: .slow)
            async let sending: Void = {
                for number in 0..<500 { try await pair.connection.send(pattern(1000, from: number)) }
            }()
            for number in 0..<500 { #expect(try await pair.peer.read(exactly: 1000) == pattern(1000, from: number)) }
            try await sending
            #expect((4096..<40_000).contains(pair.connection.core.loop.blocks.keptBytes))
        }
    }

    @Test("a frame that can't be encoded leaves nothing in the block that was fetched for it")
    func refusedFirst() async throws {
        try await simulate(seed: 8) { world in
            let pair = try await world.pair(.lines)
            let line = String(repeating: "x", count: 999)
            for round in 0..<3 {
                #expect(await failure { try await pair.connection.send("a\nb") }?.code == .unencodable)
                for _ in 0..<10 { try await pair.connection.send(line) }
                for _ in 0..<10 { #expect(try await pair.peer.read(with: .lines) == line, "round \(round)") }
            }
        }
    }

    @Test("frames sent in one turn leave in one write")
    func oneWrite() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)
            let connection = pair.connection
            try await withTaskExecutorPreference(connection.core.loop.tasks) {
                for number in 0..<100 { try await connection.send("\(number)") }
            }
            #expect(try await pair.peer.read(atMost: 100_000)?.count == 290)
        }
    }
}
