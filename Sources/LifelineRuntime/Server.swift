public import LifelineCore

/// Listens, and runs a handler for each connection.
///
/// ```swift
/// let server = try await Server.bind(.tcp("127.0.0.1", 7000), codec: .lines)
/// try await server.run { connection in
///     while let line = try await connection.next() { try await connection.send(line) }
/// }
/// ```
public final actor Server<C: Codec> {
    nonisolated let shared: ServerState<C>
    nonisolated let loop: any EventLoop

    /// Where it listens, with the port that was picked.
    public nonisolated let endpoint: Endpoint

    /// The event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private init(shared: ServerState<C>, loop: any EventLoop, endpoint: Endpoint) {
        self.shared = shared
        self.loop = loop
        self.endpoint = endpoint
        loop.join()
    }

    isolated deinit {
        shared.abandon()
        loop.leave()
    }

    /// Listens at `endpoint` over `network`. Connections are accepted from now on, and served once ``run(_:)`` is called.
    ///
    /// - Parameters:
    ///   - pairing: how answers find their requests where the server asks its clients with ``Connection/request(_:within:)``. Where
    ///     clients ask, too, it must tell answers from their requests. Default: none.
    ///   - tooBusy: the last frame for a connection beyond ``ServerOptions/maximumConnections``; nil closes it without a word.
    ///     A client that is kept up finds it with `goAway`, even before its login was heard; see ``GoAway/tooBusy(_:after:spread:)``.
    ///   - heartbeat: of each connection; it begins with its codec, so behind the handshake. Default: none.
    ///   - handshake: runs first on each connection, in its handler's task, on the bare bytes: what it doesn't read goes to the codec.
    /// - Throws: ``SocketError``: `addressInUse`, `notPermitted`, `invalidEndpoint`, `unsupportedEndpoint`, `invalidSetting`, …
    public static func bind(
        _ endpoint: Endpoint, codec: C, pairing: Pairing<C>? = nil, on network: some Network, options: ServerOptions = ServerOptions(),
        tooBusy: C.Outgoing? = nil, heartbeat: Heartbeat<C> = .none,
        handshake: (@Sendable (ByteStream) async throws -> Void)? = nil
    ) async throws -> Server<C> {
        let plan = try HeartbeatPlan(heartbeat)
        let driver = network._driver.base
        let loop = driver.nextLoop()
        let lastFrame: C.Encoder.Frame?
        do {
            lastFrame = try tooBusy.map { try codec.frame(for: $0) }
        } catch {
            throw SocketError(encoding: error)
        }
        let shared = ServerState(
            codec: codec, options: options, tooBusy: lastFrame, pairing: pairing, heartbeat: plan, handshake: handshake, loop: loop)
        let listener = try await driver.listen(
            endpoint, on: loop, dealingTo: driver.loops, options: options.connection.socket, sink: shared)
        shared.set(listener)
        return Server(shared: shared, loop: loop, endpoint: listener.endpoint)
    }

    /// The connections that are being served, or wait for it, in order of arrival: a snapshot. One whose handshake goes on isn't among them,
    /// be it TLS with its verdict or the server's own.
    public nonisolated var connections: [Connection<C>] { shared.registry.connections }

    /// Serves connections until ``shutdown(within:)``, each in a child task that prefers the connection's event loop. Returns when the
    /// last handler has.
    ///
    /// When a handler returns or throws, its connection is closed in good order, within ``ConnectionOptions/lingerLimit``, or within the
    /// limit of a close that has begun before. When the calling task is cancelled, all handlers are, and their connections are closed at
    /// once.
    /// - Throws: `CancellationError` when cancelled; ``SocketError/Code/misuse`` when called a second time.
    @concurrent
    public nonisolated func run(_ handler: @escaping @Sendable (Connection<C>) async throws -> Void) async throws {
        let shared = shared
        let mayServe = try shared.beginRun(handler)
        switch shared.options.handlers {
        case .loop:
            // On the loop that accepts, so that a connection's handler starts in the turn in which it came.
            await withTaskExecutorPreference(loop.tasks) { await serveAll(mayServe) }
        case .pool:
            // Without any preference: even one for the pool is looked up at each hop.
            await serveAll(mayServe)
        }
        shared.endRun()
        try Task.checkCancellation()
    }

    private nonisolated func serveAll(_ mayServe: Bool) async {
        let shared = shared
        await withDiscardingTaskGroup { group in
            while mayServe, let accepted = try? await shared.queue.next() {
                switch shared.options.handlers {
                case .loop: group.addTask(executorPreference: accepted.loop.tasks) { await shared.serve(accepted) }
                case .pool: group.addTask { await shared.serve(accepted) }
                }
            }
            // No more come: after a shutdown, or because this task was cancelled.
            if await !shared.handlersReturn() { group.cancelAll() }
        }
    }

    /// Ends the server in good order: accepts no more (the address is free at once), reads no more (decoded frames are still delivered,
    /// then `next()` gives nil with ``CloseReason/shuttingDown``), and waits until all handlers have returned and their connections are
    /// closed, for at most `limit`. At the limit, connections are closed at once and handlers are cancelled, and it returns even if one
    /// ignores that.
    ///
    /// A cancelled call behaves as if the limit had come. Calling it again can only shorten the wait.
    /// - Returns: true if everything ended before the limit.
    @discardableResult
    public nonisolated(nonsending) func shutdown(within limit: Duration = .seconds(10)) async -> Bool {
        await shared.shutdown(within: limit)
    }

    /// As ``shutdown(within:)``, with a last message for each connection, such as when to come back.
    ///
    /// A connection gets it when its handler has returned, behind all that was sent and above the outbox's high mark, and nothing is sent
    /// behind it. At the limit it gets so much of it as the kernel takes at once. A connection that is still in its handshake, has ended
    /// its sending or was swapped to another codec gets none.
    ///
    /// Clients that are told the same moment come back at the same moment: give each its own.
    ///
    /// - Parameters:
    ///   - limit: as for ``shutdown(within:)``; default 10 s.
    ///   - last: the message for a connection; nil for none. It runs on the connection's event loop: it must be quick.
    /// - Throws: when all is over, the first error of the codec's, if it has refused a message.
    @discardableResult
    public nonisolated(nonsending) func shutdown(
        within limit: Duration = .seconds(10), saying last: @escaping @Sendable (Connection<C>) -> C.Outgoing?
    ) async throws -> Bool {
        try await shared.shutdown(within: limit, saying: last)
    }
}
