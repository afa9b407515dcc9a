import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Heartbeats in virtual time")
struct HeartbeatTests {
    @Test("one-way, every 30, 50 and 180 s: the first after a period, or at once", arguments: [30, 50, 180], [false, true])
    func oneWay(period: Int, atOnce: Bool) async throws {
        try await simulate { world in
            let link = try await world.beating(.oneWay(every: .seconds(period), atOnce: atOnce, sending: "alive"))
            let first = atOnce ? 0 : period
            let expected = (0..<4).map { Heard("alive", .seconds(first + $0 * period)) }
            #expect(try await link.heard(4) == expected)
        }
    }

    @Test(
        "ping each 2 or 5 s, answer within 3 s: answered pings keep their times, and the first unanswered one ends it 3 s later",
        arguments: [2, 5])
    func pingPong(period: Int) async throws {
        try await simulate { world in
            let link = try await world.beating(.pings(every: .seconds(period), within: .seconds(3)))
            #expect(try await link.answer(20, after: .milliseconds(1500)) == (1...20).map { .seconds($0 * period) })
            await world.settle()
            #expect(await link.connection.info.roundTrip == .milliseconds(1500))
            #expect(link.connection.closeReason == nil)
            let (error, time) = await link.end()
            #expect(error?.code == .heartbeatMissed)
            #expect(time == .seconds(21 * period + 3))
            #expect(link.connection.closeReason?.mayRetry == true)
        }
    }

    @Test("an answer that takes longer than the period lets the next ping wait: one is out at a time")
    func slowAnswers() async throws {
        try await simulate { world in
            let link = try await world.beating(.pings(every: .seconds(2), within: .seconds(3)))
            let times = try await link.answer(4, after: .milliseconds(2500))
            #expect(times == [.seconds(2), .milliseconds(4500), .milliseconds(7000), .milliseconds(9500)])
        }
    }

    @Test("C59: a peer that falls silent is noticed after interval and limit")
    func silent() async throws {
        try await simulate { world in
            let link = try await world.beating(.pings(every: .milliseconds(100), within: .milliseconds(150)))
            try await link.answer(3)
            let (error, time) = await link.end()
            #expect(error?.code == .heartbeatMissed)
            #expect(time == .milliseconds(550))
        }
    }

    @Test("several misses are allowed if so set")
    func misses() async throws {
        try await simulate { world in
            let link = try await world.beating(.pings(every: .seconds(5), within: .seconds(3), misses: 3))
            let (error, time) = await link.end()
            #expect(error?.message.hasSuffix("3 times") == true)
            #expect(time == .seconds(18))
        }
    }

    @Test("C63: a dead peer's connection is closed at once, whatever still waits to be sent")
    func noPoliteClose() async throws {
        try await simulate { world in
            let link = try await world.beating(
                .pings(every: .seconds(1), within: .milliseconds(200)), options: .small(64) { $0.writeLimit = nil }, peer: .slow)
            // The kernel has taken the ping, and then takes nothing more.
            try await world.advance(by: .milliseconds(1100))
            try await link.connection.send(String(repeating: "x", count: 1000))
            let (error, time) = await link.end()
            #expect(error?.code == .heartbeatMissed)
            #expect(time == .milliseconds(1200))
            #expect(world.timerCount == 0)
        }
    }

    @Test("C65: after the end nothing beats, no timer is left, and the heartbeat is released", arguments: [0, 1, 2, 3])
    func released(state: Int) async throws {
        try await simulate { world in
            weak var driver: HeartbeatDriver<LineCodec>?
            do {
                let link = try await world.beating(.pings(every: .seconds(5), within: .seconds(3)))
                driver = link.connection.heartbeat
                switch state {
                case 0: break  // Before the first ping.
                case 1: try await world.advance(by: .seconds(6))  // A ping is out.
                case 2: try await link.answer(1)  // It was answered.
                default: try await link.peer.finishSending()  // The peer has ended.
                }
                await world.settle()
                let before = await link.connection.info.bytesSent
                if state < 3 {
                    link.connection.closeNow()
                    link.peer.closeNow()
                    await world.settle()
                    #expect(world.timerCount == 0)
                }
                try await world.advance(by: .seconds(500))
                #expect(await link.connection.info.bytesSent == before)
                if state == 3 { link.connection.closeNow() }
                await world.settle()
                #expect(world.timerCount == 0)
            }
            await world.settle()
            #expect(driver == nil)
            let anew = try await world.beating(.oneWay(every: .seconds(5), sending: "alive"), name: "anew")
            #expect(try await anew.heard(2) == [Heard("alive", .seconds(5)), Heard("alive", .seconds(10))])
        }
    }

