// snippet: test
import Lifeline
import LifelineTesting
import Testing

@Test func silentClientsAreLetGo() async throws {
    try await simulate { world in
        let chat = try await Chat(at: .inMemory("chat"), on: world.network)
        async let running: Void = chat.run()

        let client = try await Connection.connect(to: .inMemory("chat"), codec: .lines, on: world.network)
        try await client.send("hello")
        #expect(try await client.next() == "hello")

        try await world.advance(by: .seconds(301))  // Takes no time.
        #expect(try await client.next() == nil)

        await chat.server.shutdown(within: .seconds(1))
        try await running
    }
}
// end
