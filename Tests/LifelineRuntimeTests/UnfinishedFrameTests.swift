import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("The time that a frame may take")
struct UnfinishedFrameTests {
    /// Reads lines with a limit of 10 s for each; the peer's part is `peer`.
    private func reading(
        options: ConnectionOptions? = nil, _ peer: @escaping @Sendable (World, ByteStream) async throws -> Void,
        _ body: @escaping @Sendable (World, Connection<LineCodec>) async throws -> Void
    ) async throws {
        try await simulate { world in
            var connectionOptions = options ?? ConnectionOptions()
            connectionOptions.unfinishedFrameLimit = .seconds(10)
            var serverOptions = ServerOptions()
            serverOptions.connection = connectionOptions
            let server = try await Server.bind(.inMemory("lines"), codec: .lines, on: world.network, options: serverOptions)
            try await serving(server) {
                try await body(world, $0)
            } while: {
                let stream = try await ByteStream.connect(to: .inMemory("lines"), on: world.network)
                try await peer(world, stream)
                _ = try? await stream.read(atMost: 1)
            }
        }
    }

    private func collect(_ count: Int, from connection: Connection<LineCodec>) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count, let line = try await connection.next() { lines.append(line) }
        return lines
    }

    @Test("a line without its terminator ends the connection at the limit, and the error tells how much of it is there")
    func unfinished() async throws {
        try await reading { _, stream in
            try await stream.write(Bytes("whole\n" + String(repeating: "x", count: 42)))
        } _: { world, connection in
            let line = try await connection.next()
            #expect(line == "whole")
            let start = world.clock.now
            let error = await failure { try await connection.next() }
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .frame)
            #expect(error?.pending?.received == 42)
            #expect(error?.message.hasSuffix("42 bytes without a terminator") == true)
            let elapsed = start.duration(to: world.clock.now)
            #expect(elapsed > .seconds(9) && elapsed < .seconds(11))
        }
    }

    @Test("bytes that trickle in don't prolong it; whole lines and silence between them do")
    func trickle() async throws {
        try await reading { world, stream in
            for _ in 0..<4 {
                try await stream.write(Bytes("a"))
                try await world.clock.sleep(for: .seconds(6))
                try await stream.write(Bytes("b\n"))
                try await world.clock.sleep(for: .seconds(30))
            }
            for _ in 0..<6 where stream.closeReason == nil {
                try await stream.write(Bytes("c"))
                try await world.clock.sleep(for: .seconds(4))
            }
        } _: { _, connection in
            let lines = try await collect(4, from: connection)
            #expect(lines == ["ab", "ab", "ab", "ab"])
            let error = await failure { try await connection.next() }
            #expect(error?.phase == .frame)
            #expect(error?.pending?.received == 3)
        }
    }

    @Test("a frame that is complete with the next one begun starts the time anew")
    func glued() async throws {
        try await reading { world, stream in
            try await stream.write(Bytes("a"))
            for _ in 0..<5 {
                try await world.clock.sleep(for: .seconds(8))
                try await stream.write(Bytes("\na"))
            }
            try await world.clock.sleep(for: .seconds(8))
            try await stream.write(Bytes("\n"))
            try await stream.finishSending()
        } _: { _, connection in
            let lines = try await collect(9, from: connection)
            #expect(lines == ["a", "a", "a", "a", "a", "a"])
        }
    }

    @Test("a reader that is slow doesn't count against the peer")
    func slowReader() async throws {
        var options = ConnectionOptions()
        options.inboxFrames = 2
        try await reading(options: options) { _, stream in
            try await stream.write(Bytes("1\n2\n3\n4\n5"))
            try await stream.finishSending()
        } _: { world, connection in
            try await world.clock.sleep(for: .seconds(60))
            let lines = try await collect(4, from: connection)
            #expect(lines == ["1", "2", "3", "4"])
            #expect(await failure { try await connection.next() }?.code == .truncated)
        }
    }

    @Test("once a slow reader has made room, the time runs for what is unfinished, also if nothing more comes")
    func behindPause() async throws {
        var options = ConnectionOptions()
        options.inbox = Marks(high: 8, low: 4)
        try await reading(options: options) { _, stream in
            try await stream.write(Bytes("123456789\nabc"))
        } _: { world, connection in
            try await world.clock.sleep(for: .seconds(60))
            let line = try await connection.next()
            #expect(line == "123456789")
            let error = await failure { try await connection.next(within: .seconds(60)) }
            #expect(error?.phase == .frame)
            #expect(error?.pending?.received == 3)
        }
    }
}