    @Test("C65: a connection that nobody holds any more takes its heartbeat along")
    func dropped() async throws {
        try await simulate { world in
            weak var driver: HeartbeatDriver<LineCodec>?
            let peer: Connection<LineCodec>
            do {
                let link = try await world.beating(.oneWay(every: .seconds(5), atOnce: true, sending: "alive"))
                peer = link.peer
                driver = link.connection.heartbeat
                _ = try await link.heard(1)
            }
            #expect(try await peer.next() == nil)
            #expect(driver == nil)
        }
    }

    @Test("C66: settings that can't be meant are refused where the heartbeat is used, and nothing is left behind")
    func settings() async throws {
        try await simulate { world in
            let bad: [Heartbeat<LineCodec>] = [
                .oneWay(every: .zero, sending: "x"), .oneWay(every: .seconds(-1), sending: "x"), .pings(every: .zero, within: .seconds(1)),
                .pings(every: .seconds(1), within: .zero), .expectingAnswers(within: .zero),
                .oneWay(every: .seconds(1), sending: "x").and(.oneWay(every: .seconds(1), sending: "x")),
            ]
            for heartbeat in bad {
                await expectError(.invalidSetting) {
                    try await Server.bind(.inMemory("bad"), codec: .lines, on: world.network, heartbeat: heartbeat)
                }
                await expectError(.invalidSetting) {
                    try await Connection.connect(to: .inMemory("bad"), codec: .lines, on: world.network, heartbeat: heartbeat)
                }
            }
        }
    }

    @Test("C66: a limit that is shorter than the interval counts from the ping")
    func shortLimit() async throws {
        try await simulate { world in
            let link = try await world.beating(.pings(every: .seconds(10), within: .seconds(1)))
            #expect(try await link.answer(3, after: .milliseconds(900)) == [.seconds(10), .seconds(20), .seconds(30)])
            await world.settle()
            #expect(link.connection.closeReason == nil)
        }
    }

    @Test(
        "C68: foreign pongs don't answer a ping, though they count as life unless only pongs do; a repeated one does no harm",
        arguments: [true, false])
    func strays(anyByteCounts: Bool) async throws {
        try await simulate { world in
            let link = try await world.beating(
                .numberedPings(every: .seconds(1), within: .milliseconds(500), anyByteCounts: anyByteCounts))
            for _ in 0..<2 { try await link.peer.send("pong 1") }
            #expect(try await link.heard(1) == [Heard("ping 1", .seconds(1))])
            for _ in 0..<2 { try await link.peer.send("pong 1") }
            for _ in 0..<40 where link.peer.closeReason == nil {
                try await world.advance(by: .milliseconds(50))
                try? await link.peer.send("pong 4000")
            }
            await world.settle()
            #expect((link.connection.closeReason == nil) == anyByteCounts)
            if !anyByteCounts {
                let (error, _) = await link.end()
                #expect(error?.code == .heartbeatMissed)
            }
        }
    }

    @Test("any byte heard counts as life unless set otherwise", arguments: [true, false])
    func life(anyByteCounts: Bool) async throws {
        try await simulate { world in
            let link = try await world.beating(.pings(every: .seconds(5), within: .seconds(3), anyByteCounts: anyByteCounts))
            for _ in 0..<30 where link.peer.closeReason == nil {
                try await world.advance(by: .seconds(2))
                try? await link.peer.send("news")
            }
            await world.settle()
            #expect((link.connection.closeReason == nil) == anyByteCounts)
        }
    }

    @Test("a heartbeat waits until it is begun; the peer's pings are answered before")
    func held() async throws {
        try await simulate { world in
            let (stream, peer) = try await world.streams()
            let heartbeat = Heartbeat<LineCodec>.oneWay(every: .seconds(5), sending: "alive").and(
                .answering({ $0 == "ping" }, with: "pong"))
            let plan = try HeartbeatPlan(heartbeat)
            let connection = try await stream.framed(with: .lines, heartbeat: plan, isBegun: false)
            let far = try await peer.framed(with: .lines)
            try await world.advance(by: .seconds(60))
            try await far.send("ping")
            #expect(try await far.next() == "pong")
            let start = world.now
            await connection.beginHeartbeat()
            #expect(try await far.next() == "alive")
            #expect(world.now - start == .seconds(5))
        }
    }

