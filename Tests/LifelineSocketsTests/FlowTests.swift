import Glibc
import LifelineCore
import LifelineSockets
import LifelineTesting
import Testing

@testable import LifelineRuntime

/// Bytes in quantity, slow peers and several tasks, through the kernel.
@Suite(.serialized) struct FlowTests {
    private static let total = 10_000_000

    @Test(arguments: Way.allCases, [1, 10_000])
    func C44_shortWritesLoseAndRepeatNothing(way: Way, frames: Int) async throws {
        try await bounded {
            let link = try await link(framed, way, options: .small(), peer: .small(16_384))
            let (connection, peer) = (link.connection, link.peer)
            let all = counted(Self.total)
            let size = Self.total / frames
            async let sending: Void = {
                for number in 0..<frames { try await connection.send(all.slice((number * size)..<((number + 1) * size))) }
                try await connection.finishSending()
            }()
            // As the codec writes them.
            var expected = ByteOutput()
            for number in 0..<frames {
                try framed.encode(all.slice((number * size)..<((number + 1) * size)), into: &expected)
            }
            let wire = expected.finish()
            var dice = SeededGenerator(seed: 44)
            var received = 0
            while let some = try await peer.read(atMost: Int.random(in: 1...70_000, using: &dice)) {
                guard received + some.count <= wire.count, some == wire.slice(received..<(received + some.count)) else {
                    Issue.record("other bytes at \(received)")
                    break
                }
                received += some.count
            }
            try await sending
            #expect(received == wire.count)
            let turns = try #require(connection.core.loop as? PollingEventLoop).turnCount
            #expect(turns < 2_000_000)
            await peer.close()
            await connection.close()
        }
    }

    @Test(arguments: Way.allCases)
    func C45_aCancelledReaderLeavesTheConnectionUsable(way: Way) async throws {
        try await bounded {
            let link = try await link(framed, way)
            let connection = link.connection
            for _ in 0..<50 {
                let reader = Task { try await connection.next() }
                for _ in 0..<3 { await Task.yield() }
                reader.cancel()
                await #expect(throws: CancellationError.self) { try await reader.value }
                try await connection.send(Bytes("y"))
                #expect(try await link.peer.read(with: framed).map(String.init) == "y")
                async let next = connection.next()
                try await link.peer.write(frame("x"))
                #expect(try await next.map(String.init) == "x")
            }
            await link.peer.close(within: .zero)
            await connection.close(within: .zero)
        }
    }

    @Test(arguments: Way.allCases)
    func C51_framesOfManySendersAreWholeAndInOrder(way: Way) async throws {
        let (tasks, frames, size) = (50, 20, 16_384)
        try await bounded {
            let near = ConnectionOptions.small(16_384) { $0.outbox = Marks(high: 65_536) }
            let (ours, theirs) = try await streams(way, options: near, peer: .small(65_536))
            let connection = try await ours.framed(with: framed)
            let receiver = try await theirs.framed(with: framed)
            try await withThrowingTaskGroup { group in
                for task in 0..<tasks {
                    group.addTask {
                        for number in 0..<frames {
                            let filling = [UInt8](repeating: UInt8(task), count: size)
                            try await connection.send(Bytes([UInt8(task), UInt8(number)] + filling))
                        }
                    }
                }
                var next = [Int](repeating: 0, count: tasks)
                let fillings = (0..<tasks).map { Bytes([UInt8](repeating: UInt8($0), count: size)) }
                for _ in 0..<(tasks * frames) {
                    let frame = try #require(try await receiver.next())
                    let task = Int(frame[0])
                    #expect(Int(frame[1]) == next[task])
                    next[task] += 1
                    expectSame(frame.slice(2..<frame.count), fillings[task])
                }
                try await group.waitForAll()
            }
            async let closed = receiver.close()
            await connection.close()
            _ = await closed
        }
    }

