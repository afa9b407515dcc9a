import Glibc
import LifelineCore
import LifelineSockets
import Testing

@testable import LifelineRuntime

/// The ends of connections through the kernel.
@Suite(.serialized) struct EndingTests {
    @Test(arguments: Way.allCases)
    func C30_theLastFramesBeforeACloseArrive(way: Way) async throws {
        try await bounded {
            for _ in 0..<20 {
                let link = try await link(framed, way)
                for number in 0..<5 { try await link.peer.write(frame("\(number)")) }
                async let closed = link.peer.close(within: outerLimit)
                // Everything is there before the first look.
                let connection = link.connection
                try await eventually { connection.closeReason != nil }
                var frames: [String] = []
                for try await frame in connection.messages { frames.append(String(frame)) }
                #expect(frames == ["0", "1", "2", "3", "4"])
                #expect(connection.closeReason == .closedByPeer)
                await connection.close()
                #expect(await closed)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func C32_whatWasSentBeforeACloseArrivesWhole(way: Way) async throws {
        try await bounded {
            let link = try await link(framed, way, options: .small(), peer: .deaf)
            let (connection, peer) = (link.connection, link.peer)
            let large = counted(1 << 20)
            try await connection.send(large)
            let isClosed = Mailbox<Bool>()
            async let closing: Void = isClosed.put(await connection.close(within: outerLimit))
            var received: [UInt8] = []
            while let some = try await peer.read(atMost: 8192) {
                some.withUnsafeBytes { received.append(contentsOf: $0) }
                #expect(isClosed.count == 0)
            }
            #expect(received.count == 4 + large.count)
            expectSame(Bytes(received.dropFirst(4)), large)
            await peer.close()
            #expect(try await isClosed.next())
            await closing
        }
    }

    @Test(arguments: Way.allCases)
    func C33_aCloseEndsAtItsLimitWhenThePeerDoesNotRead(way: Way) async throws {
        try await bounded {
            let options = ConnectionOptions.small { $0.outbox = Marks(high: 16_384) }
            let link = try await link(framed, way, options: options, peer: .deaf)
            let connection = link.connection
            let transport = try #require(connection.core.transport as? SocketTransport)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    await expectError(.closed) { while true { try await connection.send(counted(1000)) } }
                }
                try await eventually { connection.core.outbox.waitingSenders == 1 }
                #expect(await connection.close(within: .milliseconds(300)) == false)
                #expect(try await transport.loop.perform { transport.descriptor } < 0)
                try await group.waitForAll()
            }
            #expect(try await connection.next() == nil)
            #expect(connection.closeReason == .closedHere)
            // What was lost is told, where the kernel can.
            if way == .tcp { await expectError(.reset) { try await link.peer.readAll() } }
            await link.peer.close()
        }
    }

    @Test(arguments: Way.allCases, Ending.allCases)
    func C35_C39_eachWayToEndIsOneEndWithItsReason(way: Way, ending: Ending) async throws {
        for _ in 0..<10 {
            try await bounded {
                let link = try await link(framed, way, options: ending.options)
                let connection = link.connection
                let ends = Mailbox<CloseReason?>()
                let core = connection.core
                try await core.loop.perform {
                    let tell: @Sendable () -> Void = { ends.put(connection.closeReason) }
                    if core.machine.phase == .closed { tell() } else { core.onClosed = tell }
                }
                // Its limit is too short for anything else.
                if ending != .idleLimit {
                    try await link.peer.write(frame("before"))
                    #expect(try await connection.next().map(String.init) == "before")
                }
                try await ending.happen(to: link)
                let reason = try #require(connection.closeReason)
                #expect(ending.isRight(reason, way), "\(ending): \(reason)")
                try await Self.expectEnded(connection, reason)
                #expect(try await ends.next() == reason)
                #expect(ends.count == 0)
                await link.peer.close(within: .zero)
            }
        }
    }

    /// Everything answers at once, and always the same.
    private static func expectEnded(_ connection: Connection<LengthPrefixCodec>, _ reason: CloseReason) async throws {
        for _ in 0..<2 {
            if let error = reason.error {
                await expectError(error.code, error.phase) { try await connection.next() }
                await expectError(error.code, error.phase) { for try await _ in connection.messages {} }
            } else {
                #expect(try await connection.next() == nil)
                for try await _ in connection.batches { Issue.record("a frame behind the end") }
            }
            try await connection.finishSending()
            await connection.close()
            connection.closeNow()
            await expectError(.closed) { try await connection.send(Bytes("x")) }
            await expectError(.closed) { try await connection.send(Bytes("x"), within: .seconds(1)) }
            #expect(connection.closeReason == reason)
            let info = await connection.info
            #expect(info.framesReceived <= 1)
            #expect(info.remote != nil || info.local != nil)
        }
    }

