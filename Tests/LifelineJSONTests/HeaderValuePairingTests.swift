import Lifeline
import LifelineTesting
import Testing

@Suite("Requests with their ids in a JSON header")
struct HeaderValuePairingTests {
    private struct Question: Codable, Sendable, Equatable {
        var text: String
    }

    @Test("answers find their requests by number or by digits, in whatever order; others are messages", arguments: UInt64(1)...5)
    func values(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let server = try await Server.bind(.inMemory("peer"), codec: .jsonHeader, on: world.network)
            async let running: Void = server.run { connection in
                var packets: [Packet<JSONHeader, Bytes>] = []
                while let packet = try await connection.next() {
                    packets.append(packet)
                    if packets.count == 3 { break }
                }
                try await connection.send(Packet(header: ["type": "push"], body: Bytes("push")))
                try await connection.send(Packet(header: ["call": "no id"], body: Bytes("odd")))
                for var packet in packets.reversed() {
                    let id = try #require(packet.header["call"]?.intValue)
                    if id % 2 == 0 { packet.header["call"] = .string("\(id)") }
                    try await connection.send(packet)
                }
                _ = try await connection.next()
            }
            let client = try await Connection.connect(
                to: .inMemory("peer"), codec: .jsonHeader, pairing: .headerValue("call"), on: world.network)
            try await withThrowingTaskGroup { group in
                for name in ["a", "b", "c"] {
                    group.addTask {
                        let request = Packet<JSONHeader, Bytes>(header: ["type": "ask"], body: Bytes(name))
                        let answer = try await client.request(request, within: .seconds(3))
                        #expect(answer.body == Bytes(name) && answer.header["type"] == "ask")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await client.next()?.body == Bytes("push"))
            #expect(try await client.next()?.body == Bytes("odd"))
            #expect(await client.info.requests?.answered == 3)
            await client.close()
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }

    @Test("bodies of a type; one that is none fails its request only")
    func typed() async throws {
        try await simulate { world in
            let server = try await Server.bind(.inMemory("peer"), codec: .jsonHeader, on: world.network)
            async let running: Void = server.run { connection in
                while var packet = try await connection.next() {
                    if packet.header["spoil"] == true { packet.body = Bytes("{") }
                    try await connection.send(packet)
                }
            }
            let client = try await Connection.connect(
                to: .inMemory("peer"), codec: JSONHeaderCodec().json(of: Question.self), pairing: .headerValue(), on: world.network)
            do {
                _ = try await client.request(Packet(header: ["spoil": true], body: Question(text: "?")), within: .seconds(3))
                Issue.record("no error")
            } catch let error as SocketError {
                #expect(error.code == .invalidBody)
            }
            let answer = try await client.request(Packet(header: [:], body: Question(text: "!")), within: .seconds(3))
            #expect(answer.body == Question(text: "!"))
            await client.close()
            await server.shutdown(within: .seconds(1))
            try await running
        }
    }
}
