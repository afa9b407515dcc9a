internal import LifelineCore
internal import LifelineRuntime

/// What a host listens at, and connects to within another.
enum ListenAddress: Equatable {
    case port(UInt16)
    case path(String)
}

/// A listener as its kernel keeps it. Guarded by the fabric's lock.
final class ListeningState {
    let address: ListenAddress
    let endpoint: Endpoint
    let host: Int
    let options: SocketOptions
    weak var owner: SimulatedListener?
    var isPaused = false
    var isClosed = false
    /// One is on its way to the owner.
    var isHandingOver = false
    /// A look at the backlog is due when the first in it may be accepted.
    var isTimed = false
    /// Connections whose dialer hasn't acknowledged yet.
    var underWay = 0
    var waiting: [(connection: SimulatedConnection, ready: LoopTime)] = []

    init(_ address: ListenAddress, _ endpoint: Endpoint, on host: Int, options: SocketOptions) {
        self.address = address
        self.endpoint = endpoint
        self.host = host
        self.options = options
    }
}

// How connections begin.
extension FabricState {
    mutating func listen(_ address: ListenAddress, _ endpoint: Endpoint, on host: Int, options: SocketOptions) throws(SocketError)
        -> ListeningState
    {
        guard hosts[host].isUp else { throw SimulatedErrors.hostIsDown(hosts[host].name) }
        var address = address
        var endpoint = endpoint
        if case .tcp(let name, 0) = endpoint {
            var port = hosts[host].nextPort
            while isTaken(.port(port), on: host) { port = Self.port(after: port) }
            hosts[host].nextPort = Self.port(after: port)
            address = .port(port)
            endpoint = .tcp(name, port)
        }
        if isTaken(address, on: host) { throw SimulatedErrors.addressInUse(endpoint) }
        let listener = ListeningState(address, endpoint, on: host, options: options)
        hosts[host].listeners.append(listener)
        note("\(hosts[host].name) listens at \(endpoint)")
        return listener
    }

    private func isTaken(_ address: ListenAddress, on host: Int) -> Bool { hosts[host].listeners.contains { $0.address == address } }

    private static func port(after port: UInt16) -> UInt16 { port == .max ? 49_152 : port + 1 }

    mutating func dial(
        _ endpoint: Endpoint, at address: ListenAddress, from host: Int, on target: Int, options: SocketOptions,
        telling connected: OneShot<Void>
    ) throws(SocketError) -> SimulatedConnection {
        guard hosts[host].isUp else { throw SimulatedErrors.hostIsDown(hosts[host].name) }
        if case .path = address, !isTaken(address, on: host) { throw SimulatedErrors.refused(endpoint) }
        dialed += 1
        let port = hosts[host].nextPort
        hosts[host].nextPort = Self.port(after: port)
        let local: Endpoint = if case .path = address { .unix("#\(dialed)") } else { .tcp(hosts[host].name, port) }
        let connection = SimulatedConnection(
            number: dialed, to: endpoint, at: address, from: host, on: target,
            links: (link(from: host, to: target), link(from: target, to: host)), local: local, options: options,
            kernel: hosts[host].kernel)
        connections.append(connection)
        connection.dialer.connected = connected
        connection.dialer.waitingSince = now
        hosts[host].openTransports += 1
        send(.connect, from: connection.dialer)
        return connection
    }

    mutating func connectArrived(_ packet: Packet) {
        let connection = packet.connection
        if let acceptor = connection.acceptor {
            // It was sent again, for its answer was lost.
            switch acceptor.phase {
            case .accepting: send(.accept, from: acceptor)
            case .open: send(.acknowledgement, from: acceptor)
            case .dialing: break
            case .gone: send(Packet(kind: .reset, connection: connection, isFromDialer: false))
            }
            return
        }
        let host = connection.acceptorHost
        guard let listener = hosts[host].listeners.first(where: { $0.address == connection.address }) else {
            send(Packet(kind: .reset, connection: connection, isFromDialer: false))
            return
        }
        guard listener.waiting.count + listener.underWay < max(1, listener.options.backlog) else {
            // As Linux does: the dialer may try again.
            lose(packet)
            return
        }
        let acceptor = SimulatedSocket(
            connection, isDialer: false, on: host, local: listener.endpoint, remote: connection.dialer.local, options: listener.options,
            kernel: hosts[host].kernel, phase: .accepting)
        if connection.dialer.phase == .gone {
            // Forgotten already; it lives again until the dialer's kernel has said so.
            let place = connections.firstIndex { $0.number > connection.number } ?? connections.count
            connections.insert(connection, at: place)
        }
        connection.acceptor = acceptor
        acceptor.edge = packet.edge
        acceptor.waitingSince = now
        acceptor.listener = listener
        listener.underWay += 1
        send(.accept, from: acceptor)
    }

    mutating func acceptArrived(_ packet: Packet, at socket: SimulatedSocket) {
        socket.edge = max(socket.edge, packet.edge)
        if socket.phase == .dialing {
            socket.phase = .open
            hasBegun(socket)
            if let connected = socket.connected {
                socket.connected = nil
                effects.append(.connected(connected, nil))
            }
        }
        send(.acknowledgement, from: socket)
        pump(socket)
    }

    /// The dialer has acknowledged.
    mutating func establish(_ socket: SimulatedSocket) {
        socket.phase = .open
        hasBegun(socket)
        guard let listener = socket.listener else { return }
        socket.listener = nil
        listener.underWay -= 1
        listener.waiting.append((socket.connection, now.advanced(by: max(.zero, hosts[socket.host].kernel.acceptDelay))))
        acceptNext(at: listener)
    }

    private mutating func hasBegun(_ socket: SimulatedSocket) {
        socket.tries = 0
        socket.retransmission = .never
        socket.waitingSince = .never
        beginKeepAlive(socket)
    }

    /// The owner takes one after the other, so that a pause takes effect between two of them.
    mutating func acceptNext(at listener: ListeningState) {
        guard !listener.isPaused, !listener.isHandingOver, let (connection, ready) = listener.waiting.first,
            let socket = connection.acceptor
        else { return }
        if ready > now {
            if !listener.isTimed { events.add(.accepting(listener), at: ready) }
            listener.isTimed = true
            return
        }
        listener.waiting.removeFirst()
        listener.isHandingOver = true
        hosts[listener.host].openTransports += 1
        effects.append(.accept(listener, socket, of: connection))
    }

    /// Nobody listens any more; those in the backlog are reset.
    mutating func close(_ listener: ListeningState, silently: Bool = false) {
        guard !listener.isClosed else { return }
        listener.isClosed = true
        hosts[listener.host].listeners.removeAll { $0 === listener }
        note("\(hosts[listener.host].name) listens no more at \(listener.endpoint)")
        let waiting = listener.waiting
        listener.waiting = []
        let underWay = connections.compactMap { $0.acceptor?.listener === listener ? $0.acceptor : nil }
        for socket in waiting.compactMap(\.connection.acceptor) + underWay where socket.phase != .gone {
            socket.isClosed = true
            if !silently { send(.reset, from: socket) }
            end(socket, because: nil)
        }
    }
}
