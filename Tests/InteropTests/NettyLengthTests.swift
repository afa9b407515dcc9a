import Lifeline
import LifelineCore
import Testing

private enum NettyLayouts {
    /// By the names that the peer has for them. What Netty is given for each stands in the peer.
    static let all: [(name: String, layout: LengthLayout)] = [
        ("length1", LengthLayout(width: .one)),
        ("length2", LengthLayout(width: .two)),
        ("length3", LengthLayout(width: .three)),
        ("length4", LengthLayout()),
        ("length8", LengthLayout(width: .eight)),
        ("little2", LengthLayout(width: .two, order: .little)),
        ("little3", LengthLayout(width: .three, order: .little)),
        ("little4", LengthLayout(order: .little)),
        ("little8", LengthLayout(width: .eight, order: .little)),
        ("itself", LengthLayout(counts: .fieldAndPayload)),
        ("adjusted", LengthLayout(width: .two, adjustment: -10)),
        ("stripped", LengthLayout(offset: 4, trailing: 4)),
        ("kept", LengthLayout(width: .three, offset: 2, trailing: 1, keepsHeader: true)),
        ("whole", LengthLayout(width: .three, offset: 2, trailing: 1, counts: .wholeFrame, keepsHeader: true)),
    ]
}

/// This library's length prefixes and Netty's `LengthFieldBasedFrameDecoder` with `LengthFieldPrepender`.
@Suite(
    .enabled(if: PeerKind.netty.isTested, "Netty or a Java development kit isn't installed"), .timeLimit(.minutes(4)), .serialized,
    .javaClasses(.netty), .servers(.netty, NettyLayouts.all.map(\.name)))
struct NettyLengthTests {
    @Test("C01: this client's frames come back from a Netty server, cut and glued", arguments: NettyLayouts.all)
    func client(name: String, layout: LengthLayout) async throws {
        let codec = LengthPrefixCodec(layout: layout)
        let connection = try await Connection.connect(to: SharedServers.endpoint(name), codec: codec)
        try await connection.expectEcho(of: frames(for: layout))
        #expect(await connection.close(within: outerLimit))
    }

    /// An empty payload, each small size, every byte, and as much as the field or Netty's own limit of 128 KiB admits.
    private func frames(for layout: LengthLayout) throws -> [Bytes] {
        let longest =
            switch layout.width {
            case .one: 255
            case .two: 65535 + Swift.min(0, layout.adjustment)
            default: 131_072 - 16
            }
        let bytes = (0..<longest).map { UInt8(truncatingIfNeeded: $0) }
        let payloads = (0..<200).map { bytes[..<$0] } + [bytes[...], bytes[..<0], bytes[10..<20]]
        guard layout.keepsHeader else { return payloads.map { Bytes($0) } }
        // The header is part of the frame, so it is expected with the length in it.
        return payloads.map { payload in
            let number = payload.count + (layout.counts == .wholeFrame ? 6 : 0)
            let length = [number >> 16, number >> 8, number].map { UInt8(truncatingIfNeeded: $0) }
            return Bytes([0xCA, 0xFE] + length + [0x7E] + payload)
        }
    }

    @Test("C01: a Netty client's frames come back from this server, cut and glued, with every layout")
    func server() async throws {
        var servers: [(name: String, server: Server<LengthPrefixCodec>)] = []
        for (name, layout) in NettyLayouts.all { servers.append((name, try await bind(LengthPrefixCodec(layout: layout)))) }
        try await serving(servers.map(\.server), echo) {
            try await withConnecting(.netty, to: servers.map { ($0.name, $0.server.endpoint) }) { peer in
                let facts = try await peer.facts(2 * servers.count)
                for (name, _) in servers { #expect(facts.filter { $0.hasPrefix("\(name) ") } == ["\(name) SAME 203", "\(name) CLOSED"]) }
            }
        }
    }

    @Test(
        "Netty ends the connection for a length beyond its limit and one that doesn't cover itself",
        arguments: [("length4", "0001fffd"), ("length8", "8000000000000000"), ("itself", "00000003"), ("adjusted", "0009")])
    func refusedByPeer(name: String, bytes: String) async throws {
        let connection = try await Connection.connect(to: SharedServers.endpoint(name), codec: .raw)
        try await connection.send(Bytes(hex: bytes))
        let rest = await connection.rest()
        #expect(rest.frames.isEmpty && rest.error == nil)
        #expect(connection.closeReason == .closedByPeer)
    }

    @Test("A frame of Netty's beyond this side's limit is an error, after the frames before it")
    func refusedHere() async throws {
        let codec = LengthPrefixCodec(max: 1000, maxOutgoing: 2000)
        let connection = try await Connection.connect(to: SharedServers.endpoint("length4"), codec: codec)
        for count in [1, 1000, 1001] { try await connection.send(Bytes(Array(repeating: 7, count: count))) }
        let rest = await connection.rest()
        #expect(rest.frames.map(\.count) == [1, 1000])
        #expect((rest.error as? SocketError)?.code == .frameTooLarge)
    }
}
