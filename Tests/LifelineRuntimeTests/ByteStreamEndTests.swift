import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Ends of a byte stream")
struct ByteStreamEndTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    @Test("C10: an end inside a read is told from one between reads, and the rest can still be read", arguments: seeds)
    func truncated(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write(Bytes("abc"))
            try await near.finishSending()
            await world.settle()
            let exact = await failure { try await far.read(exactly: 5) }
            #expect(exact?.code == .truncated)
            #expect(exact?.pending == PendingFrame(received: 3, expected: 5))
            #expect(await failure { try await far.read(until: Bytes("\n"), limit: 9) }?.code == .truncated)
            #expect(await failure { try await far.read(with: .lines) }?.code == .truncated)
            #expect(try await far.read(exactly: 2) == Bytes("ab"))
            #expect(try await far.read(atMost: 5) == Bytes("c"))
            #expect(try await far.read(exactly: 5) == nil)
            #expect(try await far.read(until: Bytes("\n"), limit: 9) == nil)
            #expect(try await far.read(with: .lines) == nil)
            #expect(far.closeReason == .closedByPeer)
        }
    }

    @Test("a read that waits when the end comes is told the same", arguments: seeds)
    func endWhileWaiting(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            for written in ["", "abc"] {
                let (near, far) = try await world.ends()
                async let read = far.read(exactly: 5)
                try await near.write(Bytes(written))
                await world.settle()
                try await near.finishSending()
                if written.isEmpty {
                    #expect(try await read == nil)
                } else {
                    do {
                        _ = try await read
                        Issue.record("a cut read looks whole")
                    } catch {
                        #expect((error as? SocketError)?.code == .truncated)
                    }
                }
            }
        }
    }

    @Test("half-close in both orders: the other direction goes on until its own end", arguments: seeds)
    func halfClose(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write(Bytes("question"))
            try await near.finishSending()
            #expect(await failure { try await near.write(Bytes("x")) }?.code == .closed)
            #expect(try await far.read(exactly: 8) == Bytes("question"))
            #expect(try await far.read(atMost: 1) == nil)
            try await world.advance(by: .seconds(59))
            try await far.write(Bytes("answer"))
            #expect(try await near.read(exactly: 6) == Bytes("answer"))
            try await far.finishSending()
            #expect(try await near.read(atMost: 1) == nil)
            #expect(near.closeReason == .closedByPeer)
            #expect(far.closeReason == .closedByPeer)
        }
    }

    @Test("what the peer sent before its end stays readable when both directions are over", arguments: seeds)
    func readableAfterBothEnds(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write(Bytes("late reader"))
            try await near.finishSending()
            try await far.finishSending()
            try await world.advance(by: .seconds(100))
            #expect(far.closeReason == .closedByPeer)
            #expect(try await far.read(exactly: 5) == Bytes("late "))
            #expect(try await far.read(exactly: 6) == Bytes("reader"))
            #expect(try await far.read(exactly: 6) == nil)
        }
    }

    @Test("what arrived before the limit for a half-open stream stays readable behind it", arguments: seeds)
    func readableAfterHalfOpenLimit(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write(Bytes("late"))
            try await near.finishSending()
            try await world.advance(by: .seconds(61))
            #expect(await failure { try await far.write(Bytes("x")) }?.code == .closed)
            #expect(try await far.read(exactly: 4) == Bytes("late"))
            #expect(try await far.read(exactly: 4) == nil)
        }
    }

    @Test("what arrived before a reset is readable, then the reset is thrown", arguments: seeds)
    func readableBeforeReset(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            try await near.write(Bytes("before"))
            try await near.flush()
            try await near.write(Bytes("lost"))
            near.closeNow()
            await world.settle()
            #expect(far.closeReason == .failed(SocketError(.reset, "")))
            #expect(try await far.read(exactly: 3) == Bytes("bef"))
            #expect(await failure { try await far.read(exactly: 4) }?.code == .reset)
            #expect(try await far.read(atMost: 9) == Bytes("ore"))
            #expect(await failure { try await far.read(atMost: 9) }?.code == .reset)
            #expect(await failure { try await far.write(Bytes("x")) }?.code == .closed)
        }
    }

    @Test("C30: what the peer sent before it closed is readable, however late the reader", arguments: seeds, [1_000, 100_000])
    func closedBySender(seed: UInt64, size: Int) async throws {
        try await simulate(seed: seed) { world in
            var options = ConnectionOptions()
            options.inbox = Marks(high: 5_000)
            let (near, far) = try await world.ends(far: options)
            try await near.write(block(size))
            async let isDone = near.close(within: .seconds(100))
            try await world.advance(by: .seconds(10))
            #expect(try await far.read(exactly: size)?.count == size)
            #expect(try await far.read(atMost: 1) == nil)
            await far.close()
            #expect(await isDone)
        }
    }

    @Test("closing here ends a read that waits, throws away what wasn't read, and can be repeated", arguments: seeds)
    func closedHere(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            for isGraceful in [true, false] {
                let (near, far) = try await world.ends()
                async let read = far.read(atMost: 1)
                await world.settle()
                if isGraceful { await far.close(within: .seconds(1)) } else { far.closeNow() }
                #expect(try await read == nil)
                #expect(far.closeReason == .closedHere)
                await far.close()
                far.closeNow()
                #expect(await failure { try await far.write(Bytes("x")) }?.code == .closed)
                #expect(try await near.read(atMost: 1) == nil)

                let (second, unread) = try await world.ends()
                try await second.write(Bytes("unread"))
                await world.settle()
                if isGraceful { await unread.close(within: .zero) } else { unread.closeNow() }
                await world.settle()
                #expect(try await unread.read(atMost: 9) == nil)
            }
        }
    }

    @Test("C32: what was written before a graceful close arrives, and then the end", arguments: seeds)
    func closeDelivers(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends(near: .pipes(of: 4096))
            async let isDone: Bool = {
                try await near.write(block(1 << 20))
                return await near.close()
            }()
            var count = 0
            while let bytes = try await far.read(atMost: 8192) {
                count += bytes.count
                try await world.advance(by: .milliseconds(5))
            }
            #expect(count == 1 << 20)
            await far.close()
            #expect(try await isDone)
        }
    }

    @Test("C42: when the last reference goes, what was written arrives, then the end; nothing leaks", arguments: seeds)
    func lastReference(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            var dropped: ByteStream? = near
            weak let core = near.core
            try await dropped?.write(Bytes("last words"))
            dropped = nil
            _ = consume near
            #expect(try await far.read(exactly: 10) == Bytes("last words"))
            #expect(try await far.read(atMost: 1) == nil)
            await world.settle()
            #expect(core == nil)
        }
    }

    @Test("dropping it with more than the kernel takes tells the peer of the loss", arguments: seeds)
    func lastReferenceWithLoss(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let far = try await {
                let (near, far) = try await world.ends(near: .pipes(of: 100))
                try await near.write(block(1_000))
                return far
            }()
            await world.settle()
            #expect(try await far.read(exactly: 100)?.count == 100)
            #expect(await failure { while try await far.read(atMost: 1_000) != nil {} }?.code == .reset)
        }
    }
}
