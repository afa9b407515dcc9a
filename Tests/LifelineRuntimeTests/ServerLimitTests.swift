import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("Limits of a server")
struct ServerLimitTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    private func options(_ change: (inout ServerOptions) -> Void, errors: Log<SocketError> = Log()) -> ServerOptions {
        var options = ServerOptions()
        options.onHandlerError = { error in
            if let error = error as? SocketError { errors.add(error) }
        }
        change(&options)
        return options
    }

    @Test("one connection too many gets the last word and its end, and the place is free again afterwards", arguments: seeds)
    func tooBusy(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network, options: options { $0.maximumConnections = 2 }, tooBusy: "busy")
            try await serving(server, echo) {
                let first = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                let second = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                let third = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                #expect(try await third.next() == "busy")
                #expect(try await third.next() == nil)
                #expect(server.connections.count == 2)
                #expect(world.now == .zero)
                #expect(await third.close())

                await first.close()
                await world.settle()
                let fourth = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                for client in [second, fourth] {
                    try await client.send("served")
                    #expect(try await client.next() == "served")
                    await client.close()
                }
            }
        }
    }

    @Test("without a last word one connection too many is closed at once", arguments: seeds)
    func tooBusyWithoutWords(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network, options: options { $0.maximumConnections = 1 })
            try await serving(server, echo) {
                let first = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                let second = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                #expect(try await second.next() == nil)
                #expect(await second.close())
                #expect(world.now == .zero)
                try await first.send("served")
                #expect(try await first.next() == "served")
                await first.close()
            }
        }
    }

    @Test("last words are said to so many at a time, and for one second at most")
    func lastWordsAreBounded() async throws {
        try await simulate { world in
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network, options: options { $0.maximumConnections = 0 }, tooBusy: "busy")
            try await serving(server, echo) {
                let kept = Log<ByteStream>()
                func heard() async throws -> String? {
                    let stream = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                    kept.add(stream)
                    return try await stream.read(with: .lines)
                }
                for _ in 0..<64 { #expect(try await heard() == "busy") }
                for _ in 0..<6 { #expect(try await heard() == nil) }
                try await world.advance(by: .milliseconds(999))
                #expect(try await heard() == nil)
                try await world.advance(by: .milliseconds(1))
                #expect(try await heard() == "busy")
            }
        }
    }

    @Test(
        "C121: silent and dripping clients are gone at the limit for the first frame, and hold up nobody", arguments: seeds, [false, true])
    func firstFrame(seed: UInt64, shakesHands: Bool) async throws {
        try await simulate(seed: seed) { world in
            let errors = Log<SocketError>()
            let greeting: @Sendable (ByteStream) async throws -> Void = { stream in _ = try await stream.read(exactly: 2) }
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network,
                options: options({ $0.connection.firstFrameLimit = .seconds(2) }, errors: errors),
                handshake: shakesHands ? greeting : nil)
            try await serving(server, echo) {
                var silent: [ByteStream] = []
                for _ in 0..<50 { silent.append(try await ByteStream.connect(to: .inMemory("s"), on: world.network)) }
                let good = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                if shakesHands { try await good.write(Bytes("hi")) }
                try await good.write("hello", with: .lines)
                #expect(try await good.read(with: .lines) == "hello")
                #expect(world.now == .zero)

                try await withThrowingTaskGroup { group in
                    let drip = silent[0]
                    group.addTask {
                        for _ in 0..<15 {
                            try await drip.write(Bytes("x"))
                            try await world.clock.sleep(for: .milliseconds(100))
                        }
                    }
                    for stream in silent {
                        group.addTask {
                            let bytes = try await stream.read(atMost: 1)
                            #expect(bytes == nil)
                            #expect(world.now == .seconds(2))
                        }
                    }
                    try await group.waitForAll()
                }
                await world.settle()
                #expect(errors.count == 50)
                #expect(errors.entries.allSatisfy { $0.code == .timedOut && $0.phase == .firstFrame })
                #expect(server.connections.count == 1)
                try await good.write("again", with: .lines)
                #expect(try await good.read(with: .lines) == "again")
            }
        }
    }

    @Test("the idle limit counts from the last byte", arguments: seeds)
    func idle(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let errors = Log<SocketError>()
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, on: world.network,
                options: options({ $0.connection.idleLimit = .seconds(3) }, errors: errors))
            try await serving(server, echo) {
                let client = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                for _ in 0..<5 {
                    try await world.advance(by: .milliseconds(2_500))
                    try await client.write(Bytes("x"))
                }
                #expect(try await client.read(atMost: 1) == nil)
                #expect(world.now == .milliseconds(15_500))
                await world.settle()
                #expect(errors.entries == [SocketError(timedOut: .idle, after: .seconds(3))])
            }
        }
    }

    @Test("a full accept queue pauses the listener until run takes from it", arguments: seeds, [1, 3])
    func acceptQueue(seed: UInt64, loops: Int) async throws {
        try await simulate(seed: seed, loops: loops) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: world.network, options: options { $0.acceptQueue = 4 })
            var clients: [Connection<LineCodec>] = []
            for number in 0..<30 {
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: world.network)
                try await client.send("\(number)")
                clients.append(client)
            }
            await world.settle()
            #expect(server.connections.count == 4)
            try await serving(server, echo) {
                for (number, client) in clients.enumerated() {
                    let line = try await client.next()
                    #expect(line == "\(number)")
                }
                #expect(server.connections.count == 30)
                for client in clients { await client.close() }
            }
            #expect(world.now == .zero)
        }
    }

    @Test("C133: what may come in and what may go out are bounded apart", arguments: [true, false])
    func bothDirections(isLarge: Bool) async throws {
        try await simulate { world in
            let errors = Log<SocketError>()
            let server = try await Server.bind(
                .inMemory("s"), codec: .lengthPrefixed(UInt32.self, max: 64 * 1024, maxOutgoing: 1024 * 1024), on: world.network,
                options: options({ _ in }, errors: errors))
            let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
                while try await connection.next() != nil {
                    try await connection.send(block(isLarge ? 1024 * 1024 + 1 : 1024 * 1024, of: 7))
                }
            }
            try await serving(server, handler) {
                let client = try await Connection.connect(
                    to: .inMemory("s"), codec: .lengthPrefixed(UInt32.self, max: 2 * 1024 * 1024), on: world.network)
                try await client.send(block(64 * 1024, of: 1))
                #expect(try await client.next()?.count == (isLarge ? nil : 1024 * 1024))
                if !isLarge {
                    try await client.send(block(64 * 1024 + 1, of: 1))
                    #expect(try await client.next() == nil)
                }
                await client.close()
                await world.settle()
                #expect(errors.entries.map(\.code) == [.frameTooLarge])
            }
        }
    }
}
