import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Time limits and back-pressure of a byte stream")
struct ByteStreamLimitTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    @Test("a read ends at its limit, to the nanosecond, and the stream goes on with every byte", arguments: seeds)
    func readLimit(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write(Bytes("abc"))
            let error = await failure { try await far.read(exactly: 5, within: .milliseconds(250)) }
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .read)
            #expect(error?.message.contains("3 of 5 bytes") == true)
            #expect(world.now == .milliseconds(250))
            #expect(await failure { try await far.read(until: Bytes("!"), limit: 9, within: .seconds(1)) }?.phase == .read)
            #expect(await failure { try await far.read(with: .lines, within: .zero) }?.phase == .read)
            #expect(try await far.read(atMost: 9, within: .zero) == Bytes("abc"))
            #expect(await failure { try await far.read(atMost: 9, within: .nanoseconds(1)) }?.phase == .read)
            #expect(world.now == .milliseconds(1_250) + .nanoseconds(1))
            #expect(far.closeReason == nil)
            try await near.write(Bytes("d"))
            #expect(try await far.read(atMost: 1, within: .seconds(1)) == Bytes("d"))
            // No timer of a read that is over is left.
            try await world.advance(by: .seconds(10))
            #expect(far.closeReason == nil)
        }
    }

    @Test("at the limit the extension is asked, with the time and the bytes so far", arguments: seeds)
    func extending(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await world.advance(by: .seconds(7))
            let asked = Notes<String>()
            let extending: ReadExtension = { elapsed, received in
                asked.add("\(elapsed) \(received)")
                return received >= 4 ? nil : .milliseconds(300)
            }
            async let error = failure { try await far.read(exactly: 10, within: .seconds(1), extending: extending) }
            try await world.advance(by: .milliseconds(500))
            try await near.write(Bytes("ab"))
            try await world.advance(by: .milliseconds(700))
            try await near.write(Bytes("cd"))
            #expect(await error?.phase == .read)
            #expect(world.now == .milliseconds(8_300))
            #expect(asked.all == ["1.0 seconds 2", "1.3 seconds 4"])
            #expect(try await far.read(exactly: 4) == Bytes("abcd"))

            // More time that is none ends it, too; a read in time isn't asked about.
            #expect(await failure { try await far.read(exactly: 1, within: .seconds(1), extending: { _, _ in .zero }) }?.phase == .read)
            async let line = far.read(with: .lines, within: .seconds(1), extending: { _, _ in .seconds(1) })
            try await world.advance(by: .milliseconds(2_500))
            try await near.write(Bytes("x\n"))
            #expect(try await line == "x")
            #expect(world.now == .milliseconds(11_800))
        }
    }

    @Test("the progress of a read is told while it waits", arguments: seeds)
    func progress(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            #expect(await far.readProgress == nil)
            async let read = far.read(exactly: 1_000)
            await world.settle()
            #expect(await far.readProgress == PendingFrame(received: 0))
            for size in [100, 250, 400] {
                try await near.write(block(size))
                await world.settle()
            }
            #expect(await far.readProgress == PendingFrame(received: 750, expected: 1_000))
            try await near.write(block(250))
            #expect(try await read?.count == 1_000)
            #expect(await far.readProgress == nil)
        }
    }

    @Test("without a reader, reading stops at the high mark, and goes on below the low one", arguments: seeds)
    func pausedReading(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            var options = ConnectionOptions()
            options.inbox = Marks(high: 1000, low: 500)
            var near = ConnectionOptions.pipes(of: 200)
            near.outbox = Marks(high: 300)
            let streams = try await world.ends(near: near, far: options)
            let total = 100_000
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for _ in 0..<total / 100 { try await streams.near.write(block(100)) }
                }
                try await world.advance(by: .seconds(1))
                #expect(await streams.far.bytesBuffered >= 1000)
                #expect(await streams.far.bytesBuffered <= 1200)
                #expect(streams.near.bytesWaiting <= 400)
                let sent = await streams.near.info.bytesSent
                #expect(sent <= 1400)
                #expect(try await streams.far.read(atMost: 400)?.count == 400)
                try await world.advance(by: .seconds(1))
                #expect(await streams.near.info.bytesSent == sent)
                #expect(try await streams.far.read(atMost: 400)?.count == 400)
                await world.settle()
                #expect(await streams.near.info.bytesSent > sent)
                // A read of more than the mark gets it all the same.
                #expect(try await streams.far.read(exactly: 20_000)?.count == 20_000)
                var left = total - 20_800
                while left > 0 {
                    let bytes = try #require(try await streams.far.read(atMost: 777))
                    left -= bytes.count
                    #expect(await streams.far.bytesBuffered <= 1_200)
                }
                #expect(left == 0)
                try await group.waitForAll()
            }
        }
    }

    @Test("a write to a peer that never reads waits, ends at its limit, and has written nothing then", arguments: seeds)
    func writeLimit(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            var deaf = ConnectionOptions()
            deaf.inbox = Marks(high: 1)
            var options = ConnectionOptions.pipes(of: 100)
            options.outbox = Marks(high: 1000, low: 500)
            let (near, far) = try await world.ends(near: options, far: deaf)
            try await near.write(block(5_000, of: 1))
            let error = await failure { try await near.write(block(10, of: 2), within: .seconds(2)) }
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .write)
            #expect(world.now == .seconds(2))
            #expect(await failure { try await near.flush(within: .seconds(1)) }?.phase == .write)
            #expect(world.now == .seconds(3))
            async let third: Void = near.write(block(10, of: 3), within: .seconds(2))
            #expect(try await far.read(exactly: 5_000) == block(5_000, of: 1))
            try await third
            #expect(try await far.read(exactly: 10) == block(10, of: 3))
            try await near.flush()
            #expect(near.bytesWaiting == 0)
            #expect(world.now == .seconds(3))
        }
    }

    @Test("C126: many writers to a peer that reads nothing are bounded, and go on in their order", arguments: seeds)
    func manyWriters(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            var deaf = ConnectionOptions()
            deaf.inbox = Marks(high: 1)
            let (near, far) = try await world.ends(near: .pipes(of: 64 * 1024), far: deaf)
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask { try await near.write(block(100_000, of: UInt8(number))) }
                    await world.settle()
                }
                #expect(near.bytesWaiting <= 256 * 1024 + 100_000)
                for number in 0..<100 {
                    let bytes = try await far.read(exactly: 100_000)
                    #expect(bytes == block(100_000, of: UInt8(number)))
                }
                try await group.waitForAll()
            }
        }
    }
}
