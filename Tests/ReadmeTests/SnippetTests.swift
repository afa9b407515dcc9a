import Lifeline
import LifelineTesting
import Testing

/// The manual's examples do what they say.
@Suite(.timeLimit(.minutes(5)))
struct SnippetTests {
    @Test func clientFollowsAServerOverTCP() async throws {
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines)
        async let running: Void = server.run { connection in
            #expect(try await connection.next() == "hello")
            try await connection.send("first")
            try await connection.send("second")
        }
        try await follow(server.endpoint)
        await server.shutdown(within: .seconds(1))
        try await running
    }

    @Test func chatTellsEverybodyOverTCP() async throws {
        let chat = try await Chat(at: .tcp("127.0.0.1", 0))
        async let running: Void = chat.run()
        let ann = try await Connection.connect(to: chat.server.endpoint, codec: .lines, within: .seconds(3))
        let bob = try await Connection.connect(to: chat.server.endpoint, codec: .lines, within: .seconds(3))
        try await ann.send("hello")
        #expect(try await ann.next() == "hello")
        try await bob.send("hello, Ann")
        #expect(try await ann.next() == "hello, Ann")
        async let isComplete = chat.server.shutdown(within: .seconds(60))
        #expect(try await ann.next() == nil)
        await ann.close(within: .seconds(60))
        await bob.close(within: .seconds(60))
        #expect(await isComplete)
        try await running
    }

    @Test func packetsWithAHeaderOfCCrossTCP() async throws {
        let codec = HeaderCodec(ChatHeader.self).resynchronizing()
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: codec)
        async let running: Void = server.run { connection in
            let packet = try #require(try await connection.next())
            #expect(packet == Packet(header: ChatHeader(mainType: 1, subType: 7), body: Bytes("hello")))
            try await connection.send(packet)
        }
        try await talk(at: server.endpoint)
        await server.shutdown(within: .seconds(1))
        try await running
    }

    @Test func ownCodecKeepsTheRules() throws { try verifyReadings() }

    @Test(arguments: 1...20) func ownCodecCrossesAConnection(seed: UInt64) async throws {
        let readings = (0..<100).map { Reading(sensor: UInt8($0), value: .min + $0) }
        let arrived = try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("sensors"), codec: ReadingCodec(), on: world.network)
            async let running: Void = server.run { connection in
                while let reading = try await connection.next() { try await connection.send(reading) }
            }
            let stream = try await ByteStream.connect(to: .inMemory("sensors"), on: world.network)
            var output = ByteOutput()
            for reading in readings { ReadingCodec().encode(reading, into: &output) }
            // Cut where no frame ends.
            var rest = output.finish()
            while !rest.isEmpty {
                let count = min(rest.count, 1 + Int(world.random.next() % 12))
                try await stream.write(rest.slice(0..<count))
                try await stream.flush()
                rest = rest.slice(count..<rest.count)
            }
            var arrived: [Reading] = []
            while arrived.count < readings.count, let reading = try await stream.read(with: ReadingCodec()) { arrived.append(reading) }
            try await stream.finishSending()
            await server.shutdown(within: .seconds(1))
            try await running
            return arrived
        }
        #expect(arrived == readings)
    }

    @Test(arguments: 1...10) func typedChatAnswersEachMessage(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let network = world.network
            async let _ = serveChat(at: .inMemory("chat"), on: network)
            await world.settle()
            let ann = try await Connection.connect(to: .inMemory("chat"), codec: .lines, on: network)
            try await ann.send(#"{"type":"join","room":"lobby"}"#)
            #expect(try await ann.next() == #"{"text":"welcome to lobby","type":"say"}"#)
            try await ann.send(#"{"type":"wave"}"#)
            try await ann.send(#"{"text":"hello","type":"say"}"#)
            #expect(try await ann.next() == #"{"text":"hello","type":"say"}"#)
            try await ann.send(#"{"text":"no type"}"#)
            #expect(try await ann.next() == nil)
            await ann.close()
            // Leaving cancels the server.
        }
    }

    @Test(arguments: 1...10) func greetingsFindTheirRequests(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("greeter"), codec: .requestHeader, on: world.network)
            async let running: Void = server.run { connection in
                while let second = try await connection.next(), let first = try await connection.next() {
                    for request in [first, second] {
                        try await connection.send(Packet(header: request.header, body: Bytes("hello, \(String(request.body))")))
                    }
                }
            }
            let greetings = try await greet(["Ann", "Bob"], at: .inMemory("greeter"), on: world.network)
            #expect(greetings.sorted() == ["hello, Ann", "hello, Bob"])
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test(arguments: 1...10) func packetsAreDispatchedByTheirHeaders(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("chat"), codec: .jsonHeader, on: world.network)
            async let running: Void = server.run { try await answer($0) }
            let ann = try await Connection.connect(to: .inMemory("chat"), codec: .jsonHeader, on: world.network)
            try await ann.send(Packet(header: ["type": "join"], json: Join(room: "lobby")))
            try await ann.send(Packet(header: ["type": "wave"], body: []))
            let said = try Packet<JSONHeader, Bytes>(header: ["type": "say", "id": 7], json: Say(text: "hello"))
            try await ann.send(said)
            let welcome = try #require(try await ann.next())
            #expect(welcome.header == ["type": "say"])
            #expect(try welcome.json(as: Say.self) == Say(text: "welcome to lobby"))
            #expect(try await ann.next() == said)
            await ann.close()
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test(arguments: 1...10) func supervisedClientLogsInAgain(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("chat"), codec: .lines, on: world.network)
            async let running: Void = server.run { connection in
                let login = try await connection.next()
                try await connection.send("welcome")
                if login == "login 1" {
                    #expect(try await connection.next() == "hello")
                    return try await connection.send("one")
                }
                #expect(login == "login 2")
                try await connection.send("bye")
                while try await connection.next() != nil {}
            }
            let tokens = Tokens()
            try await keepChatting(at: .inMemory("chat"), on: world.network) { await tokens.next() }
            #expect(await tokens.count == 2 && world.now < .seconds(1))
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test(arguments: 1...10) func aReceiptTellsWhetherALineWasSent(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let link = Supervisor(endpoint: .inMemory("chat"), codec: .lines, on: world.network, reconnect: .every(.seconds(50)))
            await link.start()
            async let tooOld = report("too old", over: link)
            #expect(try await tooOld == false && world.now == .seconds(60))
            let server = try await Server.bind(.inMemory("chat"), codec: .lines, on: world.network)
            async let running: Void = server.run { connection in
                #expect(try await connection.next() == "in time")
                for line in ["price 1", "news"] { try await connection.send(line) }
                while try await connection.next() != nil {}
            }
            async let prices: Void = printPrices(from: link)
            await world.settle()
            #expect(try await report("in time", over: link))
            #expect(world.now == .seconds(100))
            #expect(try await link.next() == "news")
            await link.stop()
            try await prices
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test func clientsAreLetGo() async throws {
        try await simulate { world in
            var options = ServerOptions()
            options.onHandlerError = { #expect(($0 as? SocketError)?.code == .kicked) }
            for way in ["kick", "restart"] {
                let server = try await Server.bind(.inMemory(way), codec: .lines, on: world.network, options: options)
                async let running: Void = server.run { while try await $0.next() != nil {} }
                let link = link(to: .inMemory(way), on: world.network)
                await link.start()
                for await status in link.statusUpdates where status.isConnected { break }
                if way == "kick" { for connection in server.connections { try await kick(connection) } } else { try await restart(server) }
                for await status in link.statusUpdates {
                    if case .stopped(why: .kicked(let error)) = status {
                        #expect(way == "kick" && error.message == "logged in elsewhere")
                        break
                    }
                    if case .waiting(for: let delay, why: .byServer) = status {
                        #expect(way == "restart" && delay >= .seconds(5) && delay <= .seconds(15))
                        break
                    }
                }
                await link.stop()
                await server.shutdown(within: .seconds(1))
                try await running
            }
        }
    }
}

/// Credentials that are fresh each time.
private actor Tokens {
    private(set) var count = 0
    func next() -> String {
        count += 1
        return "\(count)"
    }
}
