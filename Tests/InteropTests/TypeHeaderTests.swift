import Lifeline
import LifelineCore
import Testing

/// Packets between garbage, with a server and a client on Node.js.
@Suite(.enabled(if: PeerKind.typeHeaders.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct TypeHeaderTests {
    private static func packet(_ mainType: Int32, _ subType: Int32 = TypeHeader.noSubType, count: Int) -> Packet<TypeHeader, Bytes> {
        Packet(
            header: TypeHeader(mainType: mainType, subType: subType),
            body: Bytes(Array(repeating: UInt8(truncatingIfNeeded: count), count: count)))
    }

    @Test("Packets are found behind a server's garbage, and each run of it is reported once with its size", arguments: [1, 2] as [UInt64])
    func client(seed: UInt64) async throws {
        try await withServing(.typeHeaders, ["echo", String(seed)]) { peer in
            let findings = Mailbox<Finding>()
            var options = ConnectionOptions()
            options.onFinding = { findings.put($0) }
            let connection = try await Connection.connect(to: peer.endpoint, codec: .typeHeader(), options: options)
            let packets = (0..<200).map { Self.packet($0, $0 - 9, count: Int($0) * 13 % 700) }
            try await connection.expectEcho(of: packets)
            try await connection.finishSending()
            #expect(try await connection.frame() == nil)
            #expect(connection.closeReason == .closedByPeer)
            for _ in packets {
                let finding = try await findings.next()
                #expect(finding.kind == .skippedBytes)
                #expect(try await peer.fact() == "GARBAGE \(finding.byteCount)", "seed \(seed)")
            }
        }
    }

    @Test("Packets are found behind a client's garbage", arguments: [1, 2] as [UInt64])
    func server(seed: UInt64) async throws {
        let server = try await bind(.typeHeader())
        try await serving(server, echo) {
            try await withConnecting(.typeHeaders, to: server.endpoint, ["echo", String(seed), "200"]) { peer in
                let facts = try await peer.facts(204).filter { !$0.hasPrefix("GARBAGE") }
                #expect(facts[0] == "SAME 200", "seed \(seed)")
                #expect(facts[1...].sorted() == ["0 CLOSED", "0 END", "0 FINISHED"], "seed \(seed)")
            }
        }
    }

    @Test("Garbage without an end ends the connection")
    func garbageOnly() async throws {
        let garbage = String(repeating: "ff", count: 20_000)
        try await withServing(.node, ["chunks", garbage, "stay"]) { peer in
            let connection = try await Connection.connect(to: peer.endpoint, codec: .typeHeader(budget: 10_000))
            let rest = await connection.rest()
            #expect(rest.frames.isEmpty)
            #expect((rest.error as? SocketError)?.code == .protocolViolation)
        }
    }
}