    @Test("beats end with this side's sends, with a swap, and with a beat that can't be encoded")
    func ends() async throws {
        try await simulate { world in
            let half = try await world.beating(.oneWay(every: .seconds(5), sending: "alive"), name: "half")
            try await half.connection.finishSending()
            try await half.peer.send("still here")
            try await world.advance(by: .seconds(20))
            #expect(try await half.connection.next() == "still here")

            let swapped = try await world.beating(.oneWay(every: .seconds(5), sending: "alive"), name: "swapped")
            let other = try await swapped.connection.swap(to: LineCodec())
            try await world.advance(by: .seconds(20))
            try await other.send("other")
            #expect(try await swapped.peer.next() == "other")

            let broken = try await world.beating(.oneWay(every: .seconds(5), sending: "two\nlines"), name: "broken")
            let (error, time) = await broken.end()
            #expect(error?.code == .unencodable)
            #expect(time == .seconds(5))
        }
    }

    @Test("answers expected after each send: an answered one is fine, silence without a send too, an unanswered one ends it")
    func expecting() async throws {
        try await simulate { world in
            let link = try await world.beating(.expectingAnswers(within: .seconds(3)).and(.answering({ $0 == "ping" }, with: "pong")))
            try await link.connection.send("a")
            try await world.advance(by: .seconds(2))
            try await link.peer.send("A")
            #expect(try await link.connection.next() == "A")
            try await world.advance(by: .seconds(100))
            try await link.peer.send("ping")
            try await world.advance(by: .seconds(100))
            #expect(link.connection.closeReason == nil)
            let sent = link.time
            try await link.connection.send("b")
            let (error, time) = await link.end()
            #expect(error?.code == .heartbeatMissed)
            #expect(time - sent == .seconds(3))
        }
    }

    @Test("an answer is expected from when the kernel has all of a message, not the first of it")
    func expectingBehindTheKernel() async throws {
        try await simulate { world in
            let link = try await world.beating(
                .expectingAnswers(within: .seconds(3)), options: .small(64) { $0.writeLimit = .seconds(60) }, peer: .slow)
            try await link.connection.send("first")
            await world.settle()
            try await link.peer.send("answer")
            #expect(try await link.connection.next() == "answer")
            try await world.advance(by: .seconds(10))
            // The pipe holds a part of it.
            let sent = link.time
            try await link.connection.send(String(repeating: "x", count: 1000))
            let (error, time) = await link.end()
            #expect(error?.phase == .write && time - sent == .seconds(60), "\(String(describing: error)) \(time)")
        }
    }

    @Test("an answer that can't be encoded ends the connection behind what came before the ping")
    func brokenAnswer() async throws {
        try await simulate { world in
            let link = try await world.beating(.answering({ $0 == "ping" }, with: "two\nlines"))
            for line in ["a", "b", "ping", "c"] { try await link.peer.send(line) }
            #expect(try await link.connection.next() == "a")
            #expect(try await link.connection.next() == "b")
            #expect(try await link.connection.next() == "c")
            #expect(await link.end().error?.code == .unencodable)
        }
    }

    @Test("with jitter the beats of a fleet spread, never later than the period, and the same seed gives the same times")
    func fleet() async throws {
        @Sendable func times(_ seed: UInt64) async throws -> [Duration] {
            try await simulate(seed: seed) { world in
                try await withThrowingTaskGroup { group in
                    for number in 0..<40 {
                        let link = try await world.beating(.oneWay(every: .seconds(30), jitter: 0.5, sending: "alive"), name: "\(number)")
                        group.addTask { try await link.heard(1)[0].time }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
        }
        let first = try await times(1)
        #expect(try await times(1) == first)
        #expect(try await times(2) != first)
        #expect(first.allSatisfy { $0 <= .seconds(30) && $0 >= .seconds(15) })
        for third in 0..<3 {
            let share = first.filter { $0 >= .seconds(15 + 5 * third) && $0 <= .seconds(20 + 5 * third) }
            #expect((5...25).contains(share.count), "\(first)")
        }
    }

    @Test("a period that isn't in whole nanoseconds is met all the same")
    func fractions() async throws {
        try await simulate { world in
            let link = try await world.beating(.oneWay(every: .seconds(1) / 3, sending: "alive"))
            for (number, heard) in try await link.heard(3).enumerated() {
                let off = heard.time - .seconds(number + 1) / 3
                #expect(off >= .zero && off <= .nanoseconds(number + 1))
            }
        }
    }
}