    @Test(arguments: Way.allCases)
    func C35_twoSidesThatCloseAtOnce(way: Way) async throws {
        for _ in 0..<200 {
            try await bounded {
                let link = try await link(framed, way)
                try await link.connection.send(Bytes("over there"))
                async let mine = link.connection.close(within: outerLimit)
                async let theirs = link.peer.close(within: outerLimit)
                #expect(await mine)
                #expect(await theirs)
                #expect(link.connection.closeReason == .closedHere || link.connection.closeReason == .closedByPeer)
                #expect(try await link.connection.next() == nil)
            }
        }
    }

    @Test func C36_endingsAreToldApartWithoutReadingText() async throws {
        try await bounded {
            func failure(_ endpoint: Endpoint, within limit: Duration = outerLimit) async -> SocketError? {
                await #expect(throws: SocketError.self) {
                    try await Connection.connect(to: endpoint, codec: framed, on: network, within: limit)
                }
            }
            let refused = await failure(.tcp("127.0.0.1", Raw.refusedPort()))
            #expect(refused?.code == .refused)
            #expect(refused?.errno == ECONNREFUSED)
            #expect(await failure(.unix("/nonexistent/lifeline"))?.errno == ENOENT)

            let unknown = await failure(.tcp("no-such-host.invalid", 7))
            #expect(unknown?.code == .unknownHost)
            #expect(unknown?.cause is ResolverFailure)

            let hole = BlackHole()
            let silent = await failure(.tcp("127.0.0.1", hole.port), within: .milliseconds(100))
            #expect(silent?.code == .timedOut)
            #expect(silent?.phase == .connect)
            withExtendedLifetime(hole) {}

            let polite = try await link(framed)
            async let closed = polite.peer.close()
            #expect(try await polite.connection.next() == nil)
            #expect(polite.connection.closeReason == .closedByPeer)
            await polite.connection.close()
            #expect(await closed)

            let rude = try await link(framed)
            rude.peer.reset()
            let reset = await expectError(.reset) { try await rude.connection.next() }
            #expect(reset?.errno == ECONNRESET)

            let greedy = try await link(framed)
            try await greedy.peer.write([0x7F, 0xFF, 0xFF, 0xFF])
            await expectError(.frameTooLarge) { try await greedy.connection.next() }
            await greedy.peer.close(within: .zero)
        }
    }

    @Test(arguments: Way.allCases)
    func C39_sendingToAPeerThatHasGoneFailsAndTheReasonStays(way: Way) async throws {
        try await bounded {
            let link = try await link(framed, way)
            let connection = link.connection
            link.peer.closeNow()
            #expect(try await connection.next() == nil)
            // The kernel takes what it takes, until the peer's answer has come.
            await expectError(.closed) { while true { try await connection.send(Bytes("x")) } }
            #expect(connection.closeReason == .closedByPeer)
            #expect(try await connection.next() == nil)
            #expect(await connection.close() == false)
            await expectError(.closed) { try await connection.flush() }
        }
    }

    @Test(arguments: Way.allCases)
    func C40_acceptAndImmediateClose(way: Way) async throws {
        let place = Place(way)
        let server = try await Server.bind(place.endpoint, codec: .lines, on: peerNetwork, options: .quiet())
        try await serving(server, { $0.closeNow() }) {
            for _ in 0..<500 {
                try await bounded {
                    let client: Connection<LineCodec>
                    do {
                        client = try await Connection.connect(to: server.endpoint, codec: .lines, on: network)
                    } catch let error as SocketError {
                        #expect(error.code == .reset)
                        return
                    }
                    do {
                        try await client.send("hello")
                        #expect(try await client.next() == nil)
                    } catch let error as SocketError {
                        #expect(error.code == .reset || error.code == .closed)
                    }
                    #expect(client.closeReason != nil)
                    await client.close()
                }
            }
        }
        #expect(server.connections.isEmpty)
    }

    @Test(arguments: Way.allCases)
    func C41_aClientThatHalfClosesBeforeTheHandlerLooksIsHeard(way: Way) async throws {
        let gate = OneShot<Void>()
        let place = Place(way)
        let server = try await Server.bind(place.endpoint, codec: framed, on: peerNetwork)
        let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
            try await gate.value()
            #expect(try await connection.next().map(String.init) == "x")
            #expect(try await connection.next() == nil)
            try await connection.send(Bytes("still"))
        }
        try await serving(server, handler) {
            try await bounded {
                let client = try await Connection.connect(to: server.endpoint, codec: framed, on: network)
                try await client.send(Bytes("x"))
                try await client.finishSending()
                try await eventually { server.connections.first?.closeReason != nil }
                gate.succeed(())
                #expect(try await client.next().map(String.init) == "still")
                #expect(try await client.next() == nil)
                #expect(await client.close())
            }
        }
    }

    @Test(arguments: Way.allCases)
    func C42_aConnectionLivesOnInItsMessagesAlone(way: Way) async throws {
        try await bounded {
            weak var connection: Connection<LineCodec>?
            let (messages, peer) = try await {
                let link = try await link(.lines, way)
                connection = link.connection
                return (link.connection.messages, link.peer)
            }()
            try await peer.write(Bytes("a\nb\n"))
            var lines: [String] = []
            for try await line in messages {
                lines.append(line)
                #expect(connection != nil)
                if lines.count == 2 { try await peer.finishSending() }
            }
            #expect(lines == ["a", "b"])
            await peer.close()
        }
    }

    @Test(arguments: Way.allCases)
    func C42_whenEverythingIsDroppedThePeerGetsWhatWasSentAndTheEnd(way: Way) async throws {
        try await bounded {
            let peer = try await {
                let link = try await link(framed, way)
                try await link.connection.send(Bytes("last words"))
                return link.peer
            }()
            #expect(try await peer.readAll() == Array(frame("last words")))
            #expect(peer.closeReason == .closedByPeer)
            await peer.close()
        }
    }

    @Test(arguments: Way.allCases)
    func C42_theLastReferenceMayGoOnAnyThreadWhileEventsArrive(way: Way) async throws {
        for round in 0..<200 {
            try await bounded {
                let (box, peer) = try await {
                    let link = try await link(.lines, way)
                    return (Box(link.connection), link.peer)
                }()
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        do {
                            for number in 0..<100 {
                                try await peer.write(Bytes("\(number)\n"))
                                try await peer.flush()
                            }
                        } catch let error as SocketError {
                            #expect(error.code == .closed || error.code == .reset)
                        }
                    }
                    group.addTask {
                        for _ in 0..<(round % 17) { await Task.yield() }
                        box.drop()
                    }
                    try await group.waitForAll()
                }
                _ = try? await peer.readAll()
                #expect(peer.closeReason != nil)
                await peer.close()
            }
        }
    }
}

