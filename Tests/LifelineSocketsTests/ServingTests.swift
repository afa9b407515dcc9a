import CLifelineSystem
import Glibc
import LifelineCore
import LifelineSockets
import Testing

@testable import LifelineRuntime

/// Servers on real sockets.
@Suite(.serialized) struct ServingTests {
    private func connect(_ endpoint: Endpoint, options: ConnectionOptions = ConnectionOptions()) async throws -> Connection<LineCodec> {
        try await Connection.connect(to: endpoint, codec: .lines, on: network, within: outerLimit, options: options)
    }

    @Test(arguments: Way.allCases)
    func C119_aShutdownEndsAtItsLimitWhateverTheClientsDo(way: Way) async throws {
        let place = Place.toReturnTo(way)
        let server = try await Server.bind(
            place.endpoint, codec: framed, on: peerNetwork, options: .quiet { $0.connection.socket.sendBuffer = 4096 })
        let handler: @Sendable (Connection<LengthPrefixCodec>) async throws -> Void = { connection in
            while let frame = try await connection.next() {
                // Whoever says something is flooded.
                while !frame.isEmpty { try await connection.send(counted(100_000)) }
            }
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run(handler) }
            try await bounded {
                var idle: [Connection<LengthPrefixCodec>] = []
                for _ in 0..<20 {
                    idle.append(try await Connection.connect(to: server.endpoint, codec: framed, on: network))
                }
                let flooded = try await Connection.connect(to: server.endpoint, codec: framed, on: network)
                try await flooded.send(Bytes("x"))
                let deaf = try await Connection.connect(to: server.endpoint, codec: framed, on: network, options: .deaf)
                try await deaf.send(Bytes("x"))
                async let readAll: Int = {
                    var count = 0
                    do {
                        while try await flooded.next() != nil { count += 1 }
                    } catch let error as SocketError {
                        #expect([.reset, .truncated].contains(error.code), "\(error)")
                    }
                    return count
                }()
                try await eventually {
                    server.connections.count == 22 && server.connections.filter { $0.core.outbox.waitingSenders > 0 }.count > 0
                }
                #expect(await server.shutdown(within: .milliseconds(500)) == false)
                #expect(server.connections.isEmpty || server.connections.allSatisfy { $0.closeReason == .shuttingDown })
                for client in idle {
                    #expect(try await client.next() == nil)
                    await client.close()
                }
                #expect(try await readAll > 0)
                // The address is free.
                let second = try await Server.bind(server.endpoint, codec: .lines, on: peerNetwork)
                try await serving(second, echo) {
                    let client = try await self.connect(second.endpoint)
                    try await expectEcho("anew", on: client)
                    await client.close()
                }
                deaf.closeNow()
                flooded.closeNow()
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: Way.allCases)
    func C121_silentClientsAreGoneAtTheLimitAndHoldUpNobody(way: Way) async throws {
        let place = Place(way)
        let errors = Mailbox<SocketError?>()
        let server = try await Server.bind(
            place.endpoint, codec: .lines, on: peerNetwork,
            options: .quiet {
                $0.connection.firstFrameLimit = .milliseconds(1500)
                $0.onHandlerError = { errors.put($0 as? SocketError) }
            })
        try await serving(server, echo) {
            try await bounded {
                var silent: [ByteStream] = []
                for _ in 0..<50 { silent.append(try await ByteStream.connect(to: server.endpoint, on: network)) }
                try await silent[0].write(Bytes("drip"))
                let good = try await self.connect(server.endpoint)
                try await expectEcho("served", on: good)
                for stream in silent {
                    #expect(try await stream.read(atMost: 1) == nil)
                    await stream.close()
                }
                for _ in silent { #expect(try await errors.next()?.phase == .firstFrame) }
                try await expectEcho("still", on: good)
                #expect(server.connections.count == 1)
                await good.close()
            }
        }
    }

    @Test func C122_whatStandsAtAPathDecides() async throws {
        let folder = Folder()
        let path = folder.path + "/s"
        try await bounded {
            // a: left by a killed process.
            let stale = lls_socket(Int32(LLS_UNIX))
            var address = lls_address()
            _ = lls_make_unix_address(path, path.utf8.count, &address)
            #expect(lls_bind(stale, &address) == 0)
            close(stale)
            var careful = ServerOptions.quiet()
            careful.connection.socket.replaceStalePath = false
            await expectError(.addressInUse) {
                try await Server.bind(.unix(path), codec: .lines, on: peerNetwork, options: careful)
            }
            let server = try await Server.bind(.unix(path), codec: .lines, on: peerNetwork)
            try await serving(server, echo) {
                // b: a live server.
                await expectError(.addressInUse) { try await Server.bind(.unix(path), codec: .lines, on: peerNetwork) }
                let client = try await self.connect(.unix(path))
                try await expectEcho("alive", on: client)
                await client.close()
            }
            // e: the file is gone after a shutdown.
            #expect(!Folder.holds(path))
            // c: lengths.
            for (length, fits) in [(107, true), (108, false), (200, false)] {
                let long = folder.path(ofLength: length)
                if fits {
                    let server = try await Server.bind(.unix(long), codec: .lines, on: peerNetwork)
                    #expect(server.endpoint == .unix(long))
                    await server.shutdown()
                } else {
                    await expectError(.invalidEndpoint) { try await Server.bind(.unix(long), codec: .lines, on: peerNetwork) }
                }
                #expect(!Folder.holds(long))
            }
            // d: a plain file.
            let file = open(path, O_CREAT | O_WRONLY, 0o600)
            close(file)
            await expectError(.addressInUse) { try await Server.bind(.unix(path), codec: .lines, on: peerNetwork) }
            #expect(Folder.holds(path))
        }
    }

    @Test func C122_aServerThatIsDroppedTakesItsFileAlong() async throws {
        let folder = Folder()
        let path = folder.path + "/s"
        do {
            _ = try await Server.bind(.unix(path), codec: .lines, on: peerNetwork)
        }
        try await eventually { !Folder.holds(path) }
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: Way.allCases)
    func C124_aSlowClientHoldsUpNoBroadcast(way: Way) async throws {
        let (clients, batches, size) = (50, 20, 50)
        let place = Place(way)
        let server = try await Server.bind(
            place.endpoint, codec: framed, on: peerNetwork,
            options: .quiet {
                // Two batches fit: the one before may be in the kernel and not counted as such yet.
                $0.connection.socket.sendBuffer = 65_536
                $0.connection.outbox = Marks(high: 131_072)
            })
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run { while try await $0.next() != nil {} } }
            let received = Mailbox<Int>()
            let deaf = try await Connection.connect(to: server.endpoint, codec: framed, on: network, options: .deaf)
            for _ in 1..<clients {
                let client = try await Connection.connect(to: server.endpoint, codec: framed, on: network)
                group.addTask {
                    var count: UInt32 = 0
                    while let frame = try await client.next() {
                        #expect(frame.withUnsafeBytes { $0.load(as: UInt32.self) } == count)
                        count += 1
                        if count % UInt32(size) == 0 { received.put(Int(count)) }
                    }
                    #expect(count == batches * size + 1)
                    await client.close()
                }
            }
            try await eventually { server.connections.count == clients }
            let filling = [UInt8](repeating: 7, count: 1020)
            var skipped = 0
            for batch in 0..<batches {
                for number in 0..<size {
                    let head = withUnsafeBytes(of: UInt32(batch * size + number)) { Array($0) }
                    let result = try await server.broadcast(Bytes(head + filling))
                    #expect(result.accepted >= clients - 1)
                    #expect(result.evicted == 0)
                    skipped += result.skipped
                }
                // The others have it all before the next batch: nobody was held up.
                for _ in 1..<clients { _ = try await received.next() }
            }
            #expect(skipped > 0)
            #expect(server.connections.allSatisfy { $0.core.outbox.waitingBytes <= 131_072 + 1028 })
            let last = withUnsafeBytes(of: UInt32(batches * size)) { Bytes(copying: $0) }
            let result = try await server.broadcast(last, slow: .evict(after: .milliseconds(50)))
            #expect(result.evicted == 1)
            #expect(result.accepted == clients - 1)
            await server.shutdown(within: outerLimit)
            deaf.closeNow()
            await #expect(throws: Never.self) { try await group.waitForAll() }
        }
    }

