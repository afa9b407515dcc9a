import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

/// What passes from one connection of a link to the next owner of its stream or its inbox.
@Suite("From one connection of a link to another")
struct SuccessionTests {
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
