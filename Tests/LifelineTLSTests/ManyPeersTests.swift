import LifelineCore
import LifelineRuntime
import LifelineSockets
import LifelineTLS
import LifelineTesting
import Testing

/// Peers that come in numbers, and peers that are gone.
struct ManyPeersTests {
    @Test("C121: fifty silent clients and one that sends a byte each 100 ms delay nobody, and are let go at the limit")
    func silentClients() async throws {
        try await simulate { world in
            let (home, phone) = (world.simulated.host("home"), world.simulated.host("phone"))
            let errors = Log<SocketError>()
            let server = try Protected.server { $0.handshakeLimit = .seconds(5) }
            let bound = try await Server.bind(
                .tls("home", 1), codec: .lines, on: TLSNetwork(over: home, server: server), options: .noting(errors))
            try await serving(bound, echo) {
                var silent: [ByteStream] = []
                for _ in 0..<50 { silent.append(try await ByteStream.connect(to: .tcp("home", 1), on: phone)) }
                let slow = try await ByteStream.connect(to: .tcp("home", 1), on: phone)
                async let dripping: Void = {
                    // The head of a record and the beginning of a ClientHello.
                    let hello: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3] + [UInt8](repeating: 7, count: 200)
                    for byte in hello {
                        try? await slow.write([byte])
                        try await world.advance(by: .milliseconds(100))
                    }
                }()
                let good = try await Connection.connect(
                    to: .tls("home", 1), codec: .lines, on: TLSNetwork(over: phone, client: Protected.client()))
                try await good.send("hello")
                #expect(try await good.next() == "hello")
                #expect(world.now < .seconds(1))
                await good.close()
                try await dripping
                for stream in silent { #expect(try await stream.read(atMost: 1) == nil) }
                _ = try? await slow.readAll()
                #expect(errors.entries.map(\.phase) == [SocketError.Phase?](repeating: .handshake, count: 51))
            }
            try await world.advance(by: .seconds(10))
            #expect(world.simulated.openTransports == 0)
        }
    }

    @Test("C54: five hundred connects to a peer that never answers TLS, cancelled and out of time, leave nothing behind")
    func failedConnects() async throws {
        try await simulate { world in
            let (home, phone) = (world.simulated.host("home"), world.simulated.host("phone"))
            let network = try TLSNetwork(over: phone, client: Protected.client())
            var options = ServerOptions()
            options.maximumConnections = 2000
            options.onHandlerError = { _ in }
            let mute = try await Server.bind(.tcp("home", 1), codec: .raw, on: home, options: options)
            try await serving(mute) { connection in
                while try await connection.next() != nil {}
            } while: {
                for round in 0..<500 {
                    if round % 2 == 0 {
                        await expectError(.timedOut, .handshake) {
                            try await ByteStream.connect(to: .tls("home", 1), on: network, within: .milliseconds(20))
                        }
                    } else {
                        await withTaskGroup { group in
                            group.addTask {
                                await #expect(throws: CancellationError.self) {
                                    try await ByteStream.connect(to: .tls("home", 1), on: network)
                                }
                            }
                            try? await world.advance(by: .milliseconds(20))
                            group.cancelAll()
                        }
                    }
                }
                try await world.advance(by: .seconds(1))
            }
            try await world.advance(by: .seconds(120))
            #expect(world.simulated.openTransports == 0)
            #expect(world.armedTimers == 0)
        }
    }

    @Test("C127: writing three times to a peer that has reset a real connection is an error with a type, and nothing worse")
    func writingAfterReset() async throws {
        let loops = EventLoops(count: 1)
        let loop = loops.next()
        let network = try Protected.network(over: SystemNetwork(loops: loops))
        let (near, far) = try await pair(on: loop, network, at: .tls("127.0.0.1", 0))
        let outcome = OneShot<[SocketError.Code]>()
        let watch = ResetWatch(near) { outcome.succeed($0) }
        loop.run {
            near.start(watch)
            far.close(reset: true)
        }
        let codes = try await outcome.value()
        #expect(codes.count == 3)
        #expect(codes.allSatisfy { $0 == .reset || $0 == .closed })
        withExtendedLifetime(watch) {}
    }
}

/// Writes once its transport is told of something. Confined to the transport's loop.
private final class ResetWatch: TransportHandler, @unchecked Sendable {
    private let transport: any Transport
    private let done: ([SocketError.Code]) -> Void
    private var isDone = false

    init(_ transport: any Transport, _ done: @escaping @Sendable ([SocketError.Code]) -> Void) {
        self.transport = transport
        self.done = done
    }

    func transportIsReadable() {
        var codes: [SocketError.Code] = []
        for _ in 0..<3 {
            do throws(SocketError) { _ = try transport.write(Bytes([1, 2, 3])) } catch { codes.append(error.code) }
        }
        // The first notice may come before the reset.
        guard codes.count == 3, !isDone else { return transport.askToRead() }
        isDone = true
        transport.close(reset: false)
        done(codes)
    }

    func transportIsWritable() {}
}
