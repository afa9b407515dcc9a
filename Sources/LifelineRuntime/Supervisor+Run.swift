import LifelineCore

// A run: one thing after the other, so that nothing of an older connection is left when a newer one begins.
extension Supervisor {
    private typealias Action = SupervisorMachine.Action

    var now: Duration { .nanoseconds(loop.now.nanoseconds) }

    /// Begins a run, which can be stopped from here on; the first thing to do, or nil if another run isn't over.
    func begin() -> SupervisorMachine.Action? {
        guard interruption == nil else { return nil }
        let first = machine.start(now: now)
        guard case .dial = first else { return nil }
        interruption = OneShot()
        state.begin()
        tell()
        return first
    }

    /// Does what the machine says, until it is over.
    func keepUp(_ first: SupervisorMachine.Action) async {
        guard let interruption else { preconditionFailure("a run without a beginning") }
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop.tasks) { await self.perform(first) }
            group.addTask(executorPreference: loop.tasks) { try? await interruption.value() }
            await group.next()
            group.cancelAll()
        }
        finish()
    }

    private func finish() {
        _ = machine.over()
        guard case .stopped(let why) = machine.status else { preconditionFailure("a run ended before its machine") }
        interruption = nil
        let end = why.endOfStream
        // Who is told that it has stopped can start it again.
        tell()
        state.finish(end, end.error ?? SocketError(.closed, "the link was stopped: \(why)"))
        subscriptions.end(end)
        let leavers = self.leavers
        self.leavers = []
        for leaver in leavers { leaver.succeed(()) }
    }

    private func tell() {
        if let status = machine.status { board.post(status) }
    }

    private func perform(_ first: Action) async {
        var action = first
        while true {
            if case .end = action { return }
            tell()
            switch action {
            case .dial(let endpoint): action = await dial(endpoint)
            case .wait(let delay): action = await wait(delay)
            case .end, .ignore, .interrupt, .register, .open: return
            }
        }
    }

    private func lost(_ generation: UInt64, _ why: OfflineReason) -> Action {
        noteCancellation()
        var dice = LoopDice(loop)
        return machine.lost(generation, why, now: now, using: &dice)
    }

    /// The task is cancelled by a stop, which the machine knows of, or from outside.
    private func noteCancellation() {
        if Task.isCancelled { _ = machine.stop(because: .cancelled) }
    }

    private func wait(_ delay: Duration) async -> Action {
        let generation = machine.generation
        let wake = OneShot<Void>(timeOut: SocketError(.timedOut, "the wait is over"))
        self.wake = wake
        try? await wake.value(within: delay, on: loop)
        self.wake = nil
        noteCancellation()
        let now = now
        return machine.waited(generation, now: now) { options.retryBudget?.reserve(at: now) ?? .zero }
    }

    private func dial(_ endpoint: Endpoint) async -> Action {
        let generation = machine.generation
        if let invalid { return lost(generation, OfflineReason(invalid)) }
        let core: StreamCore
        do {
            core = try await StreamCore.dial(
                endpoint, over: driver, on: loop, within: options.connectLimit, options: options.connection)
        } catch {
            return lost(generation, OfflineReason(SocketError(ending: error, "the attempt was cancelled")))
        }
        noteCancellation()
        let action = machine.dialed(generation)
        guard action == .register else {
            core.closeNow()
            return action
        }
        let watch = goAway.map { GoAwayWatch(core, within: options.goAwayLimit, find: $0) }
        defer { watch?.end() }
        switch await serve(core, generation, watch) {
        case .turned(let action): return action
        case .lost(let why):
            if let found = watch?.found { machine.letGo(found) }
            return lost(generation, why)
        }
    }

    /// What has become of a connection.
    private enum Served {
        case lost(OfflineReason)
        /// The machine said something else than to let messages flow.
        case turned(Action)
    }

    /// From the registration to the end of a connection.
    private func serve(_ core: StreamCore, _ generation: UInt64, _ watch: GoAwayWatch<C.Decoder.Frame>?) async -> Served {
        let closed = OneShot<CloseReason>()
        core.onClosed = { [weak core] in closed.succeed(core?.machine.reason ?? .closedHere) }
        let hasEnded: @Sendable () -> Void = { [weak core] in
            // The stream is in the middle of something.
            if let core { core.loop.submit { core.readingEndedUnderSupervision() } }
        }
        var early: Connection<C>?
        if let registration {
            // The peer's pings are answered meanwhile; beats of one's own begin after it.
            let connection = Connection(
                over: core, codec: codec, following: state.inbox, heartbeat: heartbeat, pairing: pairing)
            connection.inbound.onEnd = hasEnded
            if let watch { connection.inbound.addFirst(watch) }
            core.start()
            if let why = await register(connection, registration) {
                connection.outbound.retire(.afterRegistration)
                connection.inbound.retire(.afterRegistration)
                core.endAtOnce()
                return .lost(why)
            }
            early = connection
        }
        noteCancellation()
        let action = machine.registered(generation, now: now)
        guard action == .open else {
            core.endAtOnce()
            return .turned(action)
        }
        let framesBefore = state.inbox.addedFrames
        let connection =
            if let early {
                Connection(succeeding: early, filling: state.inbox, heartbeat: heartbeat, pairing: pairing, .afterRegistration)
            } else {
                Connection(over: core, codec: codec, filling: state.inbox, heartbeat: heartbeat, pairing: pairing)
            }
        connection.inbound.onEnd = hasEnded
        if let watch { connection.inbound.addFirst(watch) }
        connection.inbound.add(SubscriptionTaker(subscriptions))
        state.open(connection, framesBefore: framesBefore)
        if let early {
            connection.succeed(early, .afterRegistration)
        } else {
            core.start()
        }
        connection.heartbeat?.onRoundTrip = { [weak board] in board?.roundTrip = $0 }
        connection.heartbeat?.begin()
        early = nil
        return .lost(OfflineReason(await follow(connection, until: closed)))
    }

    /// Lets messages flow until the connection has ended.
    private func follow(_ connection: Connection<C>, until closed: OneShot<CloseReason>) async -> CloseReason {
        live = connection
        tell()
        let state = state
        let reason = await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop.tasks) { await state.drain(into: connection) }
            defer { group.cancelAll() }
            do {
                return try await closed.value()
            } catch {
                connection.core.closeNow()
                return connection.core.machine.reason ?? .closedHere
            }
        }
        live = nil
        state.close()
        return reason
    }
}

extension StreamCore {
    /// Nothing more comes: it is given back at once, unless it is being closed in good order by this side.
    fileprivate func readingEndedUnderSupervision() {
        if machine.phase == .closing, machine.reason == .closedHere { return }
        endAtOnce()
    }
}

extension SocketError {
    fileprivate static var afterRegistration: SocketError {
        SocketError(.misuse, "the registration is over, and with it the use of its connection")
    }

    /// `error` as it is if it is one of ours.
    fileprivate init(ending error: any Error, _ words: String) {
        self = error as? SocketError ?? SocketError(.closed, words, cause: error)
    }
}

extension OfflineReason {
    /// What readers get when the link has stopped for it.
    var endOfStream: CloseReason {
        switch self {
        case .byUser: .closedHere
        case .byServer: .closedByPeer
        case .gaveUp: .failed(SocketError(.gaveUp, "\(self)", cause: error))
        case .networkGone, .timedOut, .heartbeatMissed, .kicked, .refused, .loginRefused, .protocolViolation, .tls, .failed:
            error.map { .failed($0) } ?? .closedByPeer
        }
    }
}
