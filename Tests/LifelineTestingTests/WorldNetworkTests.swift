import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite struct WorldNetworkTests {
    @Test(arguments: 1...10)
    func `an echo server and its clients live in one world`(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let server = try await Server.bind(.inMemory("echo"), codec: .lines, on: world.network)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { connection in
                        while let line = try await connection.next() { try await connection.send(line) }
                    }
                }
                try await withThrowingTaskGroup { clients in
                    for index in 0..<10 {
                        clients.addTask {
                            let client = try await Connection.connect(to: .inMemory("echo"), codec: .lines, on: world.network)
                            for number in 0..<20 {
                                try await client.send("\(index): \(number)")
                                #expect(try await client.next() == "\(index): \(number)")
                            }
                            #expect(await client.close())
                        }
                    }
                    try await clients.waitForAll()
                }
                #expect(await server.shutdown())
                try await group.waitForAll()
            }
            #expect(world.now == .zero)
        }
    }
}
