import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// Peers that end TLS, or begin it, in another way than they should. Python decides which bytes go to TCP and when.
@Suite(.enabled(if: PeerKind.tlsEnds.isTested, "Python isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct TLSEndTests {
    static let versions: [(String, TLSVersion)] = [("1.2", .tls12), ("1.3", .tls13)]
    static let frames = LengthPrefixCodec.lengthPrefixed(UInt32.self)

    /// What a handler saw of one connection.
    struct Sight: Sendable {
        let frames: [Bytes]
        let error: SocketError?
        let reason: CloseReason?
        let peerEnd: TLSInfo.PeerEnd?
    }

    /// A server in `mode` and this side's client.
    private func withServer<C: Codec>(
        _ mode: String, _ version: String, _ codec: C, within limit: Duration = outerLimit,
        body: (Connection<C>, Peer) async throws -> Void
    ) async throws {
        let words = [mode, version, TLSFile.certificate("server"), TLSFile.key("server")]
        try await withServing(.tlsEnds, words) { peer in
            try await body(Connection.secured(to: peer.endpoint, codec: codec, within: limit), peer)
        }
    }

    /// A client in `mode` and this side's server, whose handler reads to the end.
    private func withClient<C: Codec>(
        _ mode: String, _ version: String, _ codec: C, body: (Mailbox<Sight>, Peer) async throws -> Void
    ) async throws where C.Message == Bytes {
        let server = try await bindSecured(codec)
        let sights = Mailbox<Sight>()
        let handler: @Sendable (Connection<C>) async throws -> Void = { connection in
            sights.put(await Self.sight(of: connection))
        }
        try await serving(server, handler) {
            try await withConnecting(.tlsEnds, to: server.endpoint, [mode, version, TLSFile.authority]) { try await body(sights, $0) }
        }
    }

    private static func sight<C: Codec>(of connection: Connection<C>) async -> Sight where C.Message == Bytes {
        let rest = await connection.rest()
        return Sight(
            frames: rest.frames, error: rest.error as? SocketError, reason: connection.closeReason,
            peerEnd: await connection.info.tls?.peerEnd)
    }

    /// Tries `mode` in both roles, with what this side has seen in the end.
    private func inBothRoles<C: Codec>(
        _ mode: String, _ version: String, _ codec: C, check: (Sight) -> Void
    ) async throws where C.Message == Bytes {
        try await withServer(mode, version, codec) { connection, _ in check(await Self.sight(of: connection)) }
        try await withClient(mode, version, codec) { sights, _ in check(try await sights.next()) }
    }

    @Test("An end in good order, in the same segment as the last frame", arguments: versions)
    func clean(name: String, version: TLSVersion) async throws {
        try await inBothRoles("clean", name, Self.frames) { sight in
            #expect(sight.frames == [Bytes("frame 0")])
            #expect(sight.error == nil && sight.reason == .closedByPeer && sight.peerEnd == .closeNotify)
        }
    }

    @Test("C90: fifty frames, the notice and the end in one burst, for a reader that comes when all is over", arguments: versions)
    func burst(name: String, version: TLSVersion) async throws {
        let expected = (0..<50).map { Bytes("frame \($0)") }
        try await withServer("burst", name, Self.frames) { connection, peer in
            #expect(try await peer.fact().hasPrefix("SECURED"))
            try await eventually { connection.closeReason != nil }
            let sight = await Self.sight(of: connection)
            #expect(sight.frames == expected)
            #expect(sight.error == nil && sight.reason == .closedByPeer && sight.peerEnd == .closeNotify)
            // Its notice is answered.
            #expect(await connection.close(within: outerLimit))
            #expect(try await peer.fact() == "HEARD 0 NOTICE")
        }
        try await inBothRoles("burst", name, Self.frames) { sight in
            #expect(sight.frames == expected)
            #expect(sight.error == nil && sight.peerEnd == .closeNotify)
        }
    }

    @Test("C88: at the border of a frame an end that nobody has announced loses no data, and is told apart", arguments: versions)
    func atBorder(name: String, version: TLSVersion) async throws {
        try await inBothRoles("at-border", name, Self.frames) { sight in
            #expect(sight.frames == [Bytes("frame 0")])
            #expect(sight.error == nil && sight.reason == .closedByPeer && sight.peerEnd == .unannounced)
        }
    }

    @Test("C88: in the middle of a frame it is truncation", arguments: versions)
    func midFrame(name: String, version: TLSVersion) async throws {
        try await inBothRoles("mid-frame", name, Self.frames) { sight in
            #expect(sight.frames.isEmpty)
            #expect(sight.error?.code == .truncated && sight.peerEnd == .unannounced)
            #expect(sight.error?.pending?.received == 3 && sight.error?.pending?.expected == 7)
        }
    }

    @Test("C88: so it is where only the end says that all has arrived", arguments: versions)
    func framedByEnd(name: String, version: TLSVersion) async throws {
        try await inBothRoles("no-notice", name, RawCodec.raw) { sight in
            #expect(sight.frames == [Bytes("partial")])
            #expect(sight.error?.code == .truncated && sight.peerEnd == .unannounced)
        }
    }

    @Test("C88: of a stream of bytes, what arrived can be read, and then comes the error", arguments: versions)
    func byteStream(name: String, version: TLSVersion) async throws {
        let words = ["no-notice", name, TLSFile.certificate("server"), TLSFile.key("server")]
        try await withServing(.tlsEnds, words) { peer in
            let stream = try await ByteStream.connect(to: peer.endpoint, on: securedClient(), within: outerLimit)
            #expect(try await stream.read(exactly: 7, within: outerLimit) == Bytes("partial"))
            let error = try await failure { _ = try await stream.read(atMost: 1, within: outerLimit) }
            #expect(error.code == .truncated)
            #expect(await stream.info.tls?.peerEnd == .unannounced)
        }
    }

    @Test("A reset is a reset, behind what has arrived", arguments: versions)
    func reset(name: String, version: TLSVersion) async throws {
        try await withServer("rst", name, Self.frames) { connection, peer in
            let first = try await connection.frame()
            #expect(first == Bytes("frame 0"))
            peer.process.tell("go on")
            let sight = await Self.sight(of: connection)
            #expect(sight.frames.isEmpty)
            #expect(sight.error?.code == .reset)
            #expect(sight.peerEnd == TLSInfo.PeerEnd.none)
        }
        try await withClient("rst", name, Self.frames) { sights, peer in
            #expect(try await peer.facts(2).last == "SENT")
            peer.process.tell("go on")
            let sight = try await sights.next()
            #expect(sight.error?.code == .reset && sight.peerEnd == TLSInfo.PeerEnd.none)
        }
    }

    @Test("C89: a peer that never answers the notice is waited for until the limit, and no longer", arguments: versions)
    func ignoredNotice(name: String, version: TLSVersion) async throws {
        try await withServer("ignore-notice", name, Self.frames) { connection, peer in
            #expect(try await connection.frame() == Bytes("frame 0"))
            let start = referee.now
            #expect(await !connection.close(within: .milliseconds(200)))
            let time = start.duration(to: referee.now)
            #expect(time >= .milliseconds(200) && time < .seconds(20))
            // It has heard the notice, and then the end of TCP: this side's descriptor is gone.
            let facts = try await peer.facts(4)
            #expect(facts[1...2] == ["SENT", "HEARD 0 NOTICE"])
            #expect(facts[3] == "END" || facts[3].hasPrefix("ERROR"))
        }
        let server = try await bindSecured(
            Self.frames,
            options: {
                var options = ServerOptions()
                options.connection.lingerLimit = .milliseconds(200)
                return options
            }())
        try await serving(server, { _ = try await $0.frame() }) {
            try await withConnecting(.tlsEnds, to: server.endpoint, ["ignore-notice", name, TLSFile.authority]) { peer in
                let facts = try await peer.facts(4)
                #expect(facts[2] == "HEARD 0 NOTICE")
                try await eventually { server.connections.isEmpty }
            }
        }
    }

    @Test("C92: nothing is sent or delivered before this side's verdict, whatever the server has sent already", arguments: versions)
    func verdict(name: String, version: TLSVersion) async throws {
        let words = ["eager", name, TLSFile.certificate("server"), TLSFile.key("server")]
        let asked = Mailbox<TLSInfo>()
        let verdict = Mailbox<Bool>()
        let verify: @Sendable (TLSInfo) async throws -> Void = { info in
            asked.put(info)
            guard try await verdict.next() else { throw TLSError(TLSError.Kind("not today"), "this side's own reason") }
        }
        for isAccepted in [false, true] {
            try await withServing(.tlsEnds, words) { peer in
                async let outcome = Self.outcome(of: peer.endpoint, verify)
                #expect(try await asked.next().peerCertificates.first?.names.contains("localhost") == true)
                // Its frame is on the way, or here.
                #expect(try await peer.facts(2).last == "SENT")
                verdict.put(isAccepted)
                switch try await outcome {
                case .success(let connection):
                    #expect(isAccepted)
                    #expect(try await connection.frame() == Bytes("frame 0"))
                    try await connection.send(Bytes("answer"))
                    await connection.close(within: .milliseconds(100))
                    #expect(try await peer.fact().hasPrefix("HEARD 10 "))
                case .failure(let error):
                    #expect(!isAccepted)
                    #expect(error.code == .certificateRefused)
                    #expect([.refusedByVerifier, TLSError.Kind("not today")].contains(error.tls?.kind))
                    #expect(try await peer.fact().hasPrefix("HEARD 0 "))
                }
            }
        }
    }

    @Test("C92: no handler runs before this side's verdict, whatever the client has sent already", arguments: versions)
    func verdictOnClient(name: String, version: TLSVersion) async throws {
        for isAccepted in [false, true] {
            let asked = Mailbox<TLSInfo>()
            let verdict = Mailbox<Bool>()
            let errors = Mailbox<SocketError>()
            let server = try await bindSecured(Self.frames, errors: errors) { settings in
                settings.verify = { info in
                    asked.put(info)
                    guard try await verdict.next() else { throw TLSError(.refusedByVerifier, "not today") }
                }
            }
            let frames = Mailbox<Bytes?>()
            let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
                frames.put(try await connection.frame())
                try await connection.send(Bytes("answer"))
            }
            try await serving(server, handler) {
                try await withConnecting(.tlsEnds, to: server.endpoint, ["eager", name, TLSFile.authority]) { peer in
                    #expect(try await asked.next().peerCertificates.isEmpty)
                    #expect(try await peer.facts(2).last == "SENT")
                    verdict.put(isAccepted)
                    if isAccepted {
                        #expect(try await frames.next() == Bytes("frame 0"))
                        try await peer.expect("HEARD 10 NOTICE")
                    } else {
                        let error = try await errors.next()
                        #expect(error.code == .certificateRefused && error.tls?.kind == .refusedByVerifier)
                        #expect(try await peer.fact().hasPrefix("HEARD 0 "))
                    }
                }
            }
            frames.put(nil)
            #expect(try await frames.next() == nil, "a handler has run")
        }
    }

    private static func outcome(
        of endpoint: Endpoint, _ verify: @escaping @Sendable (TLSInfo) async throws -> Void
    ) async throws -> Result<Connection<LengthPrefixCodec>, SocketError> {
        do {
            return .success(try await Connection.secured(to: endpoint, codec: frames) { $0.verify = verify })
        } catch let error as SocketError {
            return .failure(error)
        }
    }
}