    /// Small enough to be copied, and large enough together for blocks that are used again: by any connection of a loop.
    @Test(arguments: Way.allCases)
    func framesOfManyConnectionsAreWholeWhateverBlocksTheyShare(way: Way) async throws {
        let (tasks, frames) = (4, 60)
        try await bounded {
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    let options = ConnectionOptions.small(8192) { $0.outbox = Marks(high: 40_000) }
                    let (near, far) = try await streams(way, options: options)
                    let (connection, receiver) = (try await near.framed(with: framed), try await far.framed(with: framed))
                    for task in 0..<tasks {
                        group.addTask {
                            for frame in 0..<frames {
                                let filling = [UInt8](repeating: UInt8(64 * (number % 4) + task + frame), count: 1000 + 80 * frame)
                                try await connection.send(Bytes([UInt8(task), UInt8(frame)] + filling))
                            }
                        }
                    }
                    group.addTask {
                        var next = [Int](repeating: 0, count: tasks)
                        for _ in 0..<(tasks * frames) {
                            let frame = try #require(try await receiver.next())
                            let (task, place) = (Int(frame[0]), Int(frame[1]))
                            #expect(place == next[task])
                            next[task] += 1
                            let filling = [UInt8](repeating: UInt8(64 * (number % 4) + task + place), count: 1000 + 80 * place)
                            expectSame(frame.slice(2..<frame.count), Bytes(filling))
                        }
                        async let closed = receiver.close()
                        await connection.close()
                        _ = await closed
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: Way.allCases)
    func C57_twoLoopsOverTheSameFramesShareThem(way: Way) async throws {
        try await bounded {
            let link = try await link(framed, way)
            let connection = link.connection
            let got = Mailbox<Int>()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number in 0..<1000 { try await link.peer.write(frame("\(number)")) }
                    try await link.peer.finishSending()
                }
                for _ in 0..<2 {
                    group.addTask {
                        var last = -1
                        while true {
                            do {
                                for try await frame in connection.messages {
                                    let number = try #require(Int(String(frame)))
                                    #expect(number > last)
                                    last = number
                                    got.put(number)
                                }
                                return
                            } catch let error as SocketError {
                                // Refused, for the other one waits.
                                #expect(error.code == .misuse)
                                try Task.checkCancellation()
                                await Task.yield()
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(got.all.sorted() == Array(0..<1000))
            await connection.close()
            await link.peer.close()
        }
    }

    @Test(arguments: Way.allCases)
    func C126_sendsToAPeerThatDoesNotReadWaitAndThenArriveInOrder(way: Way) async throws {
        try await bounded {
            let size = 1_000_000
            let link = try await link(framed, way, options: .small(), peer: .deaf)
            let connection = link.connection
            let outbox = connection.core.outbox
            try await withThrowingTaskGroup { group in
                // One after the other into the queue, so that their order is known.
                for number in 0..<100 {
                    group.addTask { try await connection.send(Bytes([UInt8](repeating: UInt8(number), count: size))) }
                    try await eventually { outbox.waitingSenders == number && outbox.waitingBytes > 0 }
                    #expect(outbox.waitingBytes <= size + 4)
                }
                for number in 0..<100 {
                    let frame = try #require(try await link.peer.read(with: framed))
                    #expect(frame.count == size && frame[0] == UInt8(number) && frame[size - 1] == UInt8(number))
                    #expect(outbox.waitingBytes <= size + 4 + connection.core.options.outbox.high)
                }
                try await group.waitForAll()
            }
            await link.peer.close(within: .zero)
            await connection.close()
        }
    }

    @Test(arguments: Way.allCases)
    func C126_sendsThatWaitThrowWhenTheConnectionEnds(way: Way) async throws {
        try await bounded {
            let link = try await link(framed, way, options: .small(), peer: .deaf)
            let connection = link.connection
            await withTaskGroup { group in
                let frame = counted(1_000_000)
                for _ in 0..<100 { group.addTask { (try? await connection.send(frame)) == nil } }
                try? await eventually { connection.core.outbox.waitingSenders == 99 }
                link.peer.reset()
                var failures = 0
                for await hasFailed in group where hasFailed { failures += 1 }
                #expect(failures == 99)
            }
            #expect(connection.closeReason != nil)
            await connection.close()
        }
    }

    @Test(arguments: Way.allCases)
    func C11_aLengthOfTwoGibibytesIsRefusedAtOnce(way: Way) async throws {
        for length in [Bytes([0x7F, 0xFF, 0xFF, 0xFF]), [0x80, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]] {
            try await bounded {
                let link = try await link(framed, way)
                try await link.peer.write(length)
                // No byte of a body comes, and the peer's side stays open.
                await expectError(.frameTooLarge) { try await link.connection.next() }
                #expect(try await link.peer.read(atMost: 1) == nil)
                await link.peer.close()
                await link.connection.close()
            }
        }
    }

    @Test func C58_stateThatIsReadWhileAServerIsKilled() async throws {
        var dice = SeededGenerator(seed: 58)
        for round in 0..<500 {
            let kill = Int.random(in: 0..<40, using: &dice)
            let isReset = Bool.random(using: &dice)
            let closer = Int.random(in: 0..<16, using: &dice)
            try await bounded {
                let link = try await link(.lines, round % 2 == 0 ? .tcp : .unix)
                let (connection, peer) = (link.connection, link.peer)
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        for _ in 0..<kill { await Task.yield() }
                        if isReset { peer.reset() } else { peer.closeNow() }
                    }
                    for task in 0..<8 {
                        group.addTask {
                            var seen: CloseReason?
                            for step in 0..<20 {
                                if (try? await connection.send("\(task): \(step)")) == nil { break }
                                let reason = connection.closeReason
                                if let seen { #expect(reason == seen) }
                                seen = reason
                                _ = await connection.info
                                if task == 0 { _ = try? await connection.next(within: .milliseconds(1)) }
                                if task == closer, step == closer { connection.closeNow() }
                                if task + 8 == closer, step == closer { await connection.close() }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                _ = try? await connection.next()
                #expect(connection.closeReason != nil)
                await connection.close()
                await peer.close()
            }
        }
    }
}
