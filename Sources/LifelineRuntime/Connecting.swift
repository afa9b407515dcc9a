public import LifelineCore

extension Connection {
    /// Connects to `endpoint` over `network`, trying all of a name's addresses in order.
    ///
    /// - Parameters:
    ///   - pairing: how answers find their requests; without one ``request(_:within:)`` can't be used.
    ///   - limit: the time for everything, name look-up included. Default 10 s; nil for as long as the system tries.
    ///   - heartbeat: begins as soon as the connection is there. Default: none.
    /// - Throws: ``SocketError`` with a code that tells why (`refused`, `unknownHost`, `unreachable`, `timedOut` in phase `resolve` or
    ///   `connect`, `allAddressesFailed`, `invalidSetting`, …), or `CancellationError`; nothing is left behind then.
    public static func connect(
        to endpoint: Endpoint, codec: C, pairing: Pairing<C>? = nil, on network: some Network, within limit: Duration? = .seconds(10),
        heartbeat: Heartbeat<C> = .none, options: ConnectionOptions = ConnectionOptions()
    ) async throws -> Connection<C> {
        let plan = try HeartbeatPlan(heartbeat)
        let core = try await StreamCore.dial(endpoint, on: network, within: limit, options: options)
        let connection = Connection(over: core, codec: codec, heartbeat: plan, pairing: pairing)
        await connection.start()
        await connection.beginHeartbeat()
        return connection
    }

    /// Begins to read, and to answer the peer's pings.
    package func start() { core.start() }

    /// Begins with beats of its own.
    package func beginHeartbeat() { heartbeat?.begin() }

    /// `report` is called, on the loop, with each round trip that the heartbeat measures.
    package func onRoundTrip(_ report: @escaping @Sendable (Duration) -> Void) { heartbeat?.onRoundTrip = report }
}

extension ByteStream {
    /// Connects to `endpoint` over `network`; see ``Connection/connect(to:codec:pairing:on:within:heartbeat:options:)``.
    public static func connect(
        to endpoint: Endpoint, on network: some Network, within limit: Duration? = .seconds(10),
        options: ConnectionOptions = ConnectionOptions()
    ) async throws -> ByteStream {
        let core = try await StreamCore.dial(endpoint, on: network, within: limit, options: options)
        let stream = ByteStream(over: core)
        await stream.start()
        return stream
    }

    /// Begins to read.
    package func start() { core.start() }
}

extension StreamCore {
    fileprivate static func dial(
        _ endpoint: Endpoint, on network: some Network, within limit: Duration?, options: ConnectionOptions
    ) async throws -> StreamCore {
        let driver = network._driver.base
        return try await dial(endpoint, over: driver, on: driver.nextLoop(), within: limit, options: options)
    }

    /// A stream on `loop`, not started. No limit is one that is never reached.
    package static func dial(
        _ endpoint: Endpoint, over driver: any NetworkDriver, on loop: any EventLoop, within limit: Duration?, options: ConnectionOptions
    ) async throws -> StreamCore {
        let transport = try await driver.dial(endpoint, on: loop, options: options.socket, within: limit ?? Duration.nanoseconds(Int64.max))
        return StreamCore(transport: transport, options: options)
    }
}
