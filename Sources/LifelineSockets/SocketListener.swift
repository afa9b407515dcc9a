import CLifelineSystem
package import LifelineCore
package import LifelineRuntime
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A listening socket on its loop, which deals what it accepts to other loops. Its sink is held until it is closed.
///
/// The proof behind `@unchecked`: everything that changes is touched on `home` only, but for `isPaused`, which is atomic.
package final class SocketListener: Listener, @unchecked Sendable {
    package let endpoint: Endpoint
    private let home: PollingEventLoop
    private let targets: [PollingEventLoop]
    private let isUnix: Bool
    private var descriptor: Int32
    private var file: UnixPath?
    private var sink: (any ListenerSink)?
    private var token: UInt64 = 0
    private var dealt = 0
    private let isPaused = Atomic(false)
    /// Connections may wait: set by an event, cleared when there were none.
    private var isReady = false
    private var isTurnPosted = false
    private var retryTimer: LoopTimer?

    /// So many are accepted before others have their turn.
    private static let batch = 64
    /// How long accepting rests when the process has run out of something.
    private static let rest = Duration.milliseconds(100)

    private init(_ socket: ListeningSocket, on home: PollingEventLoop, dealingTo targets: [PollingEventLoop], sink: any ListenerSink) {
        endpoint = socket.endpoint
        isUnix = socket.isUnix
        descriptor = socket.descriptor
        file = socket.file
        self.home = home
        self.targets = targets
        self.sink = sink
    }

    /// Begins to accept. After an error the socket is closed.
    static func open(
        _ socket: ListeningSocket, on home: PollingEventLoop, dealingTo targets: [PollingEventLoop], sink: any ListenerSink
    ) async throws(SocketError) -> SocketListener {
        let listener = SocketListener(socket, on: home, dealingTo: targets, sink: sink)
        let failure: SocketError? = await Reply.from(home) {
            do throws(SocketError) {
                listener.token = try home.watch(socket.descriptor, for: .accepts, listener)
                return nil
            } catch {
                listener.closeNow()
                return error
            }
        }
        if let failure { throw failure }
        return listener
    }

    // What threads say in turn must not change its order on the way to the loop.
    package func pause() { isPaused.store(true, ordering: .sequentiallyConsistent) }

    package func resume() {
        isPaused.store(false, ordering: .sequentiallyConsistent)
        home.run { self.acceptSoon() }
    }

    /// When it returns, the address is free and the sink won't be told of another connection. Cancelling the caller changes nothing.
    package func close() async {
        await Reply.from(home) { self.closeNow() }
        // What was accepted is on its way to the loops in order: behind it, all has been delivered.
        for target in targets where target !== home { await Reply.behindAll(on: target) }
    }

    package func closeSoon() { home.run { self.closeNow() } }

    private func closeNow() {
        guard descriptor >= 0 else { return }
        if let retryTimer { home.disarm(retryTimer) }
        retryTimer = nil
        home.unwatch(token, descriptor, explicitly: false)
        // The file first: who finds it gone starts anew, and who finds it can still connect.
        file?.remove()
        _ = lls_close(descriptor)
        descriptor = -1
        sink = nil
    }
}

// Accepting.
extension SocketListener: PollTarget, LoopNotice, LoopTimerTarget {
    package func ready(_ events: PollEvents) {
        isReady = true
        acceptSome()
    }

    package func deliver() {
        isTurnPosted = false
        acceptSome()
    }

    package func timerFired(_ timer: LoopTimer) {
        retryTimer = nil
        acceptSome()
    }

    private func acceptSoon() {
        guard isReady, !isTurnPosted else { return }
        isTurnPosted = true
        home.post(self)
    }

    private func acceptSome() {
        guard isReady, retryTimer == nil else { return }
        var peer = lls_address()
        for _ in 0..<Self.batch {
            guard descriptor >= 0, !isPaused.load(ordering: .sequentiallyConsistent) else { return }
            let accepted = lls_accept(descriptor, &peer)
            if accepted >= 0 {
                deal(accepted, peer)
                continue
            }
            switch -accepted {
            case EAGAIN, EWOULDBLOCK:
                isReady = false
                return
            case ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, EPERM:
                // This connection's trouble; the next may be well.
                continue
            default:
                rest(after: SocketError(errno: -accepted, "accepting at \(endpoint)"))
                return
            }
        }
        acceptSoon()
    }

    private func deal(_ accepted: Int32, _ peer: lls_address) {
        let target = targets[dealt % targets.count]
        dealt &+= 1
        guard let sink else { return }
        target.run { [isUnix] in
            do throws(SocketError) {
                sink.accepted(try SocketTransport(accepted, on: target, remote: SocketAddress(peer), isUnix: isUnix))
            } catch {
                _ = lls_close(accepted)
                sink.acceptFailed(error)
            }
        }
    }

    /// Out of descriptors or memory: tries again later, since the event won't come again and trying at once would only spin.
    private func rest(after error: SocketError) {
        let timer = LoopTimer(self)
        retryTimer = timer
        home.arm(timer, at: home.now.advanced(by: Self.rest))
        sink?.acceptFailed(error)
    }
}
