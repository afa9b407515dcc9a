import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

@Suite("The network in memory")
struct InMemoryNetworkTests {
    private static let seeds: ClosedRange<UInt64> = 1...10

    @Test(
        "C36: a name that nobody listens at is refused, and an endpoint of another kind is a typed error",
        arguments: [Endpoint.tcp("localhost", 1), .unix("/tmp/x")])
    func typedErrors(endpoint: Endpoint) async throws {
        try await simulate { world in
            #expect(await failure { try await world.dial() }?.code == .refused)
            let isUnsupported = SocketError(.unsupportedEndpoint, "")
            await #expect(throws: isUnsupported) { try await ByteStream.connect(to: endpoint, on: world.network) }
            await #expect(throws: isUnsupported) { try await Server.bind(endpoint, codec: .lines, on: world.network) }
            #expect(world.now == .zero)
        }
    }

    @Test("names belong to one network")
    func namesDontLeak() async throws {
        try await simulate { world in
            let other = InMemoryNetwork(loops: world.loops)
            let server = try await Server.bind(.inMemory("n"), codec: .lines, on: world.network)
            #expect(await failure { try await ByteStream.connect(to: .inMemory("n"), on: other) }?.code == .refused)
            let twin = try await Server.bind(.inMemory("n"), codec: .lines, on: other)
            #expect(await server.shutdown())
            let client = try await ByteStream.connect(to: .inMemory("n"), on: other)
            client.closeNow()
            await twin.shutdown()
        }
    }

