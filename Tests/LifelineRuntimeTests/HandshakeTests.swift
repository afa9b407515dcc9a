import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("From a byte stream to a connection")
struct HandshakeTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    private struct Refused: Error {}

    /// One line, then length-prefixed frames.
    private func wire(_ frames: [String]) -> Bytes {
        var output = ByteOutput()
        output.append(utf8: "HELLO\r\n")
        for frame in frames {
            output.append(UInt16(frame.utf8.count), .big)
            output.append(utf8: frame)
        }
        return output.finish()
    }

    @Test("the first bytes of the new format share a segment with the last old ones, split anywhere", arguments: 0...22)
    func sharedSegment(place: Int) async throws {
        try await simulate(seed: UInt64(place)) { world in
            let (near, far) = try await world.ends()
            let all = wire(["one", "\n", "three"])
            try await near.write(all.slice(0..<place))
            async let hello = far.read(with: .lines)
            await world.settle()
            try await near.write(all.slice(place..<all.count))
            #expect(try await hello == "HELLO")
            let connection = try await far.framed(with: .lengthPrefixed(UInt16.self))
            for expected in ["one", "\n", "three"] {
                let frame = try await connection.next()
                #expect(frame == Bytes(expected))
            }
            try await connection.send(Bytes("answer"))
            #expect(try await near.read(with: .lengthPrefixed(UInt16.self)) == Bytes("answer"))
            try await near.finishSending()
            #expect(try await connection.next() == nil)
            #expect(connection.closeReason == .closedByPeer)
        }
    }

    @Test("C41: all of it, and the end, arrive before the handler is scheduled", arguments: seeds, [true, false])
    func everythingBefore(seed: UInt64, isCut: Bool) async throws {
        try await simulate(seed: seed) { world in
            let frames = Log<Bytes>()
            let errors = Log<SocketError.Code?>()
            var options = ServerOptions()
            options.onHandlerError = { errors.add(($0 as? SocketError)?.code) }
            let server = try await Server.bind(
                .inMemory("s"), codec: .lengthPrefixed(UInt16.self), on: world.network, options: options,
                handshake: { stream in
                    try await world.clock.sleep(for: .seconds(1))
                    #expect(try await stream.read(with: .lines) == "HELLO")
                    try await stream.write("WELCOME", with: .lines)
                })
            let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
                while let frame = try await connection.next() {
                    frames.add(frame)
                    try await connection.send(frame)
                }
            }
            try await serving(server, handler) {
                let client = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                let all = wire(["one", "two"])
                try await client.write(isCut ? all.slice(0..<all.count - 1) : all)
                try await client.finishSending()
                await world.settle()
                #expect(server.connections.isEmpty)
                #expect(try await client.read(with: .lines) == "WELCOME")
                #expect(try await client.read(with: .lengthPrefixed(UInt16.self)) == Bytes("one"))
                if !isCut { #expect(try await client.read(with: .lengthPrefixed(UInt16.self)) == Bytes("two")) }
                #expect(try await client.read(atMost: 1) == nil)
                await client.close()
            }
            #expect(frames.entries == (isCut ? [Bytes("one")] : [Bytes("one"), Bytes("two")]))
            #expect(errors.entries == (isCut ? [.truncated] : []))
        }
    }

    @Test("more frames than the inbox takes go along, and reading goes on as they are taken", arguments: seeds)
    func manyFrames(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            var options = ConnectionOptions()
            options.inboxFrames = 4
            options.inbox = Marks(high: 100)
            let (near, far) = try await world.ends(far: options)
            async let writing: Void = near.write(Bytes((0..<500).map { "\($0)\n" }.joined()))
            await world.settle()
            let connection = try await far.framed(with: .lines)
            for number in 0..<500 {
                let line = try await connection.next()
                #expect(line == "\(number)")
            }
            try await writing
            try await near.finishSending()
            #expect(try await connection.next() == nil)
        }
    }

    @Test("the stream that was handed over is a misuse and has no say any more", arguments: seeds)
    func oldHandle(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends()
            let connection = try await far.framed(with: .lines)
            #expect(await failure { try await far.read(atMost: 1) }?.code == .misuse)
            #expect(await failure { try await far.write(Bytes("x")) }?.code == .misuse)
            #expect(await failure { try await far.framed(with: .lines) }?.code == .misuse)
            try await far.finishSending()
            #expect(await !far.close())
            far.closeNow()
            await world.settle()
            try await near.write(Bytes("alive\n"))
            #expect(try await connection.next() == "alive")
            try await connection.send("alive")
            #expect(try await near.read(with: .lines) == "alive")
        }
    }

    @Test("dropping the stream that was handed over doesn't touch the connection", arguments: seeds)
    func oldHandleDropped(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, connection) = try await world.connection(.lines)
            await world.settle()
            try await near.write(Bytes("alive\n"))
            #expect(try await connection.next() == "alive")
        }
    }

    @Test("a handshake that throws ends its own connection and is reported", arguments: seeds)
    func handshakeThrows(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let errors = Log<any Error>()
            var options = ServerOptions()
            options.onHandlerError = { errors.add($0) }
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network, options: options,
                handshake: { stream in
                    guard try await stream.read(with: .lines) == "HELLO" else {
                        try await stream.write("no", with: .lines)
                        throw Refused()
                    }
                })
            try await serving(server, echo) {
                let bad = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                let silent = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                let good = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                try await bad.write(Bytes("WHO\nunread\n"))
                #expect(try await bad.read(with: .lines) == "no")
                #expect(try await bad.read(atMost: 1) == nil)
                await bad.close()
                try await good.write(Bytes("HELLO\nfirst\n"))
                #expect(try await good.read(with: .lines) == "first")
                #expect(server.connections.count == 1)
                await world.settle()
                #expect(errors.entries.count == 1)
                #expect(errors.entries.first is Refused)
                await good.close()
                silent.closeNow()
            }
        }
    }

    @Test("a shutdown ends handshakes, too", arguments: seeds)
    func shutdown(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let ends = Log<String>()
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network,
                handshake: { stream in
                    ends.add("\(try await stream.read(with: .lines) ?? "nil"), \(stream.closeReason.map { "\($0)" } ?? "nil")")
                })
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run(waitForEnd) }
                let client = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                await world.settle()
                async let isDone = server.shutdown()
                #expect(try await client.read(atMost: 1) == nil)
                await client.close()
                #expect(await isDone)
                try await group.waitForAll()
            }
            #expect(ends.entries == ["nil, shutting down"])
            #expect(world.now == .zero)
        }
    }
}
