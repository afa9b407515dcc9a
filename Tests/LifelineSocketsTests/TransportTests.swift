import CLifelineSystem
import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

struct TransportTests {
    @Test func bytesGoBothWaysAndTheEndIsSeen() async throws {
        let pair = try await Pair()
        let server = try await Stream(pair.server, echo: true)
        let client = try await Stream(pair.client)
        for round in 0..<100 {
            client.send("hello \(round)")
            let text = "hello \(round)"
            #expect(try await client.read(text.utf8.count) == Array(text.utf8))
        }
        try await client.finishSending()
        guard case .ended(.closedByPeer) = try await server.news.next() else {
            Issue.record("the server saw another end")
            return
        }
        try await server.finishSending()
        #expect(try await client.rest().reason == .closedByPeer)
        await pair.close()
    }
}