    @Test("addresses: each connection has a name of its own, the same at both ends", arguments: seeds)
    func addresses(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let sink = Sink()
            let listener = try await world.listen(sink)
            #expect(listener.endpoint == .inMemory("n"))
            let first = try await world.dial()
            let second = try await world.dial()
            await world.settle()
            for (index, stream) in [first, second].enumerated() {
                let info = await stream.info
                #expect(info.local == .inMemory("n#\(index + 1)"))
                #expect(info.remote == .inMemory("n"))
                #expect(sink.accepted.entries[index].remoteEndpoint == info.local)
                #expect(sink.accepted.entries[index].localEndpoint == info.remote)
                #expect(info.roundTrip == nil)
            }
            listener.closeSoon()
        }
    }

    @Test("C54: with a paused listener the backlog fills, one more waits for a place and times out, and nothing is left", arguments: seeds)
    func backlog(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 3) { world in
            let sink = Sink()
            let listener = try await world.listen(sink, backlog: 3)
            listener.pause()
            var streams: [ByteStream] = []
            for number in 0..<3 {
                streams.append(try await world.dial())
                try await streams[number].write(Bytes("\(number)"))
            }
            await world.settle()
            #expect(sink.accepted.count == 0)
            #expect(world.now == .zero)

            let late = await failure { try await world.dial(within: .seconds(2)) }
            #expect(late?.code == .timedOut)
            #expect(late?.phase == .connect)
            #expect(world.now == .seconds(2))
            #expect(await failure { try await world.dial(within: .zero) }?.phase == .connect)

            await withThrowingTaskGroup { group in
                group.addTask { try await world.dial() }
                await world.settle()
                group.cancelAll()
                await #expect(throws: CancellationError.self) { _ = try await group.next() }
            }

            async let fourth = world.dial()
            try await world.advance(by: .seconds(1))
            listener.resume()
            _ = try await fourth
            #expect(world.now == .seconds(3))
            await world.settle()
            #expect(sink.accepted.count == 4)
            #expect(sink.accepted.entries.map(\.remoteEndpoint) == [1, 2, 3, 7].map { .inMemory("n#\($0)") })
            listener.closeSoon()
        }
    }

    @Test("a pause holds between two that wait, and a cancelled dial that was accepted is seen as an end", arguments: seeds)
    func pauseBetween(seed: UInt64) async throws {
        try await simulate(seed: seed, loops: 2) { world in
            let sink = Sink()
            let listener = try await world.listen(sink, backlog: 10)
            listener.pause()
            for _ in 0..<5 { (try await world.dial()).closeNow() }
            await world.settle()
            listener.resume()
            listener.pause()
            await world.settle()
            // One was on its way.
            #expect(sink.accepted.count == 1)
            listener.resume()
            await world.settle()
            #expect(sink.accepted.count == 5)
            for transport in sink.accepted.entries {
                let result = OneShot<ReadResult>()
                transport.loop.submit { result.finish(Result { try transport.read(into: transport.loop.storages.readBuffer(behind: 0)) }) }
                let end = try await result.value()
                #expect(end == .end)
            }
            listener.closeSoon()
        }
    }

    @Test("a sink that pauses its listener gets no more", arguments: seeds, [1, 3])
    func pauseInside(seed: UInt64, loops: Int) async throws {
        try await simulate(seed: seed, loops: loops) { world in
            let listeners = Log<any Listener>()
            defer { listeners.removeAll() }
            let sink = Sink { listeners.entries.first?.pause() }
            let listener = try await world.listen(sink)
            listener.pause()
            listeners.add(listener)
            for _ in 0..<5 { (try await world.dial()).closeNow() }
            for number in 1...5 {
                listener.resume()
                await world.settle()
                #expect(sink.accepted.count == number)
            }
            listener.closeSoon()
        }
    }

    @Test("closing the listener ends those in the backlog and refuses those that wait for a place", arguments: seeds)
    func closing(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let sink = Sink()
            let listener = try await world.listen(sink, backlog: 1)
            listener.pause()
            let inBacklog = try await world.dial()
            async let waiting = failure { try await world.dial() }
            await world.settle()
            await listener.close()
            #expect(await waiting?.code == .refused)
            #expect(try await inBacklog.read(atMost: 1) == nil)
            #expect(await failure { try await world.dial() }?.code == .refused)
            listener.resume()
            await world.settle()
            #expect(sink.accepted.count == 0)
            let next = try await world.listen(Sink())
            // The old one has no say about the name any more.
            listener.closeSoon()
            let stream = try await world.dial()
            stream.closeNow()
            next.closeSoon()
            #expect(world.now == .zero)
        }
    }

    @Test("C44: bytes keep their order through pipes of any size", arguments: [1, 2, 7, 4096], 1...3 as ClosedRange<UInt64>)
    func anyPipe(capacity: Int, seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (near, far) = try await world.ends(near: .small(capacity))
            let total = capacity < 10 ? 2_000 : 200_000
            try await withThrowingTaskGroup { group in
                group.addTask {
                    var random = world.random
                    var sent = 0
                    while sent < total {
                        let count = Int.random(in: 1...min(1_000, total - sent), using: &random)
                        try await near.write(pattern(count, from: sent))
                        sent += count
                    }
                    try await near.finishSending()
                }
                var random = world.random
                var received = 0
                while let bytes = try await far.read(atMost: Int.random(in: 1...3_000, using: &random)) {
                    #expect(bytes == pattern(bytes.count, from: received))
                    received += bytes.count
                }
                #expect(received == total)
                try await group.waitForAll()
            }
        }
    }

    @Test("C54: 500 dials that are refused, cancelled or late leave no transport behind", arguments: [1, 2])
    func noLeaks(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let sink = Sink()
            let listener = try await world.listen(sink, backlog: 1)
            listener.pause()
            let first = try await world.dial()
            for _ in 0..<250 {
                #expect(await failure { try await world.dial(within: .milliseconds(20)) }?.phase == .connect)
                await withThrowingTaskGroup { group in
                    group.addTask { try await world.dial() }
                    try? await world.advance(by: .milliseconds(20))
                    group.cancelAll()
                    await #expect(throws: CancellationError.self) { _ = try await group.next() }
                }
            }
            first.closeNow()
            listener.resume()
            await world.settle()
            #expect(sink.accepted.count == 1)
            listener.closeSoon()
        }
    }
}

/// A sink that notes what it is given, and then does something about it.
private final class Sink: ListenerSink {
    let accepted = Log<any Transport>()
    private let then: @Sendable () -> Void

    init(then: @escaping @Sendable () -> Void = {}) { self.then = then }

    func accepted(_ transport: any Transport) {
        #expect(transport.loop.isCurrent)
        accepted.add(transport)
        then()
    }

    func acceptFailed(_ error: SocketError) { Issue.record("\(error)") }
}

extension World {
    fileprivate func listen(_ sink: Sink, backlog: Int = 1024) async throws -> any Listener {
        let driver = network._driver.base
        var options = SocketOptions()
        options.backlog = backlog
        return try await driver.listen(.inMemory("n"), on: driver.loops[0], dealingTo: driver.loops, options: options, sink: sink)
    }

    fileprivate func dial(within limit: Duration = .seconds(10)) async throws -> ByteStream {
        try await ByteStream.connect(to: .inMemory("n"), on: network, within: limit)
    }
}
