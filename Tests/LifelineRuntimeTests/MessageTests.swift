import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

private struct NoNumber: Error {}

/// Lines of digits.
private let numbers = LineCodec().mapped(
    decode: { (line: String) throws -> Int in
        guard let number = Int(line) else { throw NoNumber() }
        return number
    },
    encode: { (number: Int) throws -> String in
        if number < 0 { throw NoNumber() }
        return String(number)
    })

/// Runs `body` with a client that speaks in numbers and what `peer` sends in lines.
private func conversation(
    lines: [String], _ body: @escaping @Sendable (Connection<MappedCodec<LineCodec, Int, Int>>) async throws -> Void
) async throws {
    try await simulate { world in
        let server = try await Server.bind(.inMemory("numbers"), codec: .lines, on: world.network)
        try await serving(server) { connection in
            for line in lines { try await connection.send(line) }
            while let line = try await connection.next() { try await connection.send("\(line)0") }
        } while: {
            let client = try await Connection.connect(to: .inMemory("numbers"), codec: numbers, on: world.network)
            try await body(client)
            client.closeNow()
        }
    }
}

@Suite("Messages made of frames")
struct MessageTests {
    @Test("messages are made of frames on both ways, whichever way they are read")
    func bothWays() async throws {
        try await conversation(lines: ["1", "2", "3"]) { client in
            #expect(try await client.next() == 1)
            #expect(try await client.next(within: .seconds(1)) == 2)
            try await client.send(7)
            try await client.send(8, within: .seconds(1))
            var seen: [Int] = []
            for try await batch in client.batches {
                seen += batch
                if seen.count == 3 { break }
            }
            #expect(seen == [3, 70, 80])
        }
    }

    @Test("a frame that isn't a message is thrown in its place, and the connection ends with it")
    func failsInPlace() async throws {
        try await conversation(lines: ["1", "two", "3"]) { client in
            let first = try await client.next()
            #expect(first == 1)
            for _ in 0..<2 {
                let error = await failure { try await client.next() }
                #expect(error?.code == .protocolViolation)
                #expect(error?.cause is NoNumber)
            }
            #expect(client.closeReason?.error?.cause is NoNumber)
            await client.close()
            #expect(await failure { try await client.send(4) }?.code == .closed)
        }
    }

    @Test("a batch ends before the frame that isn't a message; its error is next, also when the peer has left")
    func batchBeforeFailure() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("numbers"), codec: .lines, on: world.network)
            try await serving(server) { connection in
                for line in ["1", "2", "no", "3"] { try await connection.send(line) }
            } while: {
                let client = try await Connection.connect(to: .inMemory("numbers"), codec: numbers, on: world.network)
                // All has arrived, the peer's end included, before the first is read.
                while client.closeReason == nil { try await world.clock.sleep(for: .milliseconds(1)) }
                var seen: [[Int]] = []
                let error = await failure { for try await batch in client.batches { seen.append(batch) } }
                #expect(seen == [[1, 2]])
                #expect(error?.cause is NoNumber)
                #expect(client.closeReason == .closedByPeer)
                #expect(await failure { try await client.next() }?.cause is NoNumber)
            }
        }
    }

    @Test("what can't become a frame is thrown to the sender, and nothing else happens")
    func unencodable() async throws {
        try await conversation(lines: []) { client in
            let error = await failure { try await client.send(-1) }
            #expect(error?.code == .unencodable)
            #expect(error?.cause is NoNumber)
            try await client.send(5)
            #expect(try await client.next() == 50)
        }
    }

    @Test("a byte stream reads and writes messages, and takes the frame that isn't one")
    func byteStream() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("numbers"), codec: .lines, on: world.network)
            try await serving(server) { connection in
                for line in ["1", "two", "3"] { try await connection.send(line) }
                #expect(try await connection.next() == "9")
            } while: {
                let stream = try await ByteStream.connect(to: .inMemory("numbers"), on: world.network)
                try await stream.write(9, with: numbers)
                #expect(try await stream.read(with: numbers) == 1)
                #expect(await failure { try await stream.read(with: numbers) }?.cause is NoNumber)
                #expect(try await stream.read(with: numbers) == 3)
                await stream.close()
            }
        }
    }

    @Test("a server's broadcast and its last word to those beyond its limit are messages")
    func server() async throws {
        try await simulate { world in
            var options = ServerOptions()
            options.maximumConnections = 1
            let server = try await Server.bind(
                .inMemory("numbers"), codec: numbers, on: world.network, options: options, tooBusy: 503)
            try await serving(server) { connection in
                while try await connection.next() != nil {}
            } while: {
                let client = try await Connection.connect(to: .inMemory("numbers"), codec: .lines, on: world.network)
                try await client.send("1")
                try await client.flush()
                let late = try await Connection.connect(to: .inMemory("numbers"), codec: .lines, on: world.network)
                #expect(try await late.next() == "503")
                #expect(try await server.broadcast(42).accepted == 1)
                #expect(try await client.next() == "42")
                #expect(await failure { try await server.broadcast(-1) }?.cause is NoNumber)
                client.closeNow()
            }
        }
    }
}
