import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Requests and their answers")
struct RequestTests {
    private struct NoNumber: Error {}

    private static let seeds: ClosedRange<UInt64> = 1...10

    @Test("many at once from several tasks, answered out of order, each get their own; pushes reach `messages`", arguments: seeds)
    func many(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let pair = try await world.requesting()
            async let serving: Void = {
                var held: [RequestPacket] = []
                var random = world.random
                while let request = try await pair.server.next() {
                    held.append(request)
                    guard held.count == 50 else { continue }
                    held.shuffle(using: &random)
                    for request in held {
                        if request.header.serial % 10 == 0 { try await pair.server.push("push") }
                        try await pair.server.answer(request)
                    }
                    held = []
                }
            }()
            try await withThrowingTaskGroup { group in
                for number in 0..<500 {
                    group.addTask(executorPreference: world.loops[number % 3].tasks) {
                        let answer = try await pair.client.ask("\(number)")
                        #expect(answer == "\(number)!")
                    }
                }
                try await group.waitForAll()
            }
            for _ in 0..<50 { #expect(try await pair.client.next()?.body == Bytes("push")) }
            #expect(await pair.client.hasNoRequests)
            #expect(await pair.client.info.requests?.answered == 500)
            await pair.client.close()
            try await serving
        }
    }

    @Test("C84: the answer is there before the send has returned; twice; to nobody", arguments: seeds)
    func early(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            let pair = try await world.requesting()
            async let serving: Void = {
                while let request = try await pair.server.next() { try await pair.server.answer(request) }
            }()
            for number in 1...100 { #expect(try await pair.client.ask("\(number)") == "\(number)!") }
            for serial: Int32 in [1, 1, 999] {
                try await pair.server.send(RequestPacket(header: RequestHeader(serial: serial, command: 7), body: Bytes("stray")))
            }
            try await pair.server.push("push")
            #expect(try await pair.client.next()?.body == Bytes("push"))
            let counts = await pair.client.info.requests
            #expect(counts == RequestCounts(due: 0, givenUp: 0, answered: 100, late: 0, unknown: 3))
            await pair.client.close()
            try await serving
        }
    }

    @Test("C82: a late answer reaches nobody, 10,000 times, and the table is empty")
    func late() async throws {
        try await simulate(seed: 82) { world in
            let pair = try await world.requesting()
            async let serving: Void = {
                // Pairs of requests: the first is answered too late, the second in time.
                while let first = try await pair.server.next() {
                    let second = try await pair.server.asked()
                    try await world.clock.sleep(for: .milliseconds(20))
                    try await pair.server.answer(first)
                    try await world.clock.sleep(for: .milliseconds(40))
                    try await pair.server.answer(second)
                }
            }()
            for round in 1...10_000 {
                let begun = world.now
                let first = await outcome { try await pair.client.ask("a\(round)", within: .milliseconds(50)) }
                #expect(first.socketError?.code == .timedOut && first.socketError?.phase == .answer)
                #expect(world.now - begun == .milliseconds(50))
                try await world.advance(by: .milliseconds(10))
                #expect(try await pair.client.ask("b\(round)", within: .milliseconds(100)) == "b\(round)!")
                #expect(world.now - begun == .milliseconds(120))
            }
            let counts = await pair.client.info.requests
            #expect(counts == RequestCounts(due: 0, givenUp: 0, answered: 10_000, late: 10_000, unknown: 0))
            await pair.client.close()
            try await serving
        }
    }

