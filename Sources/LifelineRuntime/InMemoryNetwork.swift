package import LifelineCore
import Synchronization

/// A network in memory: its names (``Endpoint/inMemory(_:)``) belong to this object, so two tests can't meet. Bytes flow through
/// bounded pipes with partial writes, split reads, half-close and resets, so everything above behaves as on sockets.
public final class InMemoryNetwork: Network {
    package let driver: InMemoryDriver

    /// What the runtime drives. Not for use.
    public var _driver: _NetworkDriver { _NetworkDriver(driver) }

    /// A network on `loops`; each direction of a connection holds at most `pipeCapacity` bytes.
    ///
    /// - Parameter owner: whose loops they are; kept alive with the network.
    package init(loops: [any EventLoop], pipeCapacity: Int = 65_536, keeping owner: (any Sendable)? = nil) {
        driver = InMemoryDriver(loops: loops, pipeCapacity: pipeCapacity, keeping: owner)
    }
}

/// The proof behind `@unchecked`: what changes is guarded by `lock`.
package final class InMemoryDriver: NetworkDriver, @unchecked Sendable {
    package let loops: [any EventLoop]
    private let pipeCapacity: Int
    private let owner: (any Sendable)?
    private let turn = Atomic<Int>(0)
    private let lock = Lock()
    private var listeners: [String: MemoryListener] = [:]
    private var dialed = 0

    init(loops: [any EventLoop], pipeCapacity: Int, keeping owner: (any Sendable)?) {
        self.loops = loops
        self.owner = owner
        self.pipeCapacity = max(1, pipeCapacity)
    }

    package func nextLoop() -> any EventLoop {
        loops[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & .max) % loops.count]
    }

    package func dial(
        _ endpoint: Endpoint, on loop: any EventLoop, options: SocketOptions, within limit: Duration
    ) async throws -> any Transport {
        let name = try name(of: endpoint)
        try Task.checkCancellation()
        let (listener, number) = lock.withLock {
            dialed += 1
            return (listeners[name], dialed)
        }
        guard let listener else { throw SocketError(.refused, "nobody listens at \(endpoint)") }
        let ours = Endpoint.inMemory("\(name)#\(number)")
        let serverLoop = listener.nextLoop()
        let (near, far) = MemoryTransport.pair(
            on: (loop, serverLoop), endpoints: (ours, endpoint),
            capacities: (options.sendBuffer ?? pipeCapacity, options.receiveBuffer ?? pipeCapacity))
        let isAccepted = OneShot<Void>(timeOut: SocketError(timedOut: .connect, after: limit))
        listener.offer(far, isAccepted)
        do {
            try await isAccepted.value(within: limit, on: loop)
        } catch {
            listener.withdraw(far)
            near.closeFromAnywhere()
            throw error
        }
        return near
    }

    package func listen(
        _ endpoint: Endpoint, on loop: any EventLoop, dealingTo loops: [any EventLoop], options: SocketOptions, sink: any ListenerSink
    ) async throws -> any Listener {
        let name = try name(of: endpoint)
        let listener = MemoryListener(name: name, loops: loops, backlog: options.backlog, sink: sink, network: self)
        let isTaken = lock.withLock {
            if listeners[name] != nil { return true }
            listeners[name] = listener
            return false
        }
        if isTaken { throw SocketError(.addressInUse, "somebody listens at \(endpoint) already") }
        return listener
    }

    func remove(_ listener: MemoryListener, name: String) {
        lock.withLock {
            if listeners[name] === listener { listeners[name] = nil }
        }
    }

    private func name(of endpoint: Endpoint) throws(SocketError) -> String {
        guard case .inMemory(let name) = endpoint else {
            throw SocketError(.unsupportedEndpoint, "a network in memory can't serve \(endpoint): use an .inMemory name")
        }
        return name
    }
}

/// A name that is listened at. As a kernel does, it keeps those that come in a backlog, in order, and hands them over one after the
/// other, so that a pause takes effect between two of them.
///
/// The proof behind `@unchecked`: what changes is guarded by `lock`.
final class MemoryListener: Listener, @unchecked Sendable {
    private struct Offer {
        let transport: MemoryTransport
        let isAccepted: OneShot<Void>
    }

    let endpoint: Endpoint
    private let name: String
    private let loops: [any EventLoop]
    private let backlog: Int
    private let sink: any ListenerSink
    private weak var network: InMemoryDriver?
    private let turn = Atomic<Int>(0)
    private let lock = Lock()
    private var isPaused = false
    private var isClosed = false
    /// One is on its way to the sink.
    private var isHandingOver = false
    /// Connected as far as their clients know, up to the backlog.
    private var waiting: [Offer] = []
    /// Those behind that wait for a place.
    private var dialing: [Offer] = []

    init(name: String, loops: [any EventLoop], backlog: Int, sink: any ListenerSink, network: InMemoryDriver) {
        self.name = name
        self.loops = loops
        self.backlog = max(1, backlog)
        self.sink = sink
        self.network = network
        endpoint = .inMemory(name)
    }

    func nextLoop() -> any EventLoop {
        loops[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & .max) % loops.count]
    }

    func offer(_ transport: MemoryTransport, _ isAccepted: OneShot<Void>) {
        lock.lock()
        if isClosed {
            lock.unlock()
            isAccepted.fail(closedError)
            return
        }
        dialing.append(Offer(transport: transport, isAccepted: isAccepted))
        lock.unlock()
        handOver()
    }

    /// The client has given up waiting for a place.
    func withdraw(_ transport: MemoryTransport) {
        lock.withLock { dialing.removeAll { $0.transport === transport } }
    }

    func pause() { lock.withLock { isPaused = true } }

    func resume() {
        lock.withLock { isPaused = false }
        handOver()
    }

    func close() async { closeSoon() }

    func closeSoon() {
        network?.remove(self, name: name)
        lock.lock()
        isClosed = true
        let left = waiting + dialing
        waiting = []
        dialing = []
        lock.unlock()
        for offer in left {
            offer.isAccepted.fail(closedError)
            offer.transport.closeFromAnywhere()
        }
    }

    private var closedError: SocketError { SocketError(.refused, "nobody listens at \(endpoint) any more") }

    /// Gives places to those that wait for one, and the next transport to the sink.
    private func handOver() {
        while true {
            lock.lock()
            if waiting.count < backlog, !dialing.isEmpty {
                let offer = dialing.removeFirst()
                waiting.append(offer)
                lock.unlock()
                offer.isAccepted.succeed(())
                continue
            }
            guard !isPaused, !isHandingOver, !waiting.isEmpty else {
                lock.unlock()
                return
            }
            isHandingOver = true
            let transport = waiting.removeFirst().transport
            lock.unlock()
            transport.loop.submit { self.handOver(transport) }
        }
    }

    /// Hands over `transport`, on its loop, and in the same turn those that are next and live there, too.
    private func handOver(_ first: MemoryTransport) {
        var transport = first
        while true {
            sink.accepted(transport)
            let next: MemoryTransport? = lock.withLock {
                if !isPaused, let next = waiting.first?.transport, next.loop === transport.loop {
                    waiting.removeFirst()
                    return next
                }
                isHandingOver = false
                return nil
            }
            guard let next else { break }
            transport = next
        }
        handOver()
    }
}
