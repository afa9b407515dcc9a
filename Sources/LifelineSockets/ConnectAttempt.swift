import CLifelineSystem
import LifelineCore
import LifelineRuntime

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One try to connect to one address within one time. Whatever ends it, either the transport is handed over or nothing is left.
///
/// Confined to its loop.
final class ConnectAttempt: LoopTimerTarget {
    private let address: SocketAddress
    private let loop: PollingEventLoop
    private let options: SocketOptions
    private let limit: Duration
    private var done: ((Result<SocketTransport, SocketError>) -> Void)?

    private var transport: SocketTransport?
    private var timer: LoopTimer?
    private var deadline = LoopTime.never
    private var retryDelay = Duration.milliseconds(1)

    /// `done` is called once, on the loop, unless ``abort()`` comes first; it may be called by ``begin()``.
    init(
        _ address: SocketAddress, on loop: PollingEventLoop, options: SocketOptions, within limit: Duration,
        done: @escaping (Result<SocketTransport, SocketError>) -> Void
    ) {
        self.address = address
        self.loop = loop
        self.options = options
        self.limit = limit
        self.done = done
    }

    func begin() {
        if limit <= .zero { return finish(.failure(timeOut)) }
        deadline = loop.now.advanced(by: limit)
        dial()
    }

    /// Gives up; the descriptor is gone when it returns.
    func abort() {
        done = nil
        cleanUp()?.close(reset: false)
    }

    private func dial() {
        do throws(SocketError) {
            let descriptor = try Descriptor.open(family: address.family)
            do throws(SocketError) {
                try dial(descriptor)
            } catch {
                _ = lls_close(descriptor)
                throw error
            }
        } catch {
            finish(.failure(error))
        }
    }

    /// Throws while the descriptor is still the caller's to close.
    private func dial(_ descriptor: Int32) throws(SocketError) {
        let isUnix = address.family == Int32(LLS_UNIX)
        try Descriptor.apply(options, to: descriptor, isIP: !isUnix)
        var raw = address.raw
        let status = lls_connect(descriptor, &raw)
        if status == -EAGAIN, isUnix {
            // The listener's backlog is full, and for Unix sockets the kernel tells nobody when it isn't.
            _ = lls_close(descriptor)
            retryLater()
            return
        }
        if status < 0, status != -EINPROGRESS { throw failure(-status) }
        // Watched from here on and not before: a socket that isn't connecting yet reports a hang-up.
        let transport = try SocketTransport(descriptor, on: loop, remote: address, isUnix: isUnix, attempt: self)
        self.transport = transport
        if status == 0 {
            connected(transport)
        } else {
            arm(at: deadline)
        }
    }

    /// The kernel has news of the connect.
    func ready(_ events: PollEvents) {
        guard let transport, !events.isDisjoint(with: [.writable, .hangUp]) else { return }
        let number = lls_pending_error(transport.descriptor)
        if number == 0 { connected(transport) } else { finish(.failure(failure(number))) }
    }

    private func connected(_ transport: SocketTransport) {
        if transport.isConnectedToItself { return finish(.failure(failure(ECONNREFUSED))) }
        finish(.success(transport))
    }

    private func retryLater() {
        arm(at: min(deadline, loop.now.advanced(by: retryDelay)))
        retryDelay = min(retryDelay * 2, .milliseconds(50))
    }

    func timerFired(_ timer: LoopTimer) {
        if loop.now >= deadline { finish(.failure(timeOut)) } else { dial() }
    }

    private func arm(at time: LoopTime) {
        if time == .never { return }
        let timer = self.timer ?? LoopTimer(self)
        self.timer = timer
        loop.arm(timer, at: time)
    }

    private func finish(_ outcome: Result<SocketTransport, SocketError>) {
        guard let done else { return }
        self.done = nil
        let transport = cleanUp()
        if case .failure = outcome { transport?.close(reset: false) } else { transport?.attempt = nil }
        done(outcome)
    }

    private func cleanUp() -> SocketTransport? {
        if let timer { loop.disarm(timer) }
        timer = nil
        defer { transport = nil }
        return transport
    }

    private var timeOut: SocketError { SocketError(timedOut: .connect, after: limit, detail: address.description) }

    private func failure(_ number: Int32) -> SocketError {
        if case .unix = address, number == ENOENT {
            return SocketError(.refused, "connecting to \(address): there is no such file", errno: number)
        }
        return SocketError(errno: number, "connecting to \(address)")
    }
}