    @Test(arguments: Way.allCases)
    func oneConnectionTooManyIsToldSo(way: Way) async throws {
        let place = Place(way)
        let server = try await Server.bind(
            place.endpoint, codec: .lines, on: peerNetwork, options: .quiet { $0.maximumConnections = 3 }, tooBusy: "busy")
        try await serving(server, echo) {
            try await bounded {
                var served: [Connection<LineCodec>] = []
                for number in 0..<3 {
                    served.append(try await self.connect(server.endpoint))
                    try await expectEcho("\(number)", on: served[number])
                }
                for _ in 0..<5 {
                    let late = try await self.connect(server.endpoint)
                    #expect(try await late.next() == "busy")
                    #expect(try await late.next() == nil)
                    await late.close()
                }
                await served[0].close()
                try await eventually { server.connections.count == 2 }
                let next = try await self.connect(server.endpoint)
                try await expectEcho("free again", on: next)
                for client in served + [next] { await client.close() }
            }
        }
    }

    @Test func connectionsAndTheirHandlersAreDealtToTheLoops() async throws {
        let loops = EventLoops(count: 3)
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines, on: SystemNetwork(loops: loops))
        let served = Mailbox<ObjectIdentifier>()
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            while let line = try await connection.next() {
                #expect(connection.core.loop.isCurrent)
                try await connection.send(line)
                #expect(connection.core.loop.isCurrent)
                served.put(ObjectIdentifier(connection.core.loop))
            }
        }
        try await serving(server, handler) {
            try await bounded {
                var counts: [ObjectIdentifier: Int] = [:]
                for number in 0..<12 {
                    let client = try await self.connect(server.endpoint)
                    try await expectEcho("\(number)", on: client)
                    counts[try await served.next(), default: 0] += 1
                    await client.close()
                }
                #expect(Array(counts.values) == [4, 4, 4])
            }
        }
    }

    @Test func aConnectionKnowsItsRoundTrip() async throws {
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines, on: peerNetwork)
        try await serving(server, echo) {
            try await bounded {
                let client = try await self.connect(server.endpoint)
                try await expectEcho("x", on: client)
                let live = await client.info
                #expect(try #require(live.roundTrip) > .zero)
                #expect(live.remote == server.endpoint)
                #expect(live.bytesSent == 2 && live.bytesReceived == 2)
                #expect(live.framesSent == 1 && live.framesReceived == 1)
                await client.close()
                let ended = await client.info
                #expect(ended.roundTrip != nil)
                #expect(ended.local == live.local && ended.remote == live.remote)
            }
        }
        let unix = try await link(.lines, .unix)
        #expect(await unix.connection.info.roundTrip == nil)
        unix.connection.closeNow()
    }

    @Test func theSocketsSettingsAreAppliedOnBothSides() async throws {
        var options = ConnectionOptions()
        options.socket.keepAlive = SocketOptions.KeepAlive(idle: .seconds(11), interval: .seconds(3), count: 4)
        options.socket.userTimeout = .milliseconds(12_345)
        options.socket.interface = "lo"
        options.socket.sendBuffer = 10_000
        options.socket.receiveBuffer = 20_000
        let (near, far) = try await streams(options: options, peer: options)
        let (_, plain) = try await streams()
        let tcp = Int32(IPPROTO_TCP)
        for stream in [near, far] {
            let descriptor = try #require(stream.core.transport as? SocketTransport).descriptor
            #expect(Raw.option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1)
            #expect(Raw.option(descriptor, tcp, TCP_KEEPIDLE) == 11)
            #expect(Raw.option(descriptor, tcp, TCP_KEEPINTVL) == 3)
            #expect(Raw.option(descriptor, tcp, TCP_KEEPCNT) == 4)
            #expect(Raw.option(descriptor, tcp, TCP_USER_TIMEOUT) == 12_345)
            #expect(Raw.option(descriptor, tcp, TCP_NODELAY) == 1)
            // Linux doubles them.
            #expect(Raw.option(descriptor, SOL_SOCKET, SO_SNDBUF) == 20_000)
            #expect(Raw.option(descriptor, SOL_SOCKET, SO_RCVBUF) == 40_000)
        }
        let descriptor = try #require(near.core.transport as? SocketTransport).descriptor
        var name = [UInt8](repeating: 0, count: 16)
        var size = socklen_t(name.count)
        #expect(getsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, &name, &size) == 0)
        #expect(String(decoding: name.prefix { $0 != 0 }, as: UTF8.self) == "lo")
        let other = try #require(plain.core.transport as? SocketTransport).descriptor
        #expect(Raw.option(other, SOL_SOCKET, SO_KEEPALIVE) == 0)
        #expect(Raw.option(other, tcp, TCP_NODELAY) == 1)
        for stream in [near, far, plain] { stream.closeNow() }
    }

    @Test(arguments: Way.allCases)
    func broadcastsReachConnectionsOnAllLoopsInOrder(way: Way) async throws {
        let (clients, frames) = (12, 300)
        let place = Place(way)
        let server = try await Server.bind(place.endpoint, codec: .lines, on: SystemNetwork(loops: EventLoops(count: 4)))
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            while let line = try await connection.next() { try await connection.send(line) }
        }
        try await serving(server, handler) {
            try await bounded {
                try await withThrowingTaskGroup { group in
                    for number in 0..<clients {
                        let client = try await self.connect(server.endpoint)
                        group.addTask {
                            // Echoes of its own come in between, and some leave early.
                            var (next, echoes) = (0, 0)
                            while next < (number % 4 == 3 ? frames / 2 : frames) {
                                let line = try #require(try await client.next())
                                if line == "echo" {
                                    echoes += 1
                                } else {
                                    #expect(line == "\(next)")
                                    next += 1
                                    if next % 10 == 0 { try await client.send("echo") }
                                }
                            }
                            await client.close()
                        }
                    }
                    try await eventually { server.connections.count == clients }
                    // Others come and go meanwhile.
                    group.addTask {
                        for number in 0..<30 {
                            let client = try await self.connect(server.endpoint)
                            if number % 2 == 0 { client.closeNow() } else { await client.close() }
                        }
                    }
                    for number in 0..<frames {
                        let result = try await server.broadcast("\(number)", slow: .evict(after: outerLimit))
                        #expect(result.evicted == 0)
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func aServerWhoseAcceptQueueIsFullAllTheTimeAcceptsOn(inMemory: Bool) async throws {
        let loops = EventLoops(count: 4)
        let memory = InMemoryNetwork(loops: loops)
        let system = SystemNetwork(loops: loops)
        let options = ServerOptions.quiet { $0.acceptQueue = 1 }
        let server =
            inMemory
            ? try await Server.bind(.inMemory("s"), codec: .lines, on: memory, options: options)
            : try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines, on: system, options: options)
        try await serving(server, echo) {
            try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        for round in 0..<150 {
                            try await bounded {
                                let client =
                                    inMemory
                                    ? try await Connection.connect(to: server.endpoint, codec: .lines, on: memory)
                                    : try await Connection.connect(to: server.endpoint, codec: .lines, on: system)
                                try await expectEcho("\(number) \(round)", on: client)
                                client.closeNow()
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
