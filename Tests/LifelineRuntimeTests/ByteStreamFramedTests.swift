import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Byte streams that are framed, at any time")
struct ByteStreamFramedTests {
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
            case .peerClose: try await peer.finishSending()
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
            try await peer.finishSending()
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
}
