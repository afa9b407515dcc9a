import Lifeline
import LifelineTesting
import Testing

/// Knows in which task it was decoded and encoded.
private struct Traced: Codable, Sendable, Equatable {
    @TaskLocal static var task = "none"

    var text: String
    var decodedIn = ""

    init(_ text: String) { self.text = text }

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        decodedIn = Self.task
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(text) encoded in \(Self.task)")
    }
}

private struct Point: Codable, Sendable, Equatable {
    var x: Int
}

@Suite("Typed frames over connections")
struct TypedConnectionTests {
    /// Runs `body` with a server that sends `text` to whoever connects, reads until its end, and ends.
    private func withServer<R: Sendable>(
        sending text: String, seed: UInt64, _ body: @escaping @Sendable (World) async throws -> R
    ) async throws -> R {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .raw, on: world.network)
            async let running: Void = server.run { connection in
                try await connection.send(Bytes(text))
                while try await connection.next() != nil {}
            }
            let result = try await body(world)
            await server.shutdown(within: .seconds(1))
            try await running
            return result
        }
    }

    private func code(of body: () async throws -> Void) async -> SocketError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? SocketError)?.code
        }
    }

    @Test("a bad body ends the connection, behind the messages before it", arguments: 1...10 as ClosedRange<UInt64>)
    func failing(seed: UInt64) async throws {
        try await withServer(sending: "{\"x\":1}\n{\"x\":2}\n{\"y\":3}\n{\"x\":4}\n", seed: seed) { world in
            let codec = LineCodec().json(of: Point.self)
            let connection = try await Connection.connect(to: .inMemory("s"), codec: codec, on: world.network)
            #expect(try await connection.next() == Point(x: 1))
            #expect(try await connection.next() == Point(x: 2))
            #expect(await code { _ = try await connection.next() } == .invalidBody)
            #expect(await code { _ = try await connection.next() } == .invalidBody)
            await world.settle()
            #expect(connection.closeReason?.error?.code == .invalidBody)

            let looping = try await Connection.connect(to: .inMemory("s"), codec: .jsonLines(of: Point.self), on: world.network)
            var points: [Point] = []
            #expect(await code { for try await point in looping.messages { points.append(point) } } == .invalidBody)
            #expect(points == [Point(x: 1), Point(x: 2)])
        }
    }

    @Test("by the other rule it is reported in its place, and the connection goes on", arguments: 1...10 as ClosedRange<UInt64>)
    func reporting(seed: UInt64) async throws {
        try await withServer(sending: "{\"x\":1}\n{\"y\":2}\nx\n{\"x\":4}\n", seed: seed) { world in
            let codec = LineCodec().json(resultOf: Point.self)
            let connection = try await Connection.connect(to: .inMemory("s"), codec: codec, on: world.network)
            #expect(try await connection.next()?.value == Point(x: 1))
            var results: [Result<Point, SocketError>] = []
            for try await result in connection.messages {
                results.append(result)
                if results.count == 3 { break }
            }
            #expect(results.map(\.value) == [nil, nil, Point(x: 4)])
            #expect(results.map { $0.error?.code } == [.invalidBody, .invalidBody, nil])
            #expect(connection.closeReason == nil)
            try await connection.send(Point(x: 5))
            await connection.close()
        }
    }

    @Test("in packets the header of a bad body is there", arguments: 1...10 as ClosedRange<UInt64>)
    func packets(seed: UInt64) async throws {
        let text = "{\"size\":\"7\",\"id\":1}\r\n{\"x\":1}{\"size\":\"3\",\"id\":2}\r\nbad{\"size\":\"7\",\"id\":3}\r\n{\"x\":3}"
        try await withServer(sending: text, seed: seed) { world in
            let codec = JSONHeaderCodec().json(resultOf: Point.self)
            let connection = try await Connection.connect(to: .inMemory("s"), codec: codec, on: world.network)
            var ids: [Int?] = []
            var values: [Point?] = []
            while ids.count < 3, let packet = try await connection.next() {
                ids.append(packet.header["id"]?.intValue)
                values.append(packet.body.value)
            }
            #expect(ids == [1, 2, 3])
            #expect(values == [Point(x: 1), nil, Point(x: 3)])
            await connection.close()
        }
    }

    @Test("a server and its client with values in both directions", arguments: 1...10 as ClosedRange<UInt64>)
    func bothSides(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: JSONHeaderCodec().json(of: Point.self), on: world.network)
            async let running: Void = server.run { connection in
                for try await packet in connection.messages {
                    var answer = packet
                    answer.header["answers"] = packet.header["id"]
                    answer.body.x += 1
                    try await connection.send(answer)
                }
            }
            let client = try await Connection.connect(
                to: .inMemory("s"), codec: JSONHeaderCodec().json(of: Point.self), on: world.network)
            for id in 0..<20 {
                try await client.send(Packet(header: ["id": .integer(Int64(id))], body: Point(x: id)))
            }
            for id in 0..<20 {
                let answer = try #require(try await client.next())
                #expect(answer.header["answers"]?.intValue == id)
                #expect(answer.body == Point(x: id + 1))
            }
            await client.close()
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test("texts are taken apart in the task that reads and put together in the one that sends", arguments: 1...5 as ClosedRange<UInt64>)
    func inTheReadersTask(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let codec = LineCodec().json(of: Traced.self)
            let server = try await Server.bind(.inMemory("s"), codec: codec, on: world.network)
            async let running: Void = server.run { connection in
                try await Traced.$task.withValue("the handler") {
                    while let message = try await connection.next() {
                        #expect(message.decodedIn == "the handler")
                        try await connection.send(message)
                    }
                }
            }
            let client = try await Connection.connect(to: .inMemory("s"), codec: codec, on: world.network)
            for turn in 0..<3 {
                try await Traced.$task.withValue("sender \(turn)") { try await client.send(Traced("a")) }
                // It is there, unread, whichever task has its bytes moved.
                await world.settle()
                try await Traced.$task.withValue("reader \(turn)") {
                    let message = try await turn < 2 ? client.next() : client.messages.first { _ in true }
                    #expect(message?.text == "a encoded in sender \(turn) encoded in the handler")
                    #expect(message?.decodedIn == "reader \(turn)")
                }
            }
            await client.close()
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test("what can't be sent is told to its sender alone", arguments: 1...5 as ClosedRange<UInt64>)
    func unencodable(seed: UInt64) async throws {
        try await withServer(sending: "", seed: seed) { world in
            let codec = LineCodec().json(of: [Double].self)
            let connection = try await Connection.connect(to: .inMemory("s"), codec: codec, on: world.network)
            #expect(await code { try await connection.send([.infinity]) } == .unencodable)
            try await connection.send([1])
            #expect(connection.closeReason == nil)
            await connection.close()
        }
    }

    @Test("a read of one frame that is given up behind its header leaves it for the next", arguments: 1...5 as ClosedRange<UInt64>)
    func givenUpRead(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("s"), codec: .raw, on: world.network)
            async let running: Void = server.run { connection in
                try await connection.send(Bytes("{\"size\":4,\"id\":1}\r\nab"))
                while let bytes = try await connection.next() { try await connection.send(bytes) }
            }
            let stream = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
            #expect(await code { _ = try await stream.read(with: .jsonHeader, within: .seconds(1)) } == .timedOut)
            try await stream.write(Bytes("cd"))
            let packet = try await stream.read(with: .jsonHeader, within: .seconds(1))
            #expect(packet == Packet(header: ["id": 1], body: Bytes("abcd")))
            await stream.close()
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }
}
