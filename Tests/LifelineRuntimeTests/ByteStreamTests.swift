import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Byte streams")
struct ByteStreamTests {
    @Test("exact reads, reads up to a delimiter and portions, over cuts at any place")
    func kindsOfReads() async throws {
        for seed in 0..<50 as Range<UInt64> {
            try await simulate(seed: seed) { world in
                let (stream, peer) = try await world.streams()
                let script = Bytes("len3\r\nABCdone\r\nrest")
                async let writing: Void = {
                    var random = world.random
                    var place = 0
                    while place < script.count {
                        let count = min(script.count - place, Int.random(in: 1...4, using: &random))
                        try await peer.write(script.slice(place..<place + count))
                        place += count
                        if Bool.random(using: &random) { try await world.clock.sleep(for: .milliseconds(20)) }
                    }
                    await peer.finishSending()
                }()
                #expect(try await stream.read(until: Bytes("\r\n"), limit: 100) == Bytes("len3"))
                #expect(try await stream.read(exactly: 3) == Bytes("ABC"))
                #expect(try await stream.read(until: Bytes("\r\n"), limit: 100) == Bytes("done"))
                #expect(try await Bytes(stream.readAll()) == Bytes("rest"))
                #expect(try await stream.read(exactly: 1) == nil)
                #expect(stream.closeReason == .closedByPeer)
                try await writing
            }
        }
    }

    @Test("a read at its limit, or cancelled, takes nothing; more time may be granted", arguments: 1...20)
    func limits(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (stream, peer) = try await world.streams()
            try await peer.write(Bytes("abc"))
            await expectError(.timedOut, .read) { try await stream.read(exactly: 4, within: .seconds(1)) }
            #expect(world.now == .seconds(1))
            let asked = Log<Int>()
            await expectError(.timedOut, .read) {
                try await stream.read(exactly: 4, within: .seconds(1)) { _, received in
                    asked.add(received)
                    return asked.count < 3 ? .seconds(2) : nil
                }
            }
            #expect(world.now == .seconds(6))
            #expect(asked.entries == [3, 3, 3])
            await withTaskGroup { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await stream.read(until: Bytes("!"), limit: 9) }
                    #expect(await stream.readProgress == nil)
                }
                await world.settle()
                #expect(await stream.readProgress?.received == 3)
                await expectError(.misuse) { try await stream.read(atMost: 1) }
                group.cancelAll()
            }
            try await peer.write(Bytes("d"))
            #expect(try await stream.read(exactly: 4, within: .seconds(1)) == Bytes("abcd"))
            #expect(world.loops.allSatisfy { $0.timerCount == 0 })
        }
    }

    @Test(
        "what arrived before the end is there for a late reader, however it ended",
        arguments: [Ending.peerClose, .peerReset, .idleLimit])
    func lateReader(ending: Ending) async throws {
        try await simulate { world in
            var options = ending.options
            options.halfOpenLimit = .seconds(10)
            let (stream, peer) = try await world.streams(options: options)
            try await peer.write(Bytes("hello, world"))
            try await peer.flush()
            switch ending {
            case .peerReset: peer.reset()
            case .peerClose: await peer.finishSending()
            default: break
            }
            try await world.clock.sleep(for: .seconds(2000))
            #expect(ending.isRight(stream.closeReason))
            #expect(try await stream.read(exactly: 5) == Bytes("hello"))
            let connection = try await stream.framed(with: .raw)
            #expect(try await connection.next() == Bytes(", world"))
            if let error = connection.closeReason?.error {
                await expectError(error.code, error.phase) { try await connection.next() }
            } else {
                #expect(try await connection.next() == nil)
            }
            #expect(ending.isRight(connection.closeReason))
        }
    }

    @Test("frames cut by the end are truncated also when the stream is framed later")
    func framedBehindTheEnd() async throws {
        try await simulate { world in
            let (stream, peer) = try await world.streams()
            try await peer.write(Bytes("a\nb\nhalf"))
            await peer.finishSending()
            await world.settle()
            let connection = try await stream.framed(with: .lines)
            #expect(try await connection.next() == "a")
            #expect(try await connection.next() == "b")
            await expectError(.truncated) { try await connection.next() }
        }
    }

    @Test("reading that this side has stopped is no truncation")
    func stoppedInsideFrame() async throws {
        try await simulate { world in
            let (stream, peer) = try await world.streams()
            try await peer.write(Bytes("a\nhalf"))
            await world.settle()
            let core = stream.core
            core.loop.run { core.stopReading(because: .shuttingDown) }
            await world.settle()
            let connection = try await stream.framed(with: .lines)
            #expect(try await connection.next() == "a")
            #expect(try await connection.next() == nil)
            #expect(connection.closeReason == .shuttingDown)
        }
    }

    @Test("closing here ends a read in the middle without calling it truncated")
    func closedInsideFrame() async throws {
        try await simulate { world in
            let (stream, peer) = try await world.streams()
            try await peer.write(Bytes("abc"))
            async let read = stream.read(exactly: 4)
            await world.settle()
            async let closed = stream.close(within: .seconds(1))
            #expect(try await read == nil)
            #expect(await closed == false)
            #expect(await stream.bytesBuffered == 0)
            #expect(try await stream.read(atMost: 10) == nil)
        }
    }

    @Test("a handshake reads frame by frame, and the rest goes to the connection", arguments: 1...20)
    func handshake(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (stream, peer) = try await world.streams()
            try await peer.write(Bytes(Array("HELLO\n".utf8) + Array(frame("one")) + Array(frame("two"))))
            #expect(try await stream.read(with: .lines) == "HELLO")
            try await stream.write("WELCOME", with: .lines)
            let connection = try await stream.framed(with: lengthPrefixed)
            try await connection.send(Bytes("x"))
            #expect(try await peer.read(with: .lines) == "WELCOME")
            #expect(try await peer.read(with: lengthPrefixed).map(String.init) == "x")
            #expect(try await connection.next().map(String.init) == "one")
            #expect(try await connection.next().map(String.init) == "two")
            try await peer.write(frame("three"))
            #expect(try await connection.next().map(String.init) == "three")
        }
    }

    @Test("a stream that nobody reads holds no more than its mark, and a read beyond the mark comes through")
    func bounded() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(1000) { $0.inbox = Marks(high: 10_000) }
            let (stream, peer) = try await world.streams(options: options)
            async let writing: Void = peer.write(pattern(100_000))
            try await world.clock.sleep(for: .seconds(30))
            #expect(await stream.bytesBuffered <= 11_000)
            #expect(try await stream.read(exactly: 90_000) == pattern(90_000))
            #expect(try await stream.read(exactly: 10_000)?.count == 10_000)
            try await writing
        }
    }
}
