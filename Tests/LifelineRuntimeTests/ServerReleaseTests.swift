import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("What a server keeps")
struct ServerReleaseTests {
    @Test("C131: a server that its own handler captures goes when run is over")
    func handlerThatCapturesItsServer() async throws {
        try await simulate { world in
            let released = try await runOnce(on: world.network)
            await world.settle()
            #expect(released() == nil)
        }
    }

    private func runOnce(on network: InMemoryNetwork) async throws -> () -> Server<LineCodec>? {
        let server = try await Server.bind(.inMemory("s"), codec: .lines, on: network)
        async let running: Void = server.run { _ in _ = server.connections }
        let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: network)
        #expect(try await client.next() == nil)
        await client.close()
        #expect(await server.shutdown())
        try await running
        return { [weak server] in server }
    }
}
