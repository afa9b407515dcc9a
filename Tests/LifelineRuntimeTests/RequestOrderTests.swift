import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Requests whose answers come in order")
struct RequestOrderTests {
    @Test("C48: one of three that are under way is cancelled; it throws at once, the others get their own", arguments: UInt64(1)...10)
    func cancelled(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let pair = try await world.requesting(.lines, .inOrder())
            let stop = OneShot<Void>()
            async let first = outcome(cancelledBy: stop) { try await pair.client.request("a", within: .seconds(3)) }
            #expect(try await pair.server.next() == "a")
            async let second = pair.client.request("b", within: .seconds(3))
            #expect(try await pair.server.next() == "b")
            async let third = pair.client.request("c", within: .seconds(3))
            #expect(try await pair.server.next() == "c")
            stop.succeed(())
            #expect(await first.isCancelled)
            #expect(world.now == .zero)
            try await world.advance(by: .milliseconds(50))
            for line in ["a!", "b!", "c!"] { try await pair.server.send(line) }
            #expect(try await second == "b!")
            #expect(try await third == "c!")
            #expect(await pair.client.info.requests == RequestCounts(due: 0, givenUp: 0, answered: 2, late: 1, unknown: 0))
            try await pair.server.send("push")
            #expect(try await pair.client.next() == "push")
        }
    }

    @Test("C48: the same with one that had its time")
    func expired() async throws {
        try await simulate { world in
            let pair = try await world.requesting(.lines, .inOrder())
            async let first = outcome { try await pair.client.request("a", within: .milliseconds(20)) }
            #expect(try await pair.server.next() == "a")
            async let second = pair.client.request("b", within: .seconds(3))
            #expect(try await pair.server.next() == "b")
            #expect(await first.socketError?.phase == .answer)
            for line in ["a!", "b!"] { try await pair.server.send(line) }
            #expect(try await second == "b!")
        }
    }

    @Test("tasks on several loops, a full outbox, cancelled ones between: everybody gets the own answer", arguments: UInt64(1)...10)
    func fullOutbox(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let options = ConnectionOptions.small(512) { $0.outbox = Marks(high: 300) }
            let pair = try await world.requesting(.lines, .inOrder(), options: options)
            async let serving: Int = {
                var count = 0
                while let line = try await pair.server.next() {
                    count += 1
                    if count % 5 == 0 { try await world.clock.sleep(for: .milliseconds(1)) }
                    try await pair.server.send(line + "!")
                }
                return count
            }()
            let padding = String(repeating: "x", count: 100)
            let cancelled = Log<Int>()
            try await withThrowingTaskGroup { group in
                for number in 0..<120 {
                    group.addTask(executorPreference: world.loops[number % 3].tasks) {
                        let stop = OneShot<Void>()
                        async let answer = outcome(cancelledBy: stop) { try await pair.client.request("\(number) \(padding)", within: nil) }
                        if number % 4 == 0 {
                            try await world.clock.sleep(for: .milliseconds(number % 16))
                            stop.succeed(())
                        }
                        let result = await answer
                        if number % 4 == 0, result.isCancelled {
                            cancelled.add(number)
                        } else {
                            #expect(try result.get() == "\(number) \(padding)!")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(cancelled.count > 0)
            // What was cancelled before it was encoded was never sent, and no answer to it is waited for.
            try await pair.client.finishSending()
            let sent = try await serving
            #expect(sent < 120)
            await world.settle()
            #expect(await pair.client.hasNoRequests)
            let counts = await pair.client.info.requests
            #expect(counts.map { Int($0.answered) } == 120 - cancelled.count)
            #expect(counts.map { Int($0.answered + $0.late) } == sent)
            #expect(counts?.unknown == 0)
        }
    }

    @Test("one that finds no place in the table when its turn has come holds up nobody behind it")
    func noPlaceInTurn() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(1024) { $0.outbox = Marks(high: 1) }
            let (stream, peer) = try await world.streams(options: options, peer: .slow)
            let client = try await stream.framed(with: .lines, pairing: .inOrder(atMost: 2))
            let big = String(repeating: "x", count: 10_000)
            async let first = client.request(big, within: nil)
            await world.settle()
            async let second = client.request("b", within: nil)
            await world.settle()
            async let third = outcome { try await client.request("c", within: nil) }
            await world.settle()
            async let sent: Void = client.send("d")
            await world.settle()
            let server = try await peer.framed(with: .lines)
            #expect(await third.socketError?.code == .tooManyRequests)
            try await sent
            for expected in [big, "b", "d"] {
                let line = try await server.next()
                #expect(line == expected)
            }
            for line in ["a!", "b!"] { try await server.send(line) }
            #expect(try await first == "a!")
            #expect(try await second == "b!")
        }
    }

    @Test("a request that can't be encoded leaves no place behind")
    func unencodable() async throws {
        try await simulate { world in
            let pair = try await world.requesting(.lines, .inOrder())
            _ = await expectError(.unencodable) { try await pair.client.request("two\nlines", within: .seconds(3)) }
            async let answer = pair.client.request("a", within: .seconds(3))
            try await pair.server.send(try #require(try await pair.server.next()) + "!")
            #expect(try await answer == "a!")
        }
    }

    @Test("frames that are no answers reach the reader, also between answers")
    func pushes() async throws {
        try await simulate { world in
            let pair = try await world.requesting(.lines, .inOrder { !$0.hasPrefix("*") })
            async let answer = pair.client.request("a", within: .seconds(3))
            #expect(try await pair.server.next() == "a")
            for line in ["* 1", "a!", "* 2", "nobody asked"] { try await pair.server.send(line) }
            #expect(try await answer == "a!")
            #expect(try await pair.client.next() == "* 1")
            #expect(try await pair.client.next() == "* 2")
            await world.settle()
            #expect(await pair.client.info.requests?.unknown == 1)
        }
    }
}
