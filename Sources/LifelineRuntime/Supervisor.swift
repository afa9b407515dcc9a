public import LifelineCore

/// A link that is kept up: connects, registers, reconnects by its policy, and tells what it is doing.
///
/// ```swift
/// let link = Supervisor(
///     endpoint: .tcp("im.example.com", 7000), codec: .lines,
///     heartbeat: .pingPong(every: .seconds(5), answerWithin: .seconds(3), ping: "ping") { $0 == "pong" },
///     reconnect: .exponential()
/// ) { connection in
///     try await connection.send(login)          // before anything else flows, on each connection
///     guard try await connection.next() == accepted else { throw Refused() }
/// }
/// await link.start()
/// for try await message in link.messages { … }   // goes on across reconnects
/// await link.stop()
/// ```
///
/// An actor on one event loop, which all of its connections share. At most one connection is there at a time, and nothing that happens to
/// an older one reaches a newer one. A supervisor that was started lives until it is stopped.
///
/// **Messages** form one long stream: the frames of an older connection, as far as they were decoded, stand before those of a newer one,
/// and the bounds of one inbox hold for all of them. ``statusUpdates`` tell when the link was lost and when it was there again. A stop
/// ends the stream, behind what has arrived; each start begins a new one.
public final actor Supervisor<C: Codec> {
    /// What arrives.
    public typealias Message = C.Message
    /// What is sent.
    public typealias Outgoing = C.Outgoing
    /// Makes a new connection known to the server.
    public typealias Registration = @Sendable (Connection<C>) async throws -> Void

    @usableFromInline nonisolated let state: SupervisorState<C>
    @usableFromInline nonisolated let codec: C
    nonisolated let loop: any EventLoop
    nonisolated let driver: any NetworkDriver
    nonisolated let options: SupervisorOptions
    nonisolated let heartbeat: HeartbeatPlan<C>?
    nonisolated let pairing: Pairing<C>?
    /// A setting that can't be meant: the link stops with it as soon as it is started.
    nonisolated let invalid: SocketError?
    nonisolated let registration: Registration?
    nonisolated let goAway: (@Sendable (C.Decoder.Frame) -> GoAway?)?
    nonisolated let board = StatusBoard()
    nonisolated let subscriptions = MailboxList<C.Decoder.Frame>()

    var machine: SupervisorMachine
    /// The connection that messages flow over.
    var live: Connection<C>?
    /// Ends what is under way, whatever it is. There from a run's beginning to its end.
    var interruption: OneShot<Void>?
    /// Ends a wait.
    var wake: OneShot<Void>?
    /// Those who wait for the end of the run.
    var leavers: [OneShot<Void>] = []

    /// The event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// A link to `endpoint` over `network`, not started.
    ///
    /// - Parameters:
    ///   - endpoint: where each attempt goes, unless the server or ``ReconnectPolicy/decide`` sends it elsewhere.
    ///   - codec: of every connection.
    ///   - pairing: how answers find their requests; without one ``request(_:within:)`` can't be used.
    ///   - heartbeat: how each connection shows, and finds out, that it lives. The peer's pings are answered from the first byte on; beats
    ///     of its own begin behind the registration. Default: none. One that can't be meant stops the link when it is started, with
    ///     ``SocketError/Code/invalidSetting``.
    ///   - reconnect: when to try again. Default: 1, 2, 4, … 30 s with full jitter, for ever.
    ///   - offline: what becomes of messages that are sent without a connection. Default: `send` waits for one.
    ///   - register: makes each new connection known to the server, before anything else flows, within
    ///     ``SupervisorOptions/registrationLimit``. It fetches its credentials anew each time. The connection is its own: once it has
    ///     returned, that throws ``SocketError/Code/misuse``, and what it has left unread is the first of ``messages``. An error of yours
    ///     that it throws stops the link as ``OfflineReason/loginRefused(_:)`` unless ``ReconnectPolicy/decide`` says otherwise; a
    ///     ``SocketError`` counts by its code, a ``ReconnectHint`` is obeyed, and when the connection itself has ended, its end counts. It is
    ///     cancelled at the limit and by a stop, which both wait for it.
    ///   - goAway: finds out whether a frame says that the server lets this client go, and what it wants then: see ``GoAway``. It is shown
    ///     each frame of each connection on the event loop, whether or not somebody reads, so it must be quick; where the frame would go
    ///     without it, it goes all the same. What it gives is obeyed when the connection ends, whatever ends it, and before the failure of
    ///     a registration; of several the last one counts. The server should end the connection then; if not, it is ended here after
    ///     ``SupervisorOptions/goAwayLimit``. While the inbox is full, reading pauses, and nothing is found. Default: nothing is looked for.
    public init(
        endpoint: Endpoint, codec: C, pairing: Pairing<C>? = nil, on network: some Network, heartbeat: Heartbeat<C> = .none,
        reconnect: ReconnectPolicy = .exponential(), offline: OfflineRule<C.Outgoing> = .wait,
        options: SupervisorOptions = SupervisorOptions(), register: Registration? = nil,
        goAway: (@Sendable (C.Decoder.Frame) -> GoAway?)? = nil
    ) {
        self.codec = codec
        self.options = options
        self.pairing = pairing
        do throws(SocketError) {
            self.heartbeat = try HeartbeatPlan(heartbeat)
            invalid = nil
        } catch {
            self.heartbeat = nil
            invalid = error
        }
        registration = register
        self.goAway = goAway
        driver = network._driver.base
        loop = driver.nextLoop()
        machine = SupervisorMachine(endpoint: endpoint, policy: reconnect)
        state = SupervisorState(loop: loop, rule: offline, options: options.connection)
        loop.join()
    }

    isolated deinit { loop.leave() }
}

