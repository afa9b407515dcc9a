import LifelineCore

/// What a server's parts share: the listener tells it of new connections, `run` serves them, `shutdown` ends them.
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`; `handler` is read only by what `run` has started.
final class ServerState<C: Codec>: ListenerSink, InboxProducer, @unchecked Sendable {
    /// A connection that waits for its handler.
    final class Accepted: Sendable {
        let id: UInt64
        let core: StreamCore
        /// Nil if there is a handshake to do; then there is a stream.
        let connection: Connection<C>?
        let stream: ByteStream?

        init(id: UInt64, core: StreamCore, connection: Connection<C>?, stream: ByteStream?) {
            self.id = id
            self.core = core
            self.connection = connection
            self.stream = stream
        }

        var loop: any EventLoop { core.loop }
    }

    let codec: C
    let options: ServerOptions
    let tooBusy: C.Encoder.Frame?
    private let pairing: Pairing<C>?
    private let heartbeat: HeartbeatPlan<C>?
    let handshake: (@Sendable (ByteStream) async throws -> Void)?
    let loop: any EventLoop
    let registry = ConnectionRegistry<C>()
    private let settings: StreamCore.Settings
    let queue: Inbox<Accepted>

    let lock = Lock()
    var listener: (any Listener)?
    var isStopping = false
    var isRunning = false
    /// Set once, by `run`, before anything is served.
    private var handler: (@Sendable (Connection<C>) async throws -> Void)?
    var isForced = false
    private var turnedAway = 0
    var drainWaiters: [OneShot<Bool>] = []
    /// What a shutdown tells each connection at its end.
    var lastWords: LastWords?
    /// The first failure to do so.
    var unsaid: (any Error)?

    init(
        codec: C, options: ServerOptions, tooBusy: C.Encoder.Frame?, pairing: Pairing<C>?, heartbeat: HeartbeatPlan<C>?,
        handshake: (@Sendable (ByteStream) async throws -> Void)?, loop: any EventLoop
    ) {
        self.codec = codec
        self.options = options
        settings = StreamCore.Settings(options.connection)
        self.tooBusy = tooBusy
        self.pairing = pairing
        self.heartbeat = heartbeat
        self.handshake = handshake
        self.loop = loop
        queue = Inbox(marks: Marks(high: max(1, options.acceptQueue)), frames: max(1, options.acceptQueue))
        queue.producer = self
    }

    func set(_ listener: any Listener) { lock.withLock { self.listener = listener } }

    // The listener's side.

    func accepted(_ transport: any Transport) {
        let core = StreamCore(transport: transport, settings: settings)
        let connection = handshake == nil ? Connection(over: core, codec: codec, heartbeat: heartbeat, pairing: pairing) : nil
        let stream = handshake == nil ? nil : ByteStream(over: core)
        guard !lock.withLock({ isStopping }) else {
            core.closeNow(because: .shuttingDown)
            return
        }
        // Nobody else sees a connection before its handshake is through.
        guard let id = registry.add(core, transport.handshake == nil ? connection : nil, maximum: options.maximumConnections) else {
            turnAway(core)
            return
        }
        core.start()
        if transport.handshake == nil { connection?.heartbeat?.begin() }
        var arrivals = FrameQueue<Accepted>()
        arrivals.append(Accepted(id: id, core: core, connection: connection, stream: stream))
        if queue.add(&arrivals, bytes: 1, marked: false).isPaused, let listener = lock.withLock({ listener }) {
            listener.pause()
            // On another thread room may have been made, and the listener resumed, before it was paused.
            if !queue.isPaused { listener.resume() }
        }
        if let late = arrivals.popFirst() {
            // The queue has ended meanwhile: nobody will take it.
            closeUnserved(late)
            return
        }
        // A shutdown that began meanwhile has not seen this one.
        if lock.withLock({ isStopping }) { core.stopServing() }
    }

    func acceptFailed(_ error: SocketError) {
        if let report = options.onAcceptError { report(error) } else { loop.complain("accepting fails for now: \(error)") }
    }

    func inboxHasRoom() { lock.withLock { listener }?.resume() }

    /// One connection too many: a last word, if there is one, and a close that doesn't wait for long. On its loop.
    private func turnAway(_ core: StreamCore) {
        guard let tooBusy, mayTurnAway() else {
            core.closeNow(because: .failed(SocketError(.tooBusy, "as many connections as may be")))
            return
        }
        let connection = Connection(over: core, codec: codec)
        core.start()
        let error = SocketError(.tooBusy, "as many connections as may be")
        try? connection.outbound.sayLast(tooBusy, because: error)
        core.onClosed = { [weak self] in self?.wasTurnedAway() }
        core.close(within: .seconds(1), because: .failed(error), done: nil)
    }

    private func mayTurnAway() -> Bool {
        lock.withLock {
            if turnedAway >= 64 { return false }
            turnedAway += 1
            return true
        }
    }

    private func wasTurnedAway() { lock.withLock { turnedAway -= 1 } }

    // Serving.

    /// Says whether there is anything to serve: not after a shutdown, which sees to those that wait.
    func beginRun(_ handler: @escaping @Sendable (Connection<C>) async throws -> Void) throws -> Bool {
        let (isSecond, mayServe) = lock.withLock {
            if isRunning { return (true, false) }
            isRunning = true
            self.handler = handler
            return (false, !isStopping)
        }
        if isSecond { throw SocketError(.misuse, "the server runs, or has run: bind another one") }
        return mayServe
    }

    /// The last handler has returned. What they captured, often the server itself, must not be kept by it.
    func endRun() {
        let kept = lock.withLock {
            defer { handler = nil }
            return handler
        }
        withExtendedLifetime(kept) {}
    }

    /// Runs one connection from its handshake to its end.
    ///
    /// The frames of these functions are what an idle connection's task keeps: the fewer values live while a handler waits, the better.
    @inline(__always)
    func serve(_ accepted: Accepted) async {
        // Whoever cancels a handler's task closes its connection at once: see `force`.
        accepted.connection?.inbox.watchCurrentTask()
        do {
            try await handle(accepted.connection, accepted)
        } catch {
            report(error)
        }
        accepted.connection?.inbox.unwatchTask()
        await close(accepted)
    }

    @inline(__always)
    private func handle(_ connection: Connection<C>?, _ accepted: Accepted) async throws {
        guard let handler else { return }
        if accepted.core.isHandshakeDue { try await secure(accepted) }
        if let connection {
            try await handler(connection)
        } else {
            try await handler(try await shakeHands(accepted))
        }
    }

    /// Waits for what the transport has to agree on with its peer.
    private func secure(_ accepted: Accepted) async throws {
        do {
            try await accepted.core.transport.handshake?.complete()
        } catch let error as SocketError where error.code == .closed {
            // The connection has ended for another reason, which says more.
            let reason = accepted.connection?.closeReason ?? accepted.stream?.closeReason
            if reason == .shuttingDown { throw Unserved() }
            throw reason?.error ?? error
        }
        guard let connection = accepted.connection else { return }
        registry.set(connection, for: accepted.id)
        await connection.beginHeartbeat()
    }

    private func shakeHands(_ accepted: Accepted) async throws -> Connection<C> {
        guard let stream = accepted.stream else { throw SocketError(.misuse, "nothing was accepted") }
        try await handshake?(stream)
        let connection = try await stream.framed(with: codec, pairing: pairing, heartbeat: heartbeat)
        registry.set(connection, for: accepted.id)
        return connection
    }

    private func close(_ accepted: Accepted) async {
        // Where the handler, or somebody who let this client go, has begun to close with a limit, that one holds.
        _ = await accepted.core.closeGracefully(within: options.connection.lingerLimit, by: nil, shortens: false) {
            self.sayLastWords(to: accepted)
        }
        left(accepted)
    }

    func left(_ accepted: Accepted) {
        if registry.remove(accepted.id) == 0 { finishDraining() }
    }

    private func report(_ error: any Error) {
        if error is CancellationError, Task.isCancelled { return }
        if error is Unserved { return }
        if let report = options.onHandlerError { report(error) } else { loop.complain("a connection's handler failed: \(error)") }
    }
}

/// A shutdown came before the handshake was through: no handler has begun, and nothing is wrong.
private struct Unserved: Error {}
