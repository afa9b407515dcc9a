import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Requests from both sides of a server's connection")
struct ServerPairingTests {
    /// `7 text` asks, `=7 text` answers: in either direction.
    private static let pairing = Pairing<LineCodec>.byID(
        Int.self, assign: { message, id in message = "\(id) \(message)" },
        idOf: { $0.first == "=" ? Int($0.dropFirst().prefix { $0 != " " }) : nil })

    /// Answers each question with its words.
    @Sendable private static func answer(_ connection: Connection<LineCodec>, _ word: String) async throws {
        while let question = try await connection.next() {
            let (id, words) = (question.prefix { $0 != " " }, question.drop { $0 != " " })
            try await connection.send("=\(id) \(word)\(words)")
        }
    }

    @Test("both ask and answer at the same time, with the same ids, behind a handshake or without one", arguments: 1...10, [false, true])
    func bothWays(seed: UInt64, shakesHands: Bool) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            let greeting: @Sendable (ByteStream) async throws -> Void = { stream in _ = try await stream.read(exactly: 2) }
            let server = try await Server.bind(
                .inMemory("s"), codec: .lines, pairing: Self.pairing, on: world.network,
                handshake: shakesHands ? greeting : nil)
            try await serving(server, { try await Self.answer($0, "server") }) {
                let stream = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                if shakesHands { try await stream.write(Bytes("hi")) }
                let client = try await stream.framed(with: .lines, pairing: Self.pairing)
                await world.settle()
                let connection = try #require(server.connections.first)
                try await withThrowingTaskGroup { group in
                    group.addTask { try await Self.answer(client, "client") }
                    try await withThrowingTaskGroup { asking in
                        for number in 0..<50 {
                            asking.addTask {
                                let answer = try await connection.request("\(number)", within: .seconds(3))
                                #expect(answer.hasSuffix(" client \(number)"))
                            }
                            asking.addTask {
                                let answer = try await client.request("\(number)", within: .seconds(3))
                                #expect(answer.hasSuffix(" server \(number)"))
                            }
                        }
                        try await asking.waitForAll()
                    }
                    #expect(await connection.hasNoRequests)
                    #expect(await client.hasNoRequests)
                    await client.close()
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("a server asks the client of a link, which answers from its messages; a kick ends the request with its reason")
    func asksLink() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("s"), codec: .lines, pairing: Self.pairing, on: world.network)
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                #expect(try await connection.request("version", within: .seconds(3)) == "=1 client version")
                async let ended = expectError(.closed) { try await connection.request("and now", within: .seconds(3)) }
                try await world.clock.sleep(for: .seconds(1))
                try await connection.close(saying: "kicked", because: SocketError(.kicked, "too old"))
                #expect((await ended?.cause as? SocketError)?.code == .kicked)
            }
            try await serving(server, handler) {
                let link = Supervisor(
                    endpoint: .inMemory("s"), codec: .lines, on: world.network, goAway: { $0 == "kicked" ? .kicked() : nil })
                await link.start()
                #expect(try await link.next() == "1 version")
                try await link.send("=1 client version")
                #expect(try await link.next() == "2 and now")
                #expect(try await link.next() == "kicked")
                await expectError(.kicked) { try await link.next() as Any }
                #expect(world.now == .seconds(1))
            }
        }
    }

    @Test("the header of an answer has the serial and the command of its request")
    func answerHeader() async throws {
        let request = RequestHeader(serial: 77, command: 5, code: 9)
        #expect(request.answer() == RequestHeader(serial: 77, command: 5, code: 0))
        #expect(request.answer(code: -3) == RequestHeader(serial: 77, command: 5, code: -3))
    }
}
