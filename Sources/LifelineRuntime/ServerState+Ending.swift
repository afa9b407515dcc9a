import LifelineCore

// Ending.
extension ServerState {
    typealias LastWords = @Sendable (Connection<C>) -> C.Outgoing?

    /// Waits until every handler has returned; false if they must be cancelled.
    func handlersReturn() async -> Bool {
        await stopListening()
        if !Task.isCancelled, await drained() { return true }
        // The waits of handlers have no cancellation handlers of their own: see `Inbox.watchCurrentTask`.
        if Task.isCancelled {
            for connection in registry.connections { connection.inbox.cancelWatchedWait() }
            force()
        }
        return false
    }

    func shutdown(within limit: Duration) async -> Bool {
        await stopListening()
        for core in registry.cores { core.loop.run { core.stopServing() } }
        let force = TimerAction { [weak self] in self?.force() }
        let timer = LoopTimer(force)
        loop.armFromAnywhere(timer, after: limit)
        defer {
            loop.disarmFromAnywhere(timer)
            withExtendedLifetime(force) {}
        }
        return await drained()
    }

    /// As ``shutdown(within:)``, with last words for each connection. Throws the first failure to say them, when all is over.
    func shutdown(within limit: Duration, saying words: @escaping LastWords) async throws -> Bool {
        lock.withLock { lastWords = words }
        let isInTime = await shutdown(within: limit)
        let unsaid = lock.withLock {
            // They may hold the server.
            lastWords = nil
            return self.unsaid
        }
        if let unsaid { throw unsaid }
        return isInTime
    }

    /// Sends the last words, if there are any; the close has to follow. On the connection's loop.
    func sayLastWords(to accepted: Accepted) {
        guard let words = lock.withLock({ lastWords }), let connection = accepted.connection ?? registry.connection(accepted.id) else {
            return
        }
        say(words, to: connection)
    }

    private func say(_ words: LastWords, to connection: Connection<C>) {
        guard !connection.core.outbox.hasEnded, let last = words(connection) else { return }
        do {
            try connection.outbound.sayLast(connection.frame(for: last), because: SocketError(.shuttingDown, "the server is shutting down"))
        } catch let error as SocketError where error.code == .misuse {
            // It speaks another codec by now.
        } catch {
            lock.withLock { unsaid = unsaid ?? error }
        }
    }

    /// Accepts no more. The address is free when it returns.
    private func stopListening() async {
        guard let (listener, isServed) = stop() else { return }
        await listener.close()
        queue.end(.shuttingDown)
        if isServed { return }
        while case .frame(let accepted) = queue.take() { closeUnserved(accepted) }
    }

    /// Marks the server as stopping; the first call gets the listener, and whether somebody runs the server.
    private func stop() -> (any Listener, isServed: Bool)? {
        lock.lock()
        defer { lock.unlock() }
        isStopping = true
        guard let listener else { return nil }
        self.listener = nil
        return (listener, isRunning)
    }

    /// Closes a connection in good order that no handler will see.
    func closeUnserved(_ accepted: Accepted) {
        let core = accepted.core
        core.loop.run {
            if core.machine.phase == .closed {
                self.left(accepted)
            } else {
                core.onClosed = { self.left(accepted) }
                self.sayLastWords(to: accepted)
                core.close(within: self.options.connection.lingerLimit, because: .shuttingDown, done: nil)
            }
        }
    }

    /// Waits until no connection is left: true, or until the limit: false. A cancelled wait makes it the limit.
    private func drained() async -> Bool {
        let done = OneShot<Bool>()
        let isForced = lock.withLock {
            drainWaiters.append(done)
            return self.isForced
        }
        if registry.count == 0 {
            finishDraining()
        } else if isForced {
            force()
        }
        if let result = try? await done.value() { return result }
        force()
        return false
    }

    /// The limit has come: close everything at once, have the handlers cancelled.
    private func force() {
        lock.lock()
        isForced = true
        let waiters = drainWaiters
        drainWaiters = []
        let words = lastWords
        lock.unlock()
        for entry in registry.present {
            guard let core = entry.core else { continue }
            core.loop.run {
                // There is no time left: so much of them as the kernel takes.
                if let words, let connection = entry.connection {
                    self.say(words, to: connection)
                    core.flushAll()
                }
                core.closeNow(because: .shuttingDown)
            }
        }
        for waiter in waiters { waiter.succeed(false) }
    }

    func finishDraining() {
        lock.lock()
        var waiters: [OneShot<Bool>] = []
        if isStopping { swap(&waiters, &drainWaiters) }
        lock.unlock()
        for waiter in waiters { waiter.succeed(true) }
    }

    /// The server object has gone: nobody can serve what comes.
    func abandon() {
        stop()?.0.closeSoon()
        queue.end(.shuttingDown)
    }
}

extension StreamCore {
    /// The server is shutting down: no more is read. Whoever hasn't got through the transport's handshake has no handler to wait for.
    func stopServing() {
        if isHandshakeDue, isInHandshake {
            closeNow(because: .shuttingDown)
        } else {
            stopReading(because: .shuttingDown)
        }
    }
}