// Life.
extension Supervisor {
    /// Keeps the link up until it is stopped. For structured use; see ``start()``.
    ///
    /// - Throws: the ``SocketError`` that it was stopped for, ``SocketError/Code/gaveUp`` after the last attempt; `CancellationError` when
    ///   its task was cancelled, which ends everything at once; ``SocketError/Code/misuse`` if it runs already. Returns after
    ///   ``stop(because:within:)`` and after an end in good order that wasn't to be followed by another attempt.
    public func run() async throws {
        guard let first = begin() else { throw SocketError(.misuse, "this link runs already") }
        await keepUp(first)
        try Task.checkCancellation()
        if case .stopped(let why) = machine.status, let error = why.endOfStream.error { throw error }
    }

    /// Keeps the link up in a task of its own, until ``stop(because:within:)``.
    ///
    /// - Returns: false, and nothing has happened, if it runs already or is just being stopped.
    @discardableResult
    public func start() -> Bool {
        guard let first = begin() else { return false }
        Task(executorPreference: loop.tasks) { await self.keepUp(first) }
        return true
    }

    /// Ends everything, at any moment, and returns when it is over: no attempt, no timer and no task is left. It can be started again.
    ///
    /// A connection is closed in good order, for at most `limit`. Messages that still wait unencoded are never sent. Harmless when nothing
    /// runs. A cancelled call ends everything at once.
    ///
    /// - Parameters:
    ///   - reason: what ``status`` tells then. The first one stays.
    ///   - limit: default 2 s.
    public func stop(because reason: StopReason = .user, within limit: Duration = .seconds(2)) async {
        guard let interruption else { return }
        let over = OneShot<Void>()
        leavers.append(over)
        _ = machine.stop(because: reason)
        state.refuse(SocketError(.closed, "the link was stopped: \(reason)"))
        if let live { live.core.close(within: limit, done: nil) } else { interruption.succeed(()) }
        do { try await over.value() } catch { interruption.succeed(()) }
    }

    /// Tries again now instead of at the end of the present wait: for an application that has learnt that the network is back. Does nothing
    /// unless it waits. The policy's counters stay as they are.
    public func reconnectNow() {
        if machine.isWaiting { wake?.succeed(()) }
    }

    /// What the server wants when the present connection ends, as read from its own protocol by a reader of messages. Obeyed once, and before
    /// what `goAway` has found; does nothing without a connection.
    public func obey(_ hint: ReconnectHint) { machine.obey(hint) }

    /// Facts about the present connection; nil while there is none.
    public var info: ConnectionInfo? {
        get async { await live?.info }
    }
}

// Status.
extension Supervisor {
    /// What the link is doing. While ``stop(because:within:)`` closes a connection in good order it is what it was before; sends throw
    /// already.
    public nonisolated var status: LinkStatus { board.status }

    /// From the last ping that was answered to its pong, on the present or the last connection; nil before the first.
    public nonisolated var roundTrip: Duration? { board.roundTrip }

    /// The present status and then each change, in order; to iterate with `for await`.
    ///
    /// Each access makes a fresh sequence. Up to 64 unread updates are kept; beyond that the oldest merge into one
    /// ``LinkStatus/skipped(_:)``, and the newest is always there. It goes on over stops and starts, and ends when the iterating task is
    /// cancelled or the supervisor goes. It doesn't keep the supervisor alive.
    public nonisolated var statusUpdates: AsyncStream<LinkStatus> {
        let reader = board.newReader()
        return AsyncStream { await reader.next() }
    }
}
