import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("Heartbeats beside other traffic")
struct HeartbeatFlowTests {
    @Test("the peer's pings are answered while nobody reads, and heartbeat frames don't reach the reader")
    func answering() async throws {
        try await simulate { world in
            let link = try await world.beating(
                .answering { $0.hasPrefix("ping") ? $0.replacing("ping", with: "pong") : nil }.and(.dropping { $0 == "alive" }))
            for number in 1...5 {
                try await link.peer.send("ping \(number)")
                try await link.peer.send("news \(number)")
                try await link.peer.send("alive")
                #expect(try await link.peer.next() == "pong \(number)")
            }
            try await link.peer.finishSending()
            let read = try await link.connection.messages.reduce(into: []) { $0.append($1) }
            #expect(read == (1...5).map { "news \($0)" })
        }
    }

    @Test("a slow reader is not a dead peer: no ping and no verdict while reading is paused; then it goes on")
    func slowReader() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = 2
            let link = try await world.beating(.pings(every: .seconds(5), within: .seconds(3), anyByteCounts: false), options: options)
            try await world.advance(by: .milliseconds(5500))
            // A ping is out when the inbox fills; its pong stands behind.
            for line in ["1", "2", "3", "pong"] { try await link.peer.send(line) }
            try await world.advance(by: .seconds(600))
            #expect(link.connection.closeReason == nil)
            #expect(try await link.heard(1).map(\.line) == ["ping"])
            for line in ["1", "2", "3"] { #expect(try await link.connection.next() == line) }
            await world.settle()
            let resumed = link.time
            #expect(try await link.heard(1).map(\.line) == ["ping"])
            #expect(link.time - resumed <= .seconds(5))
            let (error, _) = await link.end()
            #expect(error?.code == .heartbeatMissed)
        }
    }

    @Test("after a pause a peer has its full limit")
    func fullLimitAfterPause() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = 1
            let link = try await world.beating(.pings(every: .seconds(5), within: .seconds(3), anyByteCounts: false), options: options)
            try await world.advance(by: .milliseconds(5500))
            try await link.peer.send("1")
            try await world.advance(by: .seconds(100))
            #expect(try await link.connection.next() == "1")
            let resumed = link.time
            let (error, time) = await link.end()
            #expect(error?.code == .heartbeatMissed)
            #expect(time - resumed == .seconds(3))
        }
    }

    @Test("while the outbox makes no progress the write limit decides, and only one ping waits in it")
    func fullOutbox() async throws {
        try await simulate { world in
            let link = try await world.beating(
                .pings(every: .seconds(2), within: .seconds(3)), options: .small(64) { $0.writeLimit = .seconds(60) }, peer: .slow)
            try await link.fillPipe()
            let waiting = link.connection.core.outbox.waitingBytes
            let (error, time) = await link.end()
            #expect(error?.code == .timedOut)
            #expect(error?.phase == .write)
            #expect(time == .seconds(60))
            #expect(waiting > 800)
        }
    }

    @Test("the limit for an answer counts from when the kernel took the ping, which passes the high mark")
    func answerLimit() async throws {
        try await simulate { world in
            let options = ConnectionOptions.small(64) {
                $0.writeLimit = nil
                $0.outbox = Marks(high: 100)
            }
            let link = try await world.beating(.pings(every: .seconds(2), within: .seconds(3)), options: options, peer: .slow)
            try await link.fillPipe()
            let before = link.connection.core.outbox.waitingBytes
            try await world.advance(by: .seconds(100))
            #expect(link.connection.core.outbox.waitingBytes == before + 5)
            // The peer reads all, but doesn't answer.
            #expect(try await link.heard(3).map(\.line.count) == [5, 1000, 4])
            let taken = link.time
            let (error, time) = await link.end()
            #expect(error?.code == .heartbeatMissed)
            #expect(time - taken == .seconds(3))
        }
    }

    @Test("a peer that takes little at a time isn't dead before the kernel has taken the ping")
    func trickle() async throws {
        try await simulate { world in
            let (stream, peer) = try await world.streams(options: .small(64), peer: .slow)
            let connection = try await stream.framed(with: .lines, heartbeat: .pings(every: .seconds(2), within: .seconds(3)))
            try await connection.send(String(repeating: "x", count: 1000))
            try await world.advance(by: .milliseconds(2500))
            var got: [UInt8] = []
            while !got.ends(with: "ping\n".utf8) {
                #expect(connection.closeReason == nil)
                guard let some = try await peer.read(atMost: 64) else { break }
                some.withUnsafeBytes { got.append(contentsOf: $0) }
                try await world.advance(by: .seconds(1))
            }
            #expect(got.count == 1006)
            #expect(world.now > .seconds(15))
            await expectError(.heartbeatMissed) { try await connection.next() }
        }
    }

    @Test("one-way beats that the kernel doesn't take are left out, not made up for")
    func oneWayFullOutbox() async throws {
        try await simulate { world in
            let link = try await world.beating(
                .oneWay(every: .seconds(5), sending: "alive"), options: .small(64) { $0.writeLimit = nil }, peer: .slow)
            try await link.fillPipe()
            try await world.advance(by: .seconds(102))
            #expect(try await link.heard(2).map(\.line.count) == [5, 1000])
            #expect(
                try await link.heard(3) == [
                    Heard("alive", .seconds(102)), Heard("alive", .seconds(107)), Heard("alive", .seconds(112)),
                ])
        }
    }

    @Test("of pings that come while the outbox is stuck the first and the newest are answered: one answer waits, and one is held")
    func manyPings() async throws {
        try await simulate { world in
            let link = try await world.beating(
                .answering { $0.hasPrefix("ping") ? $0.replacing("ping", with: "pong") : nil },
                options: .small(64) { $0.writeLimit = nil }, peer: .slow)
            try await link.fillPipe()
            let before = link.connection.core.outbox.waitingBytes
            for number in 1...200 { try await link.peer.send("ping \(number)") }
            await world.settle()
            #expect(await link.connection.info.framesReceived == 200)
            #expect(link.connection.core.outbox.waitingBytes == before + 7)
            #expect(try await link.heard(4).dropFirst(2).map(\.line) == ["pong 1", "pong 200"])
            try await link.peer.send("ping 201")
            #expect(try await link.heard(1).map(\.line) == ["pong 201"])
        }
    }

    @Test("a server answers pings and ends clients that say nothing; those that ping stay")
    func server() async throws {
        try await simulate { world in
            var options = ServerOptions()
            options.connection.idleLimit = .seconds(10)
            let errors = Notes<SocketError>()
            let server = try await Server.bind(
                .inMemory("server"), codec: .lines, on: world.network, options: options,
                heartbeat: .answering({ $0 == "ping" }, with: "pong"))
            try await serving(server) { connection in
                do {
                    while let line = try await connection.next() { Issue.record("\(line) reached the handler") }
                } catch let error as SocketError {
                    errors.add(error)
                }
            } while: {
                let pinging = try await Connection.connect(
                    to: .inMemory("server"), codec: .lines, on: world.network, heartbeat: .pings(every: .seconds(5), within: .seconds(3)))
                let silent = try await Connection.connect(to: .inMemory("server"), codec: .lines, on: world.network)
                let start = world.now
                #expect(try await silent.next() == nil)
                #expect(world.now - start == .seconds(10))
                try await world.advance(by: .seconds(300))
                #expect(pinging.closeReason == nil)
                #expect(errors.all == [SocketError(timedOut: .idle, after: .seconds(10))])
                await pinging.close()
            }
        }
    }

    @Test("a server's own pings find a dead client, behind a handshake, too")
    func serverPings() async throws {
        try await simulate { world in
            let errors = Notes<SocketError>()
            let server = try await Server.bind(
                .inMemory("server"), codec: .lines, on: world.network, heartbeat: .pings(every: .seconds(5), within: .seconds(3)),
                handshake: { _ = try await $0.read(exactly: 1) })
            try await serving(server) { connection in
                do { while try await connection.next() != nil {} } catch let error as SocketError { errors.add(error) }
            } while: {
                let client = try await ByteStream.connect(to: .inMemory("server"), on: world.network)
                try await world.advance(by: .seconds(20))
                try await client.write(Bytes("!"))
                await world.settle()
                let start = world.now
                while try await client.read(atMost: 100) != nil {}
                #expect(world.now - start == .seconds(8))
                await world.settle()
                #expect(errors.all.map(\.code) == [.heartbeatMissed])
            }
        }
    }

    @Test("each round trip is reported as it is measured")
    func roundTrips() async throws {
        try await simulate { world in
            let link = try await world.beating(.numberedPings(every: .seconds(5), within: .seconds(3)))
            let measured = Notes<Duration>()
            await link.connection.onRoundTrip { measured.add($0) }
            for milliseconds in [10, 200, 2999] { try await link.answer(1, after: .milliseconds(milliseconds)) }
            await world.settle()
            #expect(measured.all == [.milliseconds(10), .milliseconds(200), .milliseconds(2999)])
            link.connection.closeNow()
            await world.settle()
            #expect(await link.connection.info.roundTrip == .milliseconds(2999))
        }
    }
}

extension Array<UInt8> {
    fileprivate func ends(with end: some Collection<UInt8>) -> Bool { suffix(end.count).elementsEqual(end) }
}
