import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

@Suite("A message that its reader refuses", .timeLimit(.minutes(1)))
struct RefusedMessageTests {
    @Test("what arrives before the loop has heard of it is dropped, and holds nobody up", arguments: [1, 3, 4, 5, 50])
    func arrivesMeanwhile(lines: Int) async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inboxFrames = 4
            let (peer, connection) = try await world.connection(LineCodec(), far: options)
            // As a reader on another thread does, whose call to the loop waits behind what has arrived.
            connection.inbox.fail(SocketError(.invalidBody, "no number"))
            for _ in 0..<2 {
                try await peer.write(Bytes(String(repeating: "x\n", count: lines)))
                await world.settle()
            }
            connection.core.loop.run { connection.core.violated(SocketError(.invalidBody, "no number")) }
            try await peer.finishSending()
            #expect(await connection.close())
            await expectError(.invalidBody) { try await connection.next() as Any }
        }
    }
}
