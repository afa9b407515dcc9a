internal import LifelineCore
internal import LifelineRuntime
internal import Synchronization

/// An open listener of a simulated host.
///
/// The proof behind `@unchecked`: `sink` is guarded by `lock`; `state` is the fabric's.
final class SimulatedListener: Listener, @unchecked Sendable {
    let endpoint: Endpoint
    private let state: ListeningState
    private let fabric: SimulatedFabric
    private let loops: [any EventLoop]
    private let turn = Atomic<Int>(0)
    private let lock = Lock()
    private var sink: (any ListenerSink)?

    init(_ state: ListeningState, dealingTo loops: [any EventLoop], sink: any ListenerSink, _ fabric: SimulatedFabric) {
        endpoint = state.endpoint
        self.state = state
        self.fabric = fabric
        self.loops = loops
        self.sink = sink
        fabric.perform { _ in state.owner = self }
    }

    deinit { fabric.perform { $0.close(state) } }

    func nextLoop() -> any EventLoop {
        loops[(turn.wrappingAdd(1, ordering: .relaxed).oldValue & .max) % loops.count]
    }

    /// Gives `transport` to the sink, on its loop, and then takes the next.
    func handOver(_ transport: SimulatedTransport) {
        transport.loop.submit {
            if let sink = self.lock.withLock({ self.sink }) { sink.accepted(transport) } else { transport.close(reset: true) }
            self.fabric.perform { state in
                self.state.isHandingOver = false
                state.acceptNext(at: self.state)
            }
        }
    }

    func pause() { fabric.perform { _ in state.isPaused = true } }

    func resume() {
        fabric.perform { fabric in
            state.isPaused = false
            fabric.acceptNext(at: state)
        }
    }

    func close() async { closeSoon() }

    func closeSoon() {
        fabric.perform { $0.close(state) }
        // Released outside of the lock.
        let last = lock.withLock {
            defer { sink = nil }
            return sink
        }
        withExtendedLifetime(last) {}
    }
}