    @Test("serials wrap at Int32.max, and those still due are left out")
    func wrapping() async throws {
        try await simulate { world in
            let pair = try await world.requesting(.requestHeader, .serial(startingAt: .max - 1))
            async let answers = withThrowingTaskGroup { group in
                for number in 0..<4 {
                    group.addTask { try await pair.client.ask("\(number)") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            var serials: [Int32] = []
            for _ in 0..<4 {
                let request = try await pair.server.asked()
                serials.append(request.header.serial)
                try await pair.server.answer(request)
            }
            #expect(serials.sorted() == [1, 2, .max - 1, .max])
            #expect(try await answers.sorted() == ["0!", "1!", "2!", "3!"])
        }
    }

    @Test("C85: it ends at its limit; zero and less are over at once with nothing sent; no limit is written out")
    func limits() async throws {
        try await simulate { world in
            let pair = try await world.requesting()
            let asked = Log<String>()
            async let serving: Void = {
                while let request = try await pair.server.next() { asked.add(String(request.body)) }
            }()
            _ = await expectError(.timedOut, .answer) { try await pair.client.ask("a", within: .milliseconds(100)) }
            #expect(world.now == .milliseconds(100))
            _ = await expectError(.timedOut, .write) { try await pair.client.ask("b", within: .zero) }
            _ = await expectError(.timedOut, .write) { try await pair.client.ask("c", within: .seconds(-1)) }
            #expect(world.now == .milliseconds(100))
            let stop = OneShot<Void>()
            async let endless = outcome(cancelledBy: stop) { try await pair.client.ask("d", within: nil) }
            try await world.advance(by: .seconds(80_000))
            stop.succeed(())
            #expect(await endless.isCancelled)
            #expect(world.now == .milliseconds(80_000_100))
            #expect(asked.entries == ["a", "d"])
            #expect(await pair.client.info.requests?.givenUp == 2)
            await pair.client.close()
            try await serving
        }
    }

    @Test("each ends at its own limit, on one timer")
    func manyLimits() async throws {
        try await simulate { world in
            let pair = try await world.requesting()
            let before = world.loops.map(\.timerCount).reduce(0, +)
            try await withThrowingTaskGroup { group in
                for number in 0..<200 {
                    group.addTask {
                        let limit = Duration.milliseconds(1 + (number * 37 + 100) % 200)
                        _ = await expectError(.timedOut, .answer) { try await pair.client.ask("x", within: limit) }
                        #expect(world.now == limit)
                    }
                }
                await world.settle()
                #expect(world.loops.map(\.timerCount).reduce(0, +) == before + 1)
                try await group.waitForAll()
            }
            #expect(world.loops.map(\.timerCount).reduce(0, +) == before)
        }
    }

    @Test("as many as may be due: an error at once, and the others go on")
    func bound() async throws {
        try await simulate { world in
            let pair = try await world.requesting(.requestHeader, .serial(atMost: 2))
            async let first = pair.client.ask("a")
            async let second = pair.client.ask("b")
            let requests = [try await pair.server.asked(), try await pair.server.asked()]
            _ = await expectError(.tooManyRequests) { try await pair.client.ask("c") }
            for request in requests { try await pair.server.answer(request) }
            #expect(try await [first, second] == ["a!", "b!"])
            async let third = pair.client.ask("d")
            try await pair.server.answer(try await pair.server.asked())
            #expect(try await third == "d!")
        }
    }

    @Test("an answer that no message can be made of fails its request only")
    func badAnswer() async throws {
        try await simulate { world in
            let codec = RequestHeaderCodec().mapped(
                decode: { packet in
                    guard let number = Int(String(packet.body)) else { throw NoNumber() }
                    return Packet(header: packet.header, body: number)
                },
                encode: { (packet: Packet<RequestHeader, Int>) in
                    guard packet.body >= 0 else { throw SocketError(.unencodable, "negative") }
                    return Packet(header: packet.header, body: Bytes("\(packet.body)"))
                })
            let (stream, peer) = try await world.streams()
            let client = try await stream.framed(with: codec, pairing: .serial())
            let server = try await peer.framed(with: .requestHeader)
            async let serving: Void = {
                while let request = try await server.next() {
                    let text = String(request.body)
                    try await server.send(Packet(header: request.header, body: Bytes(text == "1" ? "one" : text)))
                }
            }()
            let header = RequestHeader(command: 7)
            async let second = client.request(Packet(header: header, body: 2), within: .seconds(3))
            _ = await expectError(.protocolViolation) { try await client.request(Packet(header: header, body: 1), within: .seconds(3)) }
            _ = await expectError(.unencodable) { try await client.request(Packet(header: header, body: -1), within: .seconds(3)) }
            #expect(try await second.body == 2)
            #expect(try await client.request(Packet(header: header, body: 3), within: .seconds(3)).body == 3)
            #expect(await client.hasNoRequests)
            await client.close()
            try await serving
        }
    }

    @Test("without a pairing it is a misuse, and answers are messages")
    func noPairing() async throws {
        try await simulate { world in
            let (client, peer) = try await world.streams()
            let connection = try await client.framed(with: .requestHeader)
            _ = await expectError(.misuse) { try await connection.ask("a") }
            #expect(await connection.info.requests == nil)
            let server = try await peer.framed(with: .requestHeader)
            try await server.send(RequestPacket(header: RequestHeader(serial: 5, command: 7), body: Bytes("b")))
            #expect(try await connection.next()?.header.serial == 5)
        }
    }
}
