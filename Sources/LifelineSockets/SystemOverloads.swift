public import LifelineCore
public import LifelineRuntime

// The ways in that use the system's network when none is named.

extension Connection {
    /// Connects to `endpoint` over the system's network; see ``Connection/connect(to:codec:pairing:on:within:heartbeat:options:)``.
    public static func connect(
        to endpoint: Endpoint, codec: C, pairing: Pairing<C>? = nil, within limit: Duration? = .seconds(10),
        heartbeat: Heartbeat<C> = .none, options: ConnectionOptions = ConnectionOptions()
    ) async throws -> Connection<C> {
        try await connect(
            to: endpoint, codec: codec, pairing: pairing, on: SystemNetwork(), within: limit, heartbeat: heartbeat, options: options)
    }
}

extension ByteStream {
    /// Connects to `endpoint` over the system's network; see ``ByteStream/connect(to:on:within:options:)``.
    public static func connect(
        to endpoint: Endpoint, within limit: Duration? = .seconds(10), options: ConnectionOptions = ConnectionOptions()
    ) async throws -> ByteStream {
        try await connect(to: endpoint, on: SystemNetwork(), within: limit, options: options)
    }
}

extension Server {
    /// Listens at `endpoint` over the system's network; see
    /// ``Server/bind(_:codec:pairing:on:options:tooBusy:heartbeat:handshake:)``.
    public static func bind(
        _ endpoint: Endpoint, codec: C, pairing: Pairing<C>? = nil, options: ServerOptions = ServerOptions(), tooBusy: C.Outgoing? = nil,
        heartbeat: Heartbeat<C> = .none, handshake: (@Sendable (ByteStream) async throws -> Void)? = nil
    ) async throws -> Server<C> {
        try await bind(
            endpoint, codec: codec, pairing: pairing, on: SystemNetwork(), options: options, tooBusy: tooBusy, heartbeat: heartbeat,
            handshake: handshake)
    }
}

extension Supervisor {
    /// A link to `endpoint` over the system's network, not started; see
    /// ``Supervisor/init(endpoint:codec:pairing:on:heartbeat:reconnect:offline:options:register:goAway:)``.
    public init(
        endpoint: Endpoint, codec: C, pairing: Pairing<C>? = nil, heartbeat: Heartbeat<C> = .none,
        reconnect: ReconnectPolicy = .exponential(), offline: OfflineRule<C.Outgoing> = .wait,
        options: SupervisorOptions = SupervisorOptions(), register: Registration? = nil,
        goAway: (@Sendable (C.Decoder.Frame) -> GoAway?)? = nil
    ) {
        self.init(
            endpoint: endpoint, codec: codec, pairing: pairing, on: SystemNetwork(), heartbeat: heartbeat, reconnect: reconnect,
            offline: offline, options: options, register: register, goAway: goAway)
    }
}
