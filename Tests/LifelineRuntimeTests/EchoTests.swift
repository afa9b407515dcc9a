import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("The path of a byte")
struct EchoTests {
    @Test("frames go forth and back, in order, and the end is clean on both sides")
    func echo() async throws {
        try await simulate(seed: 1) { world in
            let server = try await Server.bind(.inMemory("echo"), codec: .lines, on: world.network)
            async let running: Void = server.run { connection in
                while let line = try await connection.next() { try await connection.send(line) }
            }
            let connection = try await Connection.connect(to: .inMemory("echo"), codec: .lines, on: world.network)
            for number in 0..<100 { try await connection.send("line \(number)") }
            for number in 0..<100 { #expect(try await connection.next() == "line \(number)") }
            try await connection.send("last")
            #expect(try await connection.next() == "last")
            #expect(await connection.close())
            #expect(connection.closeReason == .closedHere)
            #expect(await server.shutdown())
            try await running
        }
    }
}
