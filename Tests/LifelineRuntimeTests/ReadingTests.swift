import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Reading frames")
struct ReadingTests {
    @Test("C45: a cancelled reader ends at once, and the connection is usable by the next", arguments: 1...20)
    func cancelledReader(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let pair = try await world.pair(lengthPrefixed)
            await withTaskGroup { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await pair.connection.next() }
                    #expect(world.now == .milliseconds(100))
                }
                try? await world.clock.sleep(for: .milliseconds(100))
                group.cancelAll()
            }
            try await pair.connection.send(Bytes("y"))
            #expect(try await pair.peer.read(exactly: 5) == frame("y"))
            try await pair.peer.write(frame("x"))
            #expect(try await pair.connection.next().map(String.init) == "x")
            #expect(pair.connection.closeReason == nil)
        }
    }

    @Test("cancelled readers lose no frame, whoever wins the race")
    func cancelledReadersLoseNothing() async throws {
        for seed in 0..<200 as Range<UInt64> {
            try await simulate(seed: seed, loops: 3) { world in
                let pair = try await world.pair(.lines)
                let got = Log<String>()
                async let writing: Void = {
                    for number in 0..<30 {
                        try await pair.peer.write(Bytes("\(number)\n"))
                        if number % 3 == 0 { try await world.clock.sleep(for: .milliseconds(1)) }
                    }
                }()
                let isTimed = seed % 2 == 0
                while got.count < 30 {
                    await withTaskGroup { group in
                        group.addTask(executorPreference: world.loops[Int(seed % 3)].tasks) {
                            let line = isTimed ? try? await pair.connection.next(within: .seconds(9)) : try? await pair.connection.next()
                            if let line { got.add(line) }
                        }
                        if got.count % 2 == 0 {
                            try? await world.clock.sleep(for: .milliseconds(1))
                        } else {
                            for _ in 0..<(seed % 7) { await Task.yield() }
                        }
                        group.cancelAll()
                    }
                }
                try await writing
                #expect(got.entries == (0..<30).map { "\($0)" }, "seed \(seed)")
            }
        }
    }

    @Test("C56: a reader that stops pauses the peer, and a later loop goes on where it stopped")
    func stoppedReader() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(4096) { $0.inbox = Marks(high: 10_000) }
            let peerOptions = ConnectionOptions.small {
                $0.outbox = Marks(high: 1000)
                $0.writeLimit = nil
            }
            let pair = try await world.pair(.lines, options: options, peer: peerOptions)
            let written = Log<Int>()
            async let writing: Void = {
                for number in 0..<5000 {
                    try await pair.peer.write(Bytes("line number \(number)\n"))
                    written.add(number)
                }
            }()
            var number = 0
            for try await line in pair.connection.messages {
                #expect(line == "line number \(number)")
                number += 1
                if number == 2 { break }
            }
            try await world.clock.sleep(for: .seconds(3600))
            let count = written.count
            #expect(count < 2000)
            #expect(await pair.connection.info.bytesReceived < 20_000)
            for try await line in pair.connection.messages {
                #expect(line == "line number \(number)")
                number += 1
                if number == 1000 { break }
            }
            while number < 5000, let line = try await pair.connection.next() {
                #expect(line == "line number \(number)")
                number += 1
            }
            try await writing
            #expect(number == 5000)
        }
    }

    @Test("C57: of two readers at a time one is refused, and no frame is lost or doubled")
    func twoReaders() async throws {
        for seed in 0..<50 as Range<UInt64> {
            try await simulate(seed: seed, loops: 3) { world in
                let pair = try await world.pair(.lines)
                let got = Log<Int>()
                let refused = Log<Int>()
                try await withThrowingTaskGroup { group in
                    for reader in 0..<2 {
                        group.addTask(executorPreference: world.loops[reader].tasks) {
                            var last = -1
                            do {
                                for try await line in pair.connection.messages {
                                    let number = Int(line) ?? -1
                                    #expect(number > last)
                                    last = number
                                    got.add(number)
                                }
                            } catch {
                                #expect((error as? SocketError)?.code == .misuse)
                                refused.add(reader)
                            }
                        }
                    }
                    await world.settle()
                    for number in 0..<1000 { try? await pair.peer.write(Bytes("\(number)\n")) }
                    try await pair.peer.finishSending()
                }
                #expect(refused.count == 1)
                #expect(got.entries == Array(0..<1000))
            }
        }
    }

    @Test("readers one after the other, on any loop, are a hand-over")
    func handOver() async throws {
        for seed in 0..<50 as Range<UInt64> {
            try await simulate(seed: seed, loops: 3) { world in
                let pair = try await world.pair(.lines)
                async let writing: Void = {
                    for number in 0..<100 {
                        try await pair.peer.write(Bytes("\(number)\n"))
                        if number % 7 == 0 { try await world.clock.sleep(for: .milliseconds(1)) }
                    }
                }()
                for number in 0..<100 {
                    async let line = withTaskExecutorPreference(world.loops[number % 3].tasks) { try await pair.connection.next() }
                    #expect(try await line == "\(number)")
                }
                try await writing
            }
        }
    }

    @Test("batches hold all that is there, at least one frame, in order")
    func batches() async throws {
        try await simulate { world in
            let pair = try await world.pair(.lines)
            try await pair.peer.write(Bytes("a\nb\nc\n"))
            await world.settle()
            var batches: [[String]] = []
            for try await batch in pair.connection.batches {
                batches.append(batch)
                if batches.count == 3 { break }
                try await pair.peer.write(Bytes("\(batches.count)\nx\n"))
                if batches.count == 1 { await world.settle() }
            }
            #expect(batches.allSatisfy { !$0.isEmpty })
            try await pair.peer.write(Bytes("end\n"))
            try await pair.peer.finishSending()
            for try await batch in pair.connection.batches { batches.append(batch) }
            #expect(batches.first == ["a", "b", "c"])
            #expect(batches.flatMap { $0 } == ["a", "b", "c", "1", "x", "2", "x", "end"])
        }
    }

    @Test("a cancelled iteration ends without a loss; a fresh stream goes on")
    func cancelledIteration() async throws {
        for seed in 0..<50 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                let pair = try await world.pair(.lines)
                let got = Log<String>()
                async let writing: Void = {
                    for number in 0..<50 {
                        try await pair.peer.write(Bytes("\(number)\n"))
                        await Task.yield()
                    }
                    try await pair.peer.finishSending()
                }()
                await withTaskGroup { group in
                    group.addTask {
                        do {
                            for try await line in pair.connection.messages { got.add(line) }
                        } catch {
                            #expect(error is CancellationError)
                        }
                    }
                    for _ in 0..<(10 + seed) { await Task.yield() }
                    group.cancelAll()
                }
                for try await line in pair.connection.messages { got.add(line) }
                try await writing
                #expect(got.entries == (0..<50).map { "\($0)" }, "seed \(seed)")
                #expect(pair.connection.closeReason == .closedByPeer)
            }
        }
    }
}