/// The ways to end.
enum Ending: CaseIterable, Sendable {
    case ownClose, ownCloseNow, peerClose, peerReset, cancelledOwner, violation, truncation, idleLimit, finishedBoth

    func isRight(_ reason: CloseReason?, _ way: Way) -> Bool {
        switch self {
        case .ownClose, .ownCloseNow, .cancelledOwner: reason == .closedHere
        case .peerClose, .finishedBoth: reason == .closedByPeer
        // A Unix socket has no reset.
        case .peerReset: way == .tcp ? reason?.error?.code == .reset : reason == .closedByPeer
        case .violation: reason?.error?.code == .frameTooLarge
        case .truncation: reason?.error?.code == .truncated
        case .idleLimit: reason?.error?.phase == .idle
        }
    }

    /// What a connection needs for it.
    var options: ConnectionOptions {
        var options = ConnectionOptions()
        if self == .idleLimit { options.idleLimit = .milliseconds(50) }
        return options
    }

    /// Brings the end about, until the connection's reader has seen it.
    func happen(to link: Link<LengthPrefixCodec>) async throws {
        let (connection, peer) = (link.connection, link.peer)
        async let peerClosed: Void = {
            _ = try? await peer.readAll()
            await peer.close(within: outerLimit)
        }()
        switch self {
        case .ownClose: #expect(await connection.close(within: outerLimit))
        case .ownCloseNow: connection.closeNow()
        case .peerClose: try await peer.finishSending()
        case .peerReset: peer.reset()
        case .cancelledOwner:
            await withTaskGroup { group in
                group.addTask {
                    _ = try? await connection.next()
                    await connection.close()
                }
                group.cancelAll()
            }
        case .violation: try await peer.write([0xFF, 0xFF, 0xFF, 0xFF])
        case .truncation:
            try await peer.write([0, 0])
            try await peer.finishSending()
        case .idleLimit: break
        case .finishedBoth:
            try await connection.finishSending()
            try await peer.finishSending()
        }
        _ = try? await connection.next()
        await connection.close(within: outerLimit)
        await peerClosed
    }
}
