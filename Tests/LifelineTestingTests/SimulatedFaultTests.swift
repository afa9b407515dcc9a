import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// What befalls links and hosts, as TCP's kernels see it.
@Suite struct SimulatedFaultTests {
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `what is lost in a partition is sent again after the heal`(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                let connection = try await connect(from: phone)
                try await connection.send("before")
                #expect(try await connection.next() == "before")
                let start = world.now
                // This one is under way when the link goes.
                try await connection.send("during")
                try await connection.flush()
                network.partition(server, phone)
                try await world.advance(by: .seconds(10))
                network.heal()
                #expect(try await connection.next() == "during")
                // A kernel tries after 0.2 s, and twice as long each time: after 12.6 s in all.
                #expect(world.now - start == .milliseconds(12_602))
                let losses = world.trace.lines.filter { $0.hasSuffix("→ data 7..<14 lost") }
                #expect(losses.count == 6, "the first under way, the others at once")
                #expect(await connection.close())
            }
        }
    }

    @Test(arguments: [true, false])
    func `a half-open connection times out as its kernel does`(isForthCut: Bool) async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                var options = ConnectionOptions()
                options.socket.userTimeout = .seconds(30)
                let patient = try await connect(from: phone)
                let hasty = try await connect(from: phone, options: options)
                if isForthCut { network.cut(from: phone, to: server) } else { network.cut(from: server, to: phone) }
                let start = world.now
                try await hasty.send("x")
                try await patient.send("x")
                let error = await expect(.timedOut) { _ = try await hasty.next() }
                #expect(error?.errno != nil)
                #expect(world.now - start == .seconds(30))
                await expect(.timedOut) { _ = try await patient.next() }
                #expect(world.now - start == .seconds(924))
            }
        }
    }

    @Test func `a dead peer of an idle connection is found by keep-alive only`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                var options = ConnectionOptions()
                options.socket.keepAlive = .init(idle: .seconds(60), interval: .seconds(10), count: 3)
                options.idleLimit = .seconds(2_000)
                let watched = try await connect(from: phone, options: options)
                try await world.advance(by: .seconds(500))
                #expect(watched.closeReason == nil, "probes are answered")
                options.socket.keepAlive = nil
                let unwatched = try await connect(from: phone, options: options)
                let start = world.now
                server.crash()
                await expect(.timedOut) { _ = try await watched.next() }
                #expect(world.now - start <= .seconds(90))
                #expect(unwatched.closeReason == nil)
                let error = await expect(.timedOut) { _ = try await unwatched.next() }
                #expect(error?.phase == .idle)
            }
        }
    }

    @Test func `a crashed host is silent, and resets once it is up again`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                let connection = try await connect(from: phone)
                server.crash()
                #expect(!server.isUp)
                await expect(.unreachable) { try await connect(from: server, to: .tcp("phone", 1)) }
                await expect(.timedOut) { try await connect(from: phone, within: .seconds(3)) }
                try await connection.send("x")
                try await world.advance(by: .seconds(60))
                #expect(connection.closeReason == nil, "nothing was heard")
                server.restart()
                await expect(.reset) { _ = try await connection.next() }
                await expect(.refused) { try await connect(from: phone) }
            }
            // On the same port, by another process.
            try await withEchoServer(on: server) {
                let connection = try await connect(from: phone)
                try await connection.send("again")
                #expect(try await connection.next() == "again")
            }
        }
    }

    @Test func `a killed process ends its connections as the kernel does`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            let listening = try await ByteServer(on: server)
            let idle = try await ByteStream.connect(to: .tcp("server", 7000), on: phone)
            let busy = try await ByteStream.connect(to: .tcp("server", 7000), on: phone)
            try await busy.write(Bytes("nobody reads this"))
            try await world.advance(by: .seconds(1))
            server.killProcess()
            #expect(try await idle.read(atMost: 10) == nil, "the end")
            await expect(.reset) { _ = try await busy.read(atMost: 10) }
            await expect(.refused) { try await connect(from: phone) }
            #expect(network.openListeners == 0)
            await listening.close()
            for stream in [idle, busy] { stream.closeNow() }
            try await world.advance(by: .seconds(100))
            expectNothingLeft(network)
        }
    }

    @Test func `what arrived before a reset can still be read`() async throws {
        try await simulate { world in
            let network = world.simulated
            let loop = world.loops[0]
            let (near, far) = try await pair(on: loop, network.host("near"), at: .tcp("far", 1), listening: network.host("far"))
            loop.run {
                #expect(throws: Never.self) { try near.write(Bytes("last words")) }
                near.close(reset: true)
            }
            try await world.advance(by: .seconds(1))
            loop.run {
                withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { buffer in
                    #expect((try? far.read(into: buffer)) == .bytes(10, more: true))
                    let error = #expect(throws: SocketError.self) { try far.read(into: buffer) }
                    #expect(error?.code == .reset)
                    #expect(throws: SocketError.self) { try far.write(Bytes("x")) }
                }
                far.close(reset: false)
            }
            expectNothingLeft(network)
        }
    }

    @Test func `a connect into a black hole ends at its limit, or at the kernel's`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                network.cut(from: phone, to: server)
                let early = await expect(.timedOut) { try await connect(from: phone, within: .seconds(5)) }
                #expect(early?.phase == .connect)
                #expect(world.now == .seconds(5))
                let late = await expect(.timedOut) { try await connect(from: phone, within: .seconds(500)) }
                #expect(late?.errno != nil)
                #expect(world.now == .seconds(132))
                // The answer is lost, and comes when the kernel tries again.
                network.heal()
                network.cut(from: server, to: phone)
                async let connection = connect(from: phone)
                try await world.advance(by: .seconds(2))
                network.heal()
                try await connection.send("x")
                #expect(world.now == .milliseconds(135_002))
            }
            try await world.advance(by: .seconds(100))
            #expect(network.openTransports == 0)
        }
    }

    @Test func `C54: a cancelled connect leaves nothing behind`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            try await withEchoServer(on: server) {
                for wait in 0..<6 {
                    let isCancelled = await withTaskGroup { group in
                        group.addTask { () -> Bool in
                            do {
                                try await connect(from: phone).closeNow()
                                return false
                            } catch {
                                return error is CancellationError
                            }
                        }
                        try? await world.advance(by: .microseconds(wait * 500))
                        group.cancelAll()
                        return await group.next()!
                    }
                    #expect(isCancelled == (wait < 4))
                }
            }
            try await world.advance(by: .seconds(100))
            expectNothingLeft(network)
        }
    }

    @Test func `a full backlog lets dialers wait, and accepting may be slow`() async throws {
        try await simulate { world in
            let network = world.simulated
            let (server, phone) = (network.host("server"), network.host("phone"))
            server.kernel.acceptDelay = .seconds(10)
            var options = ServerOptions()
            options.connection.socket.backlog = 2
            try await withEchoServer(on: server, options: options) {
                var connections: [Connection<LineCodec>] = []
                for _ in 0..<2 { connections.append(try await connect(from: phone)) }
                #expect(world.now == .milliseconds(4))
                try await connections[0].send("x")
                #expect(try await connections[0].next() == "x")
                #expect(world.now == .milliseconds(10_004))
                for _ in 0..<2 { connections.append(try await connect(from: phone)) }
                await expect(.timedOut) { try await connect(from: phone, within: .seconds(2)) }
                connections.append(try await connect(from: phone))
                #expect(world.now > .seconds(20))
                for connection in connections { connection.closeNow() }
            }
        }
    }
}

/// Accepts connections and never reads.
private final class ByteServer {
    private let listener: any Listener
    private let accepted: Kept

    private final class Kept: ListenerSink, @unchecked Sendable {  // Touched in one simulation, whose loops share a thread.
        var transports: [any Transport] = []
        func accepted(_ transport: any Transport) { transports.append(transport) }
        func acceptFailed(_ error: SocketError) {}
    }

    init(on host: SimulatedHost) async throws {
        accepted = Kept()
        let driver = host._driver.base
        listener = try await driver.listen(
            .tcp(host.name, 7000), on: driver.loops[0], dealingTo: driver.loops, options: SocketOptions(), sink: accepted)
    }

    func close() async {
        await listener.close()
        for transport in accepted.transports { transport.loop.run { transport.close(reset: false) } }
        accepted.transports = []
    }
}
