internal import LifelineCore
internal import LifelineRuntime

// What is done about silence. A timer runs only where something was lost: the network knows, and need not guess as a kernel does.
extension FabricState {
    private static let firstConnectWait = Duration.seconds(1)
    private static let shortestWait = Duration.milliseconds(200)
    private static let longestWait = Duration.seconds(120)

    /// `socket` misses something since `start`; it will try again after the time that a kernel takes, twice as long each time.
    mutating func armRetransmission(_ socket: SimulatedSocket, since start: LoopTime) {
        guard socket.isWaiting, socket.retransmission == .never else { return }
        if socket.waitingSince == .never { socket.waitingSince = now }
        let path = socket.connection.links
        let first =
            socket.phase == .open
            ? max(Self.shortestWait, (settings(of: path.forth).longest + settings(of: path.back).longest) * 2) : Self.firstConnectWait
        // Ten doublings are more than the longest wait.
        let wait = min(first * (1 << min(socket.tries, 10)), max(first, Self.longestWait))
        // The last try ends at the limit.
        socket.retransmission = max(now, min(start.advanced(by: wait), deadline(of: socket)))
        events.add(.retransmission(socket, of: socket.connection), at: socket.retransmission)
    }

    private func limit(of socket: SimulatedSocket) -> Duration {
        let kernel = hosts[socket.host].kernel
        return switch socket.phase {
        case .dialing, .accepting: min(kernel.connectLimit, socket.options.userTimeout ?? kernel.connectLimit)
        case .open, .gone: socket.options.userTimeout ?? kernel.retransmissionLimit
        }
    }

    private func deadline(of socket: SimulatedSocket) -> LoopTime { socket.waitingSince.advanced(by: limit(of: socket)) }

    mutating func retransmissionIsDue(_ socket: SimulatedSocket) {
        // Another one may have taken its place.
        guard socket.phase != .gone, socket.retransmission == now else { return }
        socket.retransmission = .never
        guard socket.isWaiting else { return }
        if now >= deadline(of: socket) {
            end(socket, because: SimulatedErrors.timedOut(socket.remote, after: limit(of: socket)))
            return
        }
        socket.tries += 1
        socket.retransmits += 1
        switch socket.phase {
        case .dialing: send(.connect, from: socket)
        case .accepting: send(.accept, from: socket)
        case .open:
            if socket.acknowledged < socket.next {
                let since = socket.waitingSince
                socket.unacknowledged.rewind()
                socket.next = socket.acknowledged
                pump(socket)
                socket.waitingSince = since
            } else {
                send(.probe, from: socket)
            }
        case .gone: break
        }
    }

    /// Begins to ask an idle peer whether it is there, where the socket's options say so.
    mutating func beginKeepAlive(_ socket: SimulatedSocket) {
        socket.lastHeard = now
        guard let idle = socket.options.keepAlive?.idle else { return }
        events.add(.keepAlive(socket, of: socket.connection), at: now.advanced(by: max(.seconds(1), idle)))
    }

    mutating func keepAliveIsDue(_ socket: SimulatedSocket) {
        guard socket.phase == .open, let settings = socket.options.keepAlive else { return }
        let due = socket.lastHeard.advanced(by: max(.seconds(1), settings.idle))
        var next = due
        // While something is under way, that tells.
        if due <= now || socket.unansweredProbes > 0 {
            next = now.advanced(by: max(.seconds(1), settings.interval))
            if socket.acknowledged == socket.next {
                if socket.unansweredProbes >= max(1, settings.count) {
                    end(socket, because: SimulatedErrors.timedOut(socket.remote, after: socket.lastHeard.duration(to: now)))
                    return
                }
                socket.unansweredProbes += 1
                send(.probe, from: socket)
            }
        }
        events.add(.keepAlive(socket, of: socket.connection), at: next)
    }
}
