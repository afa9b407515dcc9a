public import LifelineCore

extension Connection {
    /// Connects to `endpoint` over `network`, trying all of a name's addresses in order.
    ///
    /// - Parameters:
    ///   - pairing: how answers find their requests; without one ``request(_:within:)`` can't be used.
    ///   - limit: the time for everything, name look-up included. Default 10 s.
    /// - Throws: ``SocketError`` with a code that tells why (`refused`, `unknownHost`, `unreachable`, `timedOut` in phase `resolve` or
    ///   `connect`, `allAddressesFailed`, …), or `CancellationError`; nothing is left behind then.
    public static func connect(
        to endpoint: Endpoint, codec: C, pairing: Pairing<C>? = nil, on network: some Network, within limit: Duration = .seconds(10),
        options: ConnectionOptions = ConnectionOptions()
    ) async throws -> Connection<C> {
        let core = try await StreamCore.dial(endpoint, on: network, within: limit, options: options)
        let connection = Connection(over: core, codec: codec, pairing: pairing)
        await connection.start()
        return connection
    }

    /// Begins to read.
    package func start() { core.start() }
}

extension ByteStream {
    /// Connects to `endpoint` over `network`; see ``Connection/connect(to:codec:pairing:on:within:options:)``.
    public static func connect(
        to endpoint: Endpoint, on network: some Network, within limit: Duration = .seconds(10),
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
        _ endpoint: Endpoint, on network: some Network, within limit: Duration, options: ConnectionOptions
    ) async throws -> StreamCore {
        let driver = network._driver.base
        let loop = driver.nextLoop()
        let transport = try await driver.dial(endpoint, on: loop, options: options.socket, within: limit)
        return StreamCore(transport: transport, options: options)
    }
}
