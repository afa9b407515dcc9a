import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("Messages of a link")
struct SupervisorMessageTests {
    @Test("C80: one long stream over two deaths of the server; the older connection's messages come first, and a stop ends the loop")
    func stream() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link()
            let messages = link.messages
            await link.start()
            for number in 0..<3 {
                let peer = try await lobby.peer(number)
                try await peer.say("\(number) a\n\(number) b")
                await world.settle()
                if number < 2 { peer.reset() } else { try await peer.say("last") }
            }
            async let stopping: Void = {
                try await world.advance(by: .seconds(5))
                await link.stop(within: .zero)
            }()
            var seen: [String] = []
            for try await message in messages { seen.append(message) }
            #expect(seen == ["0 a", "0 b", "1 a", "1 b", "2 a", "2 b", "last"])
            try await stopping
        }
    }

    @Test("C80: messages of a later run don't get into an earlier loop, and none is lost")
    func runs() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link()
            await link.start()
            var earlier = link.messages.makeAsyncIterator()
            try await lobby.peer(0).say("one\ntwo\nthree")
            #expect(try await earlier.next() == "one")
            await world.settle()
            await link.stop(within: .zero)
            #expect(try await earlier.next() == "two")
            await link.start()
            try await lobby.peer(1).say("four")
            await world.settle()
            #expect(try await earlier.next() == nil)
            #expect(try await link.next() == "three")
            #expect(try await link.next() == "four")
            await link.stop(within: .zero)
            await lobby.kill()
        }
    }

    @Test("a slow reader: the bounds hold over all connections, and the order is kept", arguments: 1...10)
    func slowReader(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var options = SupervisorOptions()
            options.connection.inboxFrames = 10
            let link = world.link(options: options)
            await link.start()
            for number in 0..<3 {
                let peer = try await lobby.peer(number)
                try await peer.say((0..<8).map { "\(number * 8 + $0)" }.joined(separator: "\n"))
                try await world.advance(by: .seconds(20))
                #expect(link.state.inbox.addedFrames - link.state.inbox.takenFrames <= 11)
                if number == 0 { peer.reset() }
                if number == 1 { break }
            }
            for number in 0..<16 { #expect(try await link.next() == "\(number)") }
            try await lobby.peer(1).say("more")
            #expect(try await link.next() == "more")
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a slow reader: what a registration leaves unread stays within the bounds of all connections")
    func slowReaderAndRegistrations() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var options = SupervisorOptions()
            options.connection.inboxFrames = 10
            let link = world.link(options: options) { connection in
                #expect(try await connection.next() == "welcome")
                try await world.advance(by: .seconds(1))
            }
            await link.start()
            let first = try await lobby.peer(0)
            try await first.say((["welcome"] + (0..<6).map { "\($0)" }).joined(separator: "\n"))
            try await world.advance(by: .seconds(2))
            first.reset()
            try await lobby.peer(1).say((["welcome"] + (6..<40).map { "\($0)" }).joined(separator: "\n"))
            try await world.advance(by: .seconds(2))
            #expect(link.status == .connected)
            #expect(link.state.inbox.addedFrames - link.state.inbox.takenFrames == 10)
            for number in 0..<40 { #expect(try await link.next() == "\(number)") }
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    /// Lines that are whole numbers, as the task finds out.
    private struct Numbers: Codec {
        func makeDecoder() -> LineCodec { .lines }
        func makeEncoder() -> LineCodec { .lines }
        func message(from frame: String) throws -> Int {
            guard let number = Int(frame) else { throw SocketError(.invalidBody, frame) }
            return number
        }
        func frame(for message: Int) -> String { "\(message)" }
    }

    @Test("a frame that no message can be made of ends its own connection and no newer one")
    func invalidBody() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var policy = ReconnectPolicy.every(.seconds(1))
            policy.decide = { _ in .retry }
            let link = Supervisor(endpoint: .inMemory("home"), codec: Numbers(), on: world.network, reconnect: policy)
            await link.start()
            try await lobby.peer(0).say("1\nx\n2")
            await world.settle()
            try await lobby.peer(0).reset()
            try await lobby.peer(1).say("3\ny\n4")
            await world.settle()
            #expect(try await link.next() == 1)
            await expectError(.invalidBody) { try await link.next() as Any }
            await world.settle()
            #expect(link.status == .connected)
            #expect(try await link.next() == 2)
            #expect(try await link.next() == 3)
            await expectError(.invalidBody) { try await link.next() as Any }
            await world.settle()
            guard case .waiting(_, why: .protocolViolation) = link.status else {
                Issue.record("\(link.status)")
                return
            }
            #expect(try await link.next() == 4)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("every reader of updates sees the present status first, and beyond 64 the oldest merge")
    func updates() async throws {
        try await simulate { world in
            let link = world.link(reconnect: .every(.seconds(1)))
            let early = link.statusUpdates
            await link.start()
            try await world.advance(by: .milliseconds(99_500))
            let late = link.statusUpdates
            await link.stop()
            var seen: [LinkStatus] = []
            for await status in early {
                seen.append(status)
                if status.isStopped { break }
            }
            #expect(seen.count == 65 && seen.last == .stopped(why: .byUser(.user)))
            #expect(seen.first == .skipped(1 + 200 + 1 - 64))
            var after: [LinkStatus] = []
            for await status in late {
                after.append(status)
                if status.isStopped { break }
            }
            #expect(after.count == 2 && after[0].isWaiting)
            await world.expectQuiet()
        }
    }

    @Test("subscriptions: each reader has its own queue, over reconnects; the rest stays in the messages; a slow one delays nobody")
    func subscriptions() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = world.link { connection in _ = try await connection.next() }
            let even = link.subscribe { $0.hasSuffix("0") || $0.hasSuffix("2") }
            let slow = link.subscribe(upTo: 2) { $0.hasSuffix("0") || $0.hasSuffix("1") }
            let newest = link.subscribe(upTo: 2, whenFull: .dropOldest) { $0.hasSuffix("2") }
            await link.start()
            for number in 0..<3 {
                // They come glued to the registration's answer.
                try await lobby.peer(number).say("welcome\n\(number)0\n\(number)1\n\(number)2\n\(number)3")
                await world.settle()
                if number < 2 { try await lobby.peer(number).reset() }
            }
            for number in 0..<3 {
                #expect(try await even.next() == "\(number)0")
                #expect(try await even.next() == "\(number)2")
            }
            #expect(try await slow.next() == "00")
            #expect(try await slow.next() == "01")
            await expectError(.evicted) { try await slow.next() as Any }
            #expect(try await newest.next() == "12")
            #expect(try await newest.next() == "22")
            #expect(newest.dropped == 1 && even.dropped == 0 && slow.dropped == 1)
            // Once the slow one was let go, nobody wanted those.
            for expected in ["03", "11", "13", "21", "23"] { #expect(try await link.next() == expected) }
            async let waiting = even.next()
            await world.settle()
            await link.stop(within: .zero)
            #expect(try await waiting == nil)
            await lobby.kill()
            await world.expectQuiet()
        }
    }
}
