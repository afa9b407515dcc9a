internal import LifelineCore
internal import LifelineRuntime

// What the owner of a socket asks of its kernel.
extension FabricState {
    mutating func read(_ socket: SimulatedSocket, into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult {
        if socket.isClosed { throw socket.failure ?? SimulatedErrors.closed }
        let taken = socket.unread.read(into: buffer)
        if taken == 0, socket.unread.count == 0 {
            if socket.isEnded { return .end }
            if let failure = socket.failure { throw failure }
            socket.isReaderWaiting = true
            return .wouldBlock
        }
        // Not for every byte of room: that would be a packet for each.
        if !socket.isEnded, socket.phase == .open,
            socket.roomEdge - socket.announced >= max(1, min(socket.receiveCapacity / 2, 16_384))
        {
            send(.acknowledgement, from: socket)
        }
        let more = hasNews(socket)
        socket.isReaderWaiting = !more
        return .bytes(taken, more: more)
    }

    mutating func askToRead(_ socket: SimulatedSocket) {
        socket.isReaderWaiting = true
        if hasNews(socket) { notify(socket, readable: true) }
    }

    private func hasNews(_ socket: SimulatedSocket) -> Bool { socket.unread.count > 0 || socket.isEnded || socket.failure != nil }

    mutating func write(_ regions: ArraySlice<Bytes>, to socket: SimulatedSocket) throws(SocketError) -> Int {
        if socket.isClosed { throw socket.failure ?? SimulatedErrors.closed }
        if socket.isEnding { throw SocketError(.closed, "this side has ended its writes") }
        if let failure = socket.failure { throw failure }
        let room = max(0, socket.sendCapacity - socket.unacknowledged.count)
        let taken = socket.unacknowledged.append(regions, room: room)
        socket.written += taken
        if taken == room, taken < regions.reduce(0, { $0 + $1.count }) { socket.isWriterWaiting = true }
        pump(socket)
        return taken
    }

    mutating func shutdownWrites(_ socket: SimulatedSocket) {
        guard !socket.isClosed, !socket.isEnding, socket.phase == .open else { return }
        socket.isEnding = true
        pump(socket)
    }

    /// The owner lets go, or its process is killed: the peer sees an end behind all bytes, or a reset if something was lost.
    mutating func close(_ socket: SimulatedSocket, reset: Bool) {
        guard !socket.isClosed else { return }
        socket.isClosed = true
        hosts[socket.host].openTransports -= 1
        switch socket.phase {
        case .gone: socket.unread = ReceiveQueue()
        case .dialing, .accepting: end(socket, because: nil)
        case .open:
            if reset || socket.unread.count > 0 {
                send(.reset, from: socket)
                end(socket, because: nil)
            } else {
                socket.isEnding = true
                pump(socket)
                // The other two may have come before.
                if socket.isEndAcknowledged, !socket.isEnded {
                    events.add(.forgetting(socket, of: socket.connection), at: now.advanced(by: .seconds(60)))
                }
                endIfDone(socket)
            }
        }
    }

    func facts(of socket: SimulatedSocket) -> TCPInfo? {
        guard socket.phase == .open, !socket.isClosed, case .port = socket.connection.address else { return nil }
        let (forth, back) = (settings(of: socket.connection.links.forth), settings(of: socket.connection.links.back))
        return TCPInfo(
            roundTrip: max(.zero, forth.latency) + max(.zero, back.latency) + (max(.zero, forth.jitter) + max(.zero, back.jitter)) / 2,
            roundTripVariation: (max(.zero, forth.jitter) + max(.zero, back.jitter)) / 4,
            retransmits: socket.retransmits,
            unacknowledgedSegments: (socket.next - socket.acknowledged + forth.largestPacket - 1) / forth.largestPacket)
    }
}

// What befalls hosts and links.
extension FabricState {
    /// The power goes: nothing is said to anybody.
    mutating func crash(_ host: Int) {
        guard hosts[host].isUp else { return }
        note("\(hosts[host].name) crashes")
        hosts[host].isUp = false
        for listener in hosts[host].listeners { close(listener, silently: true) }
        for socket in sockets(on: host) {
            socket.unread = ReceiveQueue()
            end(socket, because: SimulatedErrors.hostIsDown(hosts[host].name))
        }
    }

    mutating func restart(_ host: Int) {
        guard !hosts[host].isUp else { return }
        note("\(hosts[host].name) is up again")
        hosts[host].isUp = true
    }

    /// The kernel closes what the process has left open.
    mutating func killProcess(on host: Int) {
        note("the process on \(hosts[host].name) is killed")
        for listener in hosts[host].listeners { close(listener) }
        for socket in sockets(on: host) where !socket.isClosed {
            socket.failure = SimulatedErrors.killed
            // Its owner is told that it is dead, which a closed socket wouldn't.
            notify(socket, readable: true, writable: true)
            close(socket, reset: false)
        }
    }

    private func sockets(on host: Int) -> [SimulatedSocket] {
        connections.flatMap { [$0.dialer, $0.acceptor] }.compactMap { $0 }.filter { $0.host == host && $0.phase != .gone }
    }

    mutating func setCut(_ isCut: Bool, from: Int, to: Int) {
        let link = link(from: from, to: to)
        guard links[link].isCut != isCut, from != to else { return }
        note("the link from \(hosts[from].name) to \(hosts[to].name) is \(isCut ? "cut" : "healed")")
        links[link].isCut = isCut
    }

    mutating func healAll() {
        for link in links { setCut(false, from: link.from, to: link.to) }
    }
}
