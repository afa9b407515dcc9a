import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

/// A server of bare streams that a test scripts: it keeps the streams that it accepts, in order, with the time.
final class Lobby: @unchecked Sendable {  // What changes is guarded by `lock`.
    /// What the listener holds, so that it doesn't hold the lobby, which holds it.
    private final class Door: ListenerSink {
        private weak let lobby: Lobby?

        init(to lobby: Lobby) { self.lobby = lobby }

        func accepted(_ transport: any Transport) { lobby?.accepted(transport) }
        func acceptFailed(_ error: SocketError) { Issue.record("accepting failed: \(error)") }
    }

    private let world: World
    private let name: String
    private let options: ConnectionOptions
    private let lock = Lock()
    private var listener: (any Listener)?
    private var streams: [ByteStream] = []
    private var times: [Duration] = []
    private var waiters: [(count: Int, OneShot<ByteStream>)] = []

    init(_ world: World, name: String = "home", options: ConnectionOptions = ConnectionOptions()) {
        self.world = world
        self.options = options
        self.name = name
    }

    /// Listens from now on.
    func open(backlog: Int = 100) async throws {
        var options = SocketOptions()
        options.backlog = backlog
        let driver = world.network.driver
        let listener = try await driver.listen(
            .inMemory(name), on: driver.nextLoop(), dealingTo: driver.loops, options: options, sink: Door(to: self))
        lock.withLock { self.listener = listener }
    }

    /// As a process that is killed: nobody listens, and every stream is reset.
    func kill() async {
        let (listener, streams) = lock.withLock { (self.listener, self.streams) }
        await listener?.close()
        for stream in streams { stream.reset() }
    }

    func pause() { lock.withLock { listener }?.pause() }
    func resume() { lock.withLock { listener }?.resume() }

    /// A bare stream to it.
    func dial() async throws -> ByteStream { try await ByteStream.connect(to: .inMemory(name), on: world.network) }

    /// When connections were accepted.
    var accepted: [Duration] { lock.withLock { times } }

    /// The connection with this number, from zero; waits for it.
    func peer(_ number: Int) async throws -> ByteStream {
        let waiter = OneShot<ByteStream>()
        lock.withLock {
            if number < streams.count { waiter.succeed(streams[number]) } else { waiters.append((number, waiter)) }
        }
        return try await waiter.value()
    }

    private func accepted(_ transport: any Transport) {
        let core = StreamCore(transport: transport, options: options)
        let stream = ByteStream(over: core)
        core.start()
        let ready = lock.withLock {
            streams.append(stream)
            times.append(world.now)
            return waiters.filter { $0.count == streams.count - 1 }.map(\.1)
        }
        for waiter in ready { waiter.succeed(stream) }
    }
}

extension ByteStream {
    /// The next line, without its end.
    nonisolated(nonsending) func line() async throws -> String? {
        try await read(until: Bytes("\n"), limit: 1000).map { String($0) }
    }

    /// That these are the next lines; nil is the end.
    nonisolated(nonsending) func expect(_ lines: String?..., sourceLocation: SourceLocation = #_sourceLocation) async {
        for expected in lines {
            do {
                let line = try await line()
                #expect(line == expected, sourceLocation: sourceLocation)
            } catch {
                Issue.record("\(error)", sourceLocation: sourceLocation)
            }
        }
    }

    nonisolated(nonsending) func say(_ line: String) async throws { try await write(Bytes("\(line)\n")) }
}

extension World {
    /// A link to the lobby called `name`, of lines.
    func link(
        to name: String = "home", reconnect: ReconnectPolicy = .every(.seconds(1)), offline: OfflineRule<String> = .wait,
        options: SupervisorOptions = SupervisorOptions(), register: Supervisor<LineCodec>.Registration? = nil
    ) -> Supervisor<LineCodec> {
        Supervisor(
            endpoint: .inMemory(name), codec: .lines, on: network, reconnect: reconnect, offline: offline, options: options,
            register: register)
    }

    /// Waits until the link's status is as wanted.
    nonisolated(nonsending) func wait(for link: Supervisor<LineCodec>, _ isWanted: (LinkStatus) -> Bool) async -> LinkStatus {
        for await status in link.statusUpdates where isWanted(status) { return status }
        return link.status
    }

    /// That nothing is left which a link had: no timer.
    func expectQuiet(_ sourceLocation: SourceLocation = #_sourceLocation) async {
        await settle()
        #expect(loops.map(\.timerCount) == loops.map { _ in 0 }, sourceLocation: sourceLocation)
    }
}

extension LinkStatus {
    var isWaiting: Bool { if case .waiting = self { true } else { false } }
    var isStopped: Bool { if case .stopped = self { true } else { false } }
    var isConnecting: Bool { if case .connecting = self { true } else { false } }
}
