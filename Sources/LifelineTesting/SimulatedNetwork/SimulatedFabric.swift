internal import LifelineCore
internal import LifelineRuntime

/// The simulated network's one place: a lock around ``FabricState``, and the hands that do what it says.
///
/// The proof behind `@unchecked`: `state` is guarded by `lock`, and nothing of what it asks for is done under the lock: rules are asked,
/// waiters resumed and notices posted behind it, in order.
final class SimulatedFabric: VirtualScheduler.Device, @unchecked Sendable {
    let scheduler: VirtualScheduler
    let loops: [VirtualEventLoop]
    private let lock = Lock()
    private var state: FabricState

    init(_ scheduler: VirtualScheduler, loops: [VirtualEventLoop]) {
        self.scheduler = scheduler
        self.loops = loops
        // A sequence of its own, apart from the order of turns and from the test's.
        state = FabricState(trace: scheduler.trace, seed: scheduler.seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        scheduler.device = self
    }

    @discardableResult
    func perform<R>(_ body: (inout FabricState) throws(SocketError) -> R) throws(SocketError) -> R {
        lock.lock()
        state.now = scheduler.now
        let result: Result<R, SocketError>
        do throws(SocketError) {
            result = .success(try body(&state))
        } catch {
            result = .failure(error)
        }
        if state.effects.isEmpty {
            lock.unlock()
        } else {
            let effects = state.effects
            state.effects = []
            lock.unlock()
            for effect in effects { carryOut(effect) }
        }
        return try result.get()
    }

    @discardableResult
    func perform<R>(_ body: (inout FabricState) -> R) -> R {
        lock.lock()
        state.now = scheduler.now
        let result = body(&state)
        let effects = state.effects
        if !effects.isEmpty { state.effects = [] }
        lock.unlock()
        for effect in effects { carryOut(effect) }
        return result
    }

    private func carryOut(_ effect: FabricState.Effect) {
        switch effect {
        case .post(let transport):
            transport.loop.post(transport)
        case .connected(let connected, let error):
            if let error { connected.fail(error) } else { connected.succeed(()) }
        case .accept(let listening, let socket, let connection):
            guard let listener = listening.owner else {
                perform { $0.close(socket, reset: true) }
                return
            }
            listener.handOver(SimulatedTransport(socket, of: connection, on: listener.nextLoop(), self))
        case .judge(let packet, let delay):
            judge(packet, after: delay)
        }
    }

    /// The first rule that has something to say decides.
    private func judge(_ packet: Packet, after delay: Duration) {
        let (rules, names) = lock.withLock { (state.rules, (state.hosts[packet.source].name, state.hosts[packet.target].name)) }
        let view = SimulatedPacket(
            kind: packet.kind, from: names.0, to: names.1, connection: packet.connection.number, isFromDialer: packet.isFromDialer,
            endpoint: packet.connection.endpoint, offset: packet.offset, bytes: packet.bytes, isEnd: packet.isEnd,
            time: scheduler.now.sinceStart)
        for rule in rules {
            let verdict = rule.judge(view)
            if verdict == .pass { continue }
            perform { $0.follow(verdict, of: rule.number, packet, after: delay) }
            return
        }
        perform { $0.dispatch(packet, after: delay) }
    }

    // What the scheduler asks.

    var nextTime: LoopTime? { lock.withLock { state.events.earliest } }

    func act(at now: LoopTime) -> Bool {
        var hasActed = false
        while perform({ state in
            guard let event = state.events.popDue(now) else { return false }
            state.handle(event)
            return true
        }) {
            hasActed = true
        }
        return hasActed
    }

    /// Rules go: what they have captured, the world say, may hold this network.
    func end() {
        let rules = lock.withLock {
            defer { state.rules = [] }
            return state.rules
        }
        withExtendedLifetime(rules) {}
    }
}
