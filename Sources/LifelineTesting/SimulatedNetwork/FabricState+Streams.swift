internal import LifelineCore
internal import LifelineRuntime

// What sockets do with bytes.
extension FabricState {
    /// Sends what there is and the peer has room for.
    mutating func pump(_ socket: SimulatedSocket) {
        guard socket.phase == .open else { return }
        let settings = settings(of: socket.isDialer ? socket.connection.links.forth : socket.connection.links.back)
        var gap = Duration.zero
        if socket.acknowledged == socket.next, socket.tries == 0 { socket.waitingSince = now }
        while socket.next < min(socket.written, socket.edge) {
            var size = min(settings.largestPacket, socket.edge - socket.next)
            let isCut = chance(settings.cuts)
            if isCut { size = min(size, Int.random(in: 1...max(1, min(size, socket.written - socket.next) - 1), using: &dice)) }
            var packet = Packet(kind: .data, connection: socket.connection, isFromDialer: socket.isDialer, offset: socket.next)
            packet.bytes = socket.unacknowledged.takeUnsent(size)
            socket.next += packet.bytes.count
            if socket.isEnding, socket.next == socket.written {
                packet.isEnd = true
                socket.next += 1
            }
            send(packet, after: gap)
            if isCut { gap += .microseconds(1) + draw(upTo: .microseconds(99)) }
        }
        if socket.isEnding, socket.next == socket.written {
            var packet = Packet(kind: .data, connection: socket.connection, isFromDialer: socket.isDialer, offset: socket.next)
            packet.isEnd = true
            socket.next += 1
            send(packet, after: gap)
        }
        // With nothing under way nobody would ever say that there is room again, if the word were lost.
        if socket.acknowledged == socket.next, socket.next < socket.written { armRetransmission(socket, since: now) }
    }

    mutating func dataArrived(_ packet: Packet, at socket: SimulatedSocket) {
        if socket.phase == .accepting { establish(socket) }
        // The answer to the connect, or what came before this, was lost: it will be sent again.
        guard socket.phase == .open, packet.offset <= socket.received else {
            lose(packet)
            return
        }
        let end = packet.offset + packet.bytes.count
        if end > socket.received {
            if socket.isClosed {
                // Nobody will ever read this.
                send(.reset, from: socket)
                self.end(socket, because: nil)
                return
            }
            socket.unread.append(packet.bytes.slice((socket.received - packet.offset)..<packet.bytes.count))
            socket.received = end
            notify(socket, readable: true)
        }
        if packet.isEnd, !socket.isEnded {
            socket.isEnded = true
            notify(socket, readable: true)
        }
        send(.acknowledgement, from: socket)
        endIfDone(socket)
    }

    mutating func acknowledgementArrived(_ packet: Packet, at socket: SimulatedSocket) {
        if socket.phase == .accepting { establish(socket) }
        guard socket.phase == .open else { return }
        let isProgress = packet.offset > socket.acknowledged || packet.edge > socket.edge
        socket.edge = max(socket.edge, packet.edge)
        if packet.offset > socket.acknowledged {
            let bytes = min(packet.offset, socket.written) - min(socket.acknowledged, socket.written)
            socket.unacknowledged.drop(bytes)
            socket.acknowledged = packet.offset
            // What was to be sent again has arrived after all.
            socket.next = max(socket.next, packet.offset)
            socket.waitingSince = now
        }
        if isProgress { socket.tries = 0 }
        if socket.acknowledged == socket.next {
            socket.retransmission = .never
            // The peer lives; it just has no room.
            socket.waitingSince = now
        }
        let room = socket.sendCapacity - socket.unacknowledged.count
        // As Linux does, not for every byte of room.
        if socket.isWriterWaiting, room > 0, room >= socket.sendCapacity / 3 {
            socket.isWriterWaiting = false
            notify(socket, writable: true)
        }
        pump(socket)
        if socket.isClosed, socket.isEndAcknowledged, !socket.isEnded {
            events.add(.forgetting(socket, of: socket.connection), at: now.advanced(by: .seconds(60)))
        }
        endIfDone(socket)
    }

    /// Both sides' ends have arrived, and the owner has let go.
    mutating func endIfDone(_ socket: SimulatedSocket) {
        guard socket.isClosed, socket.isEnded, socket.isEndAcknowledged else { return }
        socket.isClean = true
        end(socket, because: nil)
    }

    mutating func resetArrived(at socket: SimulatedSocket) {
        switch socket.phase {
        case .dialing:
            end(socket, because: SimulatedErrors.refused(socket.remote))
        case .accepting, .open:
            end(socket, because: SimulatedErrors.reset)
        case .gone: break
        }
    }

    /// The kernel forgets the socket; its owner is told `error` once it has read what is there.
    mutating func end(_ socket: SimulatedSocket, because error: SocketError?) {
        guard socket.phase != .gone else { return }
        if socket.phase == .accepting { socket.listener?.underWay -= 1 }
        socket.listener = nil
        socket.phase = .gone
        socket.retransmission = .never
        socket.unacknowledged = SendQueue()
        if socket.isClosed { socket.unread = ReceiveQueue() }
        socket.failure = socket.failure ?? error
        if let connected = socket.connected {
            socket.connected = nil
            effects.append(.connected(connected, error ?? SimulatedErrors.reset))
        }
        notify(socket, readable: true, writable: true)
        forget(socket.connection)
    }

    private mutating func forget(_ connection: SimulatedConnection) {
        guard !connection.isLive else { return }
        // They are in the order of their numbers.
        var range = 0..<connections.count
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            range = connections[middle].number <= connection.number ? middle..<range.upperBound : range.lowerBound..<middle
        }
        if let place = range.first, connections[place] === connection { connections.remove(at: place) }
    }

    /// Tells the owner, unless it knows.
    mutating func notify(_ socket: SimulatedSocket, readable: Bool = false, writable: Bool = false) {
        if readable, socket.isReaderWaiting {
            socket.isReaderWaiting = false
            socket.notices.isReadable = true
        }
        if writable { socket.notices.isWritable = true }
        postNotices(of: socket)
    }

    mutating func postNotices(of socket: SimulatedSocket) {
        guard socket.notices.isReadable || socket.notices.isWritable, socket.notices.isStarted, !socket.notices.isPosted,
            let transport = socket.transport
        else { return }
        socket.notices.isPosted = true
        effects.append(.post(transport))
    }
}
