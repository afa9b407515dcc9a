import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("How requests end before they are answered")
struct RequestEndTests {
    enum Ending: CaseIterable {
        case peerCloses, peerBreaksOff, peerSendsGarbage, close, closeNow, idle, heartbeat, swap

        /// When it comes by itself.
        var time: Duration {
            switch self {
            case .idle: .seconds(60)
            case .heartbeat: .seconds(30)
            default: .zero
            }
        }
    }

    private static let pings = Heartbeat<RequestHeaderCodec>.pingPong(
        every: .seconds(20), answerWithin: .seconds(10), ping: Packet(header: RequestHeader(command: 1), body: [])
    ) { $0.header.command == 2 }

    @Test("C81: a hundred under way all throw promptly with the cause, and so does one begun after", arguments: Ending.allCases)
    func linkDrops(ending: Ending) async throws {
        try await simulate(seed: 81) { world in
            let options = ConnectionOptions.small(64 * 1024) { $0.idleLimit = .seconds(60) }
            let (stream, peer) = try await world.streams(options: options)
            let client = try await stream.framed(
                with: .requestHeader, pairing: .serial(), heartbeat: ending == .heartbeat ? Self.pings : .none)
            let begun = world.now
            try await withThrowingTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        let result = await outcome { try await client.ask("\(number)", within: .seconds(3600)) }
                        check(result.socketError, ending)
                        #expect(world.now - begun == ending.time)
                    }
                }
                await world.settle()
                #expect(await client.info.requests?.due == 100)
                switch ending {
                case .peerCloses: try await peer.finishSending()
                case .peerBreaksOff: peer.reset()
                case .peerSendsGarbage: try await peer.write(Bytes(repeatElement(0, count: 16)))
                case .close: group.addTask { await client.close() }
                case .closeNow: client.closeNow()
                case .idle, .heartbeat: break
                case .swap: _ = try await client.swap(to: .lines)
                }
                if ending == .close {
                    _ = try await peer.readAll()
                    try await peer.finishSending()
                }
                try await group.waitForAll()
            }
            check(await outcome { try await client.ask("after") }.socketError, ending)
            #expect(await client.hasNoRequests)
        }
    }

    private func check(_ error: SocketError?, _ ending: Ending) {
        #expect(error?.code == (ending == .swap ? .misuse : .closed))
        let cause = error?.cause as? SocketError
        switch ending {
        case .peerBreaksOff: #expect(cause?.code == .reset)
        case .peerSendsGarbage: #expect(cause?.code == .protocolViolation)
        case .heartbeat: #expect(cause?.code == .heartbeatMissed)
        case .idle: #expect(cause == SocketError(timedOut: .idle, after: .seconds(60)))
        case .peerCloses, .close, .closeNow, .swap: #expect(cause == nil)
        }
    }

    @Test("C49: of fifty under way ten are cancelled; forty get their own answers, late ones are dropped", arguments: UInt64(1)...10)
    func cancelled(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            let pair = try await world.requesting()
            let stop = OneShot<Void>()
            let gone = Log<Int>()
            try await withThrowingTaskGroup { group in
                for number in 0..<50 {
                    group.addTask(executorPreference: world.loops[number % 2].tasks) {
                        if number % 5 != 0 {
                            let answer = try await pair.client.ask("\(number)")
                            #expect(answer == "\(number)!")
                            return
                        }
                        let one = OneShot<Void>()
                        async let answer = outcome(cancelledBy: one) { try await pair.client.ask("\(number)") }
                        await world.settle()
                        one.succeed(())
                        #expect(await answer.isCancelled)
                        gone.add(number)
                        if gone.count == 10 { stop.succeed(()) }
                    }
                }
                var requests: [RequestPacket] = []
                for _ in 0..<50 { requests.append(try await pair.server.asked()) }
                try await stop.value()
                #expect(world.now == .zero)
                for request in requests { try await pair.server.answer(request) }
                try await group.waitForAll()
            }
            await world.settle()
            #expect(await pair.client.info.requests == RequestCounts(due: 0, givenUp: 0, answered: 40, late: 10, unknown: 0))
        }
    }

    @Test("one that waits for room sends nothing if it is cancelled, or at its limit; the next ones go on")
    func waitingForRoom() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(1024) { $0.outbox = Marks(high: 1) }
            let (stream, peer) = try await world.streams(options: options, peer: .slow)
            let client = try await stream.framed(with: .requestHeader, pairing: .serial())
            let big = String(repeating: "x", count: 10_000)
            async let first = client.ask(big, within: nil)
            await world.settle()
            let stop = OneShot<Void>()
            async let second = outcome(cancelledBy: stop) { try await client.ask("second") }
            async let third = outcome { try await client.ask("third", within: .seconds(1)) }
            async let fourth = client.ask("fourth", within: nil)
            await world.settle()
            #expect(await client.info.requests?.due == 4)
            stop.succeed(())
            #expect(await second.isCancelled)
            let error = await third.socketError
            #expect(error?.code == .timedOut && error?.phase == .write)
            #expect(await client.info.requests?.due == 2)
            let server = try await peer.framed(with: .requestHeader)
            for _ in 0..<2 { try await server.answer(try await server.asked()) }
            #expect(try await first == big + "!")
            #expect(try await fourth == "fourth!")
            #expect(await client.info.requests == RequestCounts(due: 0, givenUp: 0, answered: 2, late: 0, unknown: 0))
        }
    }

    @Test("while a slow reader has stopped all reading, answers wait behind what it hasn't read, and limits say so")
    func slowReader() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = 10
            let pair = try await world.requesting(options: options)
            async let served: Void = {
                for number in 0..<20 { try await pair.server.push("\(number)") }
                for _ in 0..<2 { try await pair.server.answer(try await pair.server.asked()) }
            }()
            let error = await outcome { try await pair.client.ask("a", within: .seconds(1)) }.socketError
            #expect(error?.phase == .answer)
            #expect(error?.message.contains("reading is paused") == true)
            async let answer = pair.client.ask("b", within: .seconds(3))
            async let messages = {
                var messages: [Bytes] = []
                while let message = try await pair.client.next() { messages.append(message.body) }
                return messages
            }()
            #expect(try await answer == "b!")
            try await served
            #expect(await pair.client.info.requests?.late == 1)
            await pair.server.close()
            #expect(try await messages == (0..<20).map { Bytes("\($0)") })
        }
    }

    @Test("requests go on, thousands of them, while pushes stay unread below the high mark")
    func unreadPushes() async throws {
        try await simulate { world in
            let pair = try await world.requesting()
            async let serving: Void = {
                for number in 0..<100 { try await pair.server.push("\(number)") }
                while let request = try await pair.server.next() { try await pair.server.answer(request) }
            }()
            for number in 0..<5000 { #expect(try await pair.client.ask("\(number)") == "\(number)!") }
            for number in 0..<100 { #expect(try await pair.client.next()?.body == Bytes("\(number)")) }
            await pair.client.close()
            try await serving
        }
    }

    @Test("after this side's half-close what was asked is answered, and no more is asked")
    func halfClose() async throws {
        try await simulate { world in
            let pair = try await world.requesting()
            async let answer = pair.client.ask("a")
            let request = try await pair.server.asked()
            try await pair.client.finishSending()
            #expect(try await pair.server.next() == nil)
            let late = await outcome { try await pair.client.ask("b") }
            #expect(late.socketError?.code == .closed)
            try await pair.server.answer(request)
            #expect(try await answer == "a!")
            #expect(await pair.client.hasNoRequests)
        }
    }

    @Test("answers that came before the peer's end are delivered before it")
    func answeredAtTheEnd() async throws {
        try await simulate { world in
            let pair = try await world.requesting()
            async let first = pair.client.ask("a")
            let request = try await pair.server.asked()
            async let second = outcome { try await pair.client.ask("b") }
            _ = try await pair.server.asked()
            try await pair.server.answer(request)
            await pair.server.close()
            #expect(try await first == "a!")
            #expect(await second.socketError?.code == .closed)
        }
    }

    @Test("a request keeps its connection alive, and nothing else does")
    func lifetime() async throws {
        try await simulate { world in
            let (stream, peer) = try await world.streams()
            let server = try await peer.framed(with: .requestHeader)
            async let answer = stream.framed(with: .requestHeader, pairing: .serial()).ask("a")
            let request = try await server.asked()
            try await world.advance(by: .seconds(2))
            try await server.answer(request)
            #expect(try await answer == "a!")
            #expect(try await server.next() == nil)
        }
    }
}
