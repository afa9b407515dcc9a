internal import LifelineCore
internal import LifelineRuntime
internal import Synchronization

/// What a simulated host does for the runtime.
final class SimulatedDriver: NetworkDriver {
    private let fabric: SimulatedFabric
    private let host: Int
    private let turn = Atomic<Int>(0)

    init(_ fabric: SimulatedFabric, host: Int) {
        self.fabric = fabric
        self.host = host
        turn.store(host, ordering: .relaxed)
    }

    var loops: [any EventLoop] { fabric.loops }

    func nextLoop() -> any EventLoop {
        fabric.loops[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & .max) % fabric.loops.count]
    }

    func dial(
        _ endpoint: Endpoint, on loop: any EventLoop, options: SocketOptions, within limit: Duration
    ) async throws -> any Transport {
        try Task.checkCancellation()
        let connected = OneShot<Void>(timeOut: SocketError(timedOut: .connect, after: limit, detail: "\(endpoint) doesn't answer"))
        let connection = try fabric.perform { state throws(SocketError) in
            let (address, target) = try Self.target(of: endpoint, from: host, state)
            return try state.dial(endpoint, at: address, from: host, on: target, options: options, telling: connected)
        }
        let transport = SimulatedTransport(connection.dialer, of: connection, on: loop, fabric)
        do {
            try await connected.value(within: limit, on: loop)
        } catch {
            loop.run { transport.close(reset: true) }
            throw error
        }
        return transport
    }

    func listen(
        _ endpoint: Endpoint, on loop: any EventLoop, dealingTo loops: [any EventLoop], options: SocketOptions, sink: any ListenerSink
    ) async throws -> any Listener {
        let listening = try fabric.perform { state throws(SocketError) in
            let (address, target) = try Self.target(of: endpoint, from: host, state, isListening: true)
            if target != host { throw SimulatedErrors.notHere(endpoint) }
            return try state.listen(address, endpoint, on: host, options: options)
        }
        return SimulatedListener(listening, dealingTo: loops.isEmpty ? [loop] : loops, sink: sink, fabric)
    }

    private static let ownNames = ["localhost", "127.0.0.1", "::1"]
    private static let anyNames = ["", "0.0.0.0", "::"]

    /// Names are those of hosts.
    private static func target(
        of endpoint: Endpoint, from host: Int, _ state: FabricState, isListening: Bool = false
    ) throws(SocketError) -> (ListenAddress, Int) {
        switch endpoint {
        case .tcp(let name, let port):
            if ownNames.contains(name) || isListening && anyNames.contains(name) { return (.port(port), host) }
            if name.isEmpty { throw SocketError(.invalidEndpoint, "a host is needed to connect to") }
            guard let target = state.knownHost(name) else { throw SocketError(.unknownHost, "no host is called “\(name)”") }
            return (.port(port), target)
        case .unix(let path):
            if path.isEmpty { throw SocketError(.invalidEndpoint, "a path is needed") }
            return (.path(path), host)
        case .tls, .inMemory:
            throw SocketError(.unsupportedEndpoint, "a simulated host can't serve \(endpoint): use .tcp with a host's name, or .unix")
        }
    }
}
