import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

/// What passes from one connection of a link to the next owner of its stream or its inbox.
@Suite("From one connection of a link to another")
struct SuccessionTests {
    @Test("C48: an answer that the registration has given up waiting for is that of its request, not what stood unread before")
    func lateAnswer() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = Supervisor(endpoint: .inMemory("home"), codec: .lines, pairing: .inOrder(), on: world.network) { connection in
                await world.settle()
                _ = try? await connection.request("who?", within: .seconds(1))
            }
            await link.start()
            let peer = try await lobby.peer(0)
            try await peer.say("welcome")
            #expect(try await peer.line() == "who?")
            _ = await world.wait(for: link) { $0 == .connected }
            try await peer.say("you\nnews")
            #expect(try await link.next() == "welcome")
            #expect(try await link.next() == "news")
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("room in the inbox of an earlier run doesn't let the present connection read beyond its own")
    func earlierInbox() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var options = SupervisorOptions()
            options.connection.inboxFrames = 2
            let link = world.link(options: options)
            await link.start()
            try await lobby.peer(0).say("1\n2\n3")
            await world.settle()
            let earlier = RunReader(link.state)
            #expect(earlier.inbox.isPaused)
            await link.stop(within: .zero)
            await link.start()
            try await lobby.peer(1).say("4\n5\n6")
            await world.settle()
            let inbox = link.state.inbox
            #expect(inbox !== earlier.inbox && inbox.isPaused && inbox.addedFrames == 2)
            #expect(try await earlier.inbox.next() == nil)
            await world.settle()
            #expect(inbox.isPaused && inbox.addedFrames == 2)
            for line in ["1", "2", "4", "5", "6"] { #expect(try await link.next() == line) }
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("the answer to a ping that waits while the registration ends is sent all the same")
    func waitingPong() async throws {
        try await simulate { world in
            let lobby = Lobby(world, options: .slow)
            try await lobby.open()
            var options = SupervisorOptions()
            options.connection.socket.sendBuffer = 64
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: .lines, on: world.network,
                heartbeat: .answering { $0.hasPrefix("ping") ? $0.replacing("ping", with: "pong") : nil }, options: options
            ) { connection in
                try await connection.send(String(repeating: "x", count: 500))
                #expect(try await connection.next() == "ok")
            }
            await link.start()
            let peer = try await lobby.peer(0)
            await world.settle()
            try await peer.say("ping 1\nping 2\nping 3\nok")
            _ = await world.wait(for: link) { $0 == .connected }
            #expect(try await peer.line()?.count == 500)
            #expect(try await peer.line() == "pong 1")
            #expect(try await peer.line() == "pong 3")
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a message that puts nothing on the wire is written as soon as all before it is")
    func emptyMessage() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            let link = Supervisor(endpoint: .inMemory("home"), codec: .raw, on: world.network)
            let waiting = try link.post(Bytes())
            await link.start()
            let peer = try await lobby.peer(0)
            await world.settle()
            #expect(waiting.settled == .written)
            let empty = try link.post(Bytes())
            await world.settle()
            #expect(empty.settled == .written)
            await link.stop(within: .zero)
            await peer.close(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }
}
