import CLifelineSystem
import Glibc
import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

struct ListenerTests {
    private let driver = SystemDriver(EventLoops(count: 2))

    private func listen(_ endpoint: Endpoint, _ sink: Sink = Sink(), options: SocketOptions = SocketOptions()) async throws -> any Listener
    {
        try await driver.listen(endpoint, on: driver.nextLoop(), dealingTo: driver.loops, options: options, sink: sink)
    }

    private func dial(_ endpoint: Endpoint) async throws -> any Transport {
        try await driver.dial(endpoint, on: driver.nextLoop(), options: SocketOptions(), within: outerLimit)
    }

    /// The error of a listen that must fail.
    private func failure(of endpoint: Endpoint, options: SocketOptions = SocketOptions()) async -> SocketError? {
        await #expect(throws: SocketError.self) {
            let listener = try await listen(endpoint, options: options)
            await listener.close()
        }
    }

    @Test(arguments: ["", "::"])
    func anEmptyHostTakesBothFamilies(host: String) async throws {
        let sink = Sink()
        let listener = try await listen(.tcp(host, 0), sink)
        let port = try #require(listener.endpoint.port)
        #expect(port != 0)
        for address in ["127.0.0.1", "::1"] {
            let client = try await dial(.tcp(address, port))
            let server = try await sink.transports.next()
            // An IPv4 peer is one for the server, too.
            guard case .tcp(address, _)? = try await server.loop.perform({ server.remoteEndpoint }) else {
                Issue.record("another address")
                return
            }
            try await client.close()
            try await server.close()
        }
        await listener.close()
    }

    @Test func oneAddressTakesOnlyItsOwn() async throws {
        let listener = try await listen(.tcp("::1", 0))
        let port = try #require(listener.endpoint.port)
        #expect(listener.endpoint == .tcp("::1", port))
        // Not 127.0.0.1: another test may listen there, at a port that happens to be the same.
        let error = await #expect(throws: SocketError.self) { try await dial(.tcp("127.0.0.79", port)) }
        #expect(error?.code == .refused)
        await listener.close()
    }

    @Test func aNameIsListenedAt() async throws {
        let sink = Sink()
        let listener = try await listen(.tcp("localhost", 0), sink)
        let client = try await dial(listener.endpoint)
        _ = try await sink.transports.next().close()
        try await client.close()
        await listener.close()
    }

    @Test func connectionsAreDealtToTheLoopsInTurn() async throws {
        let sink = Sink()
        let listener = try await listen(.tcp("127.0.0.1", 0), sink)
        var counts: [ObjectIdentifier: Int] = [:]
        for _ in 0..<10 {
            let client = try await dial(listener.endpoint)
            let server = try await sink.transports.next()
            counts[ObjectIdentifier(server.loop), default: 0] += 1
            try await client.close()
            try await server.close()
        }
        #expect(Array(counts.values) == [5, 5])
        await listener.close()
    }

    @Test func aPausedListenerLeavesConnectionsToTheSystem() async throws {
        let sink = Sink()
        let listener = try await listen(.tcp("127.0.0.1", 0), sink)
        listener.pause()
        for loop in driver.loops { try await loop.perform {} }
        var clients: [any Transport] = []
        for _ in 0..<200 { clients.append(try await dial(listener.endpoint)) }
        #expect(sink.transports.count == 0)
        listener.resume()
        for _ in 0..<200 { try await sink.transports.next().close() }
        for client in clients { try await client.close() }
        await listener.close()
    }

    @Test func whatCannotBeListenedAtIsRefused() async throws {
        #expect(await failure(of: .tcp("192.0.2.1", 0))?.code == .invalidEndpoint)
        #expect(await failure(of: .inMemory("x"))?.code == .unsupportedEndpoint)
        #expect(await failure(of: .tcp("fe80::1%nosuch", 0))?.code == .invalidEndpoint)
        var options = SocketOptions()
        options.interface = "nosuch0"
        #expect(await failure(of: .tcp("127.0.0.1", 0), options: options)?.code == .invalidEndpoint)
    }

    @Test func portsAreSharedOnlyWhenAskedFor() async throws {
        var options = SocketOptions()
        options.reusePort = true
        let first = try await listen(.tcp("127.0.0.1", 0), options: options)
        let second = try await listen(first.endpoint, options: options)
        #expect(await failure(of: first.endpoint)?.code == .addressInUse)
        await first.close()
        await second.close()
    }

    @Test func optionsReachAcceptedSockets() async throws {
        var options = SocketOptions()
        options.keepAlive = .init(idle: .seconds(7), interval: .seconds(3), count: 2)
        options.userTimeout = .seconds(9)
        options.interface = "lo"
        options.sendBuffer = 20_000
        options.receiveBuffer = 30_000
        let pair = try await Pair(options: options)
        for transport in [pair.client, pair.server] {
            let socket = try #require(transport as? SocketTransport)
            let found = try await socket.loop.perform {
                let tcp = Int32(IPPROTO_TCP)
                return [
                    value(socket.descriptor, tcp, TCP_NODELAY), value(socket.descriptor, SOL_SOCKET, SO_KEEPALIVE),
                    value(socket.descriptor, tcp, TCP_KEEPIDLE), value(socket.descriptor, tcp, TCP_KEEPINTVL),
                    value(socket.descriptor, tcp, TCP_KEEPCNT), value(socket.descriptor, tcp, TCP_USER_TIMEOUT),
                    value(socket.descriptor, SOL_SOCKET, SO_SNDBUF), value(socket.descriptor, SOL_SOCKET, SO_RCVBUF),
                ]
            }
            // The kernel doubles the sizes of buffers.
            #expect(found == [1, 1, 7, 3, 2, 9000, 40_000, 60_000])
        }
        await pair.close()
    }

    @Test func C123_aPortIsBoundAgainAtOnce() async {
        // Alone, since a process that starts others shares its descriptors with them for a moment; and at an address of its own, where
        // no other test is given the port meanwhile.
        await #expect(processExitsWith: .success) { try await alone { try await ListenerTests().bindAgainAndAgain() } }
    }

    private func bindAgainAndAgain() async throws {
        var endpoint = Endpoint.tcp("127.0.0.77", 0)
        for _ in 0..<20 {
            let sink = Sink()
            let listener = try await listen(endpoint, sink)
            endpoint = listener.endpoint
            #expect(await failure(of: endpoint)?.code == .addressInUse)
            let client = try await Stream(try await dial(endpoint))
            let server = try await Stream(try await sink.transports.next(), echo: true)
            client.send("x")
            #expect(try await client.read(1) == [UInt8(ascii: "x")])
            // The server ends first, so its side is the one that lingers.
            try await server.closeNow()
            _ = try await client.rest()
            await listener.close()
            try await client.closeNow()
        }
    }
}

private func value(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, level, name, &value, &length)
    return value
}
