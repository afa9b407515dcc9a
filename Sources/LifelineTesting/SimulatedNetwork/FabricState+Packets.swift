internal import LifelineCore
internal import LifelineRuntime

// What travels.
extension FabricState {
    /// Sends a packet of no bytes to the peer of `socket`.
    mutating func send(_ kind: SimulatedPacket.Kind, from socket: SimulatedSocket) {
        if kind == .acknowledgement || kind == .accept || kind == .connect { socket.announced = socket.roomEdge }
        send(
            Packet(
                kind: kind, connection: socket.connection, isFromDialer: socket.isDialer, offset: socket.receivedOffset,
                edge: socket.announced))
    }

    mutating func send(_ packet: Packet, after delay: Duration = .zero) {
        if packet.kind != .acknowledgement { packet.sender?.lastSent = now }
        if rules.isEmpty { dispatch(packet, after: delay) } else { effects.append(.judge(packet, after: delay)) }
    }

    /// Does with a packet what the rules have said.
    mutating func follow(_ verdict: FaultVerdict, of rule: Int, _ packet: Packet, after delay: Duration) {
        switch verdict {
        case .pass, .deliver: dispatch(packet, after: delay)
        case .delay(let more): dispatch(packet, after: delay + max(.zero, more))
        case .drop: lose(packet)
        case .hold:
            note(.held, packet)
            // It may have been removed by what it called.
            if rules.contains(where: { $0.number == rule }) {
                held.append((rule, packet, delay))
            } else {
                dispatch(packet, after: delay)
            }
        case .reset:
            note(.broken, packet)
            for isFromDialer in [true, false] {
                dispatch(Packet(kind: .reset, connection: packet.connection, isFromDialer: isFromDialer), after: .zero)
            }
        }
    }

    mutating func release(_ rule: Int) {
        let released = held.filter { $0.rule == rule }
        held.removeAll { $0.rule == rule }
        for (_, packet, delay) in released { dispatch(packet, after: delay) }
    }

    /// Puts a packet on its link.
    mutating func dispatch(_ packet: Packet, after delay: Duration) {
        let settings = settings(of: packet.link)
        if links[packet.link].isCut || !hosts[packet.source].isUp || chance(settings.loss) {
            lose(packet)
            return
        }
        var time = now.advanced(by: delay)
        if settings.bandwidth != nil, !packet.bytes.isEmpty {
            time = max(time, links[packet.link].busyUntil).advanced(by: settings.transmission(of: packet.bytes.count))
            links[packet.link].busyUntil = time
        }
        time = time.advanced(by: max(.zero, settings.latency)).advanced(by: draw(upTo: settings.jitter))
        // The order is kept.
        let connection = packet.connection
        if packet.isFromDialer {
            connection.lastArrivals.forth = max(time, connection.lastArrivals.forth)
            time = connection.lastArrivals.forth
        } else {
            connection.lastArrivals.back = max(time, connection.lastArrivals.back)
            time = connection.lastArrivals.back
        }
        events.add(.arrival(packet), at: time)
    }

    /// A packet is gone; who misses it will find out in time.
    mutating func lose(_ packet: Packet) {
        note(.lost, packet)
        switch packet.kind {
        case .connect, .data, .probe: if let sender = packet.sender { armRetransmission(sender, since: sender.lastSent) }
        case .accept, .acknowledgement, .reset:
            if let receiver = packet.receiver { armRetransmission(receiver, since: receiver.lastSent) }
        }
    }

    mutating func arrive(_ packet: Packet) {
        if links[packet.link].isCut || !hosts[packet.target].isUp {
            lose(packet)
            return
        }
        note(.arrived, packet)
        if packet.kind == .connect {
            connectArrived(packet)
            return
        }
        guard let socket = packet.receiver, socket.phase != .gone else {
            answerForNobody(packet)
            return
        }
        socket.lastHeard = now
        socket.unansweredProbes = 0
        switch packet.kind {
        case .connect: break
        case .accept: acceptArrived(packet, at: socket)
        case .data: dataArrived(packet, at: socket)
        case .acknowledgement: acknowledgementArrived(packet, at: socket)
        case .probe: if socket.phase == .open { send(.acknowledgement, from: socket) }
        case .reset: resetArrived(at: socket)
        }
    }

    /// A packet for a socket that isn't there.
    private mutating func answerForNobody(_ packet: Packet) {
        if packet.kind == .reset { return }
        if let gone = packet.receiver, gone.isClean {
            if packet.kind == .data || packet.kind == .probe { send(.acknowledgement, from: gone) }
            return
        }
        send(Packet(kind: .reset, connection: packet.connection, isFromDialer: !packet.isFromDialer))
    }
}
