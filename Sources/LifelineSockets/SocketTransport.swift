import CLifelineSystem
package import LifelineCore
package import LifelineRuntime

/// A stream socket: TCP, Unix, or one that was handed in.
///
/// The loop's table owns it until it is closed. The proof behind `@unchecked`: it is made on its loop, and everything that changes is
/// touched there only.
package final class SocketTransport: Transport, @unchecked Sendable {
    struct State: OptionSet {
        let rawValue: UInt16
        /// Reading may find something: set by an event, cleared by a read that left nothing behind.
        static let readable = State(rawValue: 1)
        /// A write was short; the notice that it is owed hasn't come.
        static let writeBlocked = State(rawValue: 2)
        /// Notices that are to be given and that nobody could be told yet.
        static let writableDue = State(rawValue: 4)
        static let readableDue = State(rawValue: 128)
        static let noticePosted = State(rawValue: 8)
        /// A short read isn't the last: the peer's end, an error or urgent data stands behind it.
        static let readToTheEnd = State(rawValue: 16)
        /// The descriptor came from outside and may have copies.
        static let isAdopted = State(rawValue: 32)
        static let isUnix = State(rawValue: 64)
    }

    let home: PollingEventLoop
    /// -1 once closed.
    @exclusivity(unchecked) package private(set) var descriptor: Int32
    @exclusivity(unchecked) var state: State
    @exclusivity(unchecked) var handler: (any TransportHandler)?
    /// Told of events until the connection is made.
    @exclusivity(unchecked) var attempt: ConnectAttempt?
    /// Found while writing. It took the error from the socket, so a later read would see a clean end.
    @exclusivity(unchecked) var failure: SocketError?
    @exclusivity(unchecked) private var token: UInt64 = 0
    @exclusivity(unchecked) private var local: SocketAddress?
    private let remote: SocketAddress?

    package var loop: any EventLoop { home }
    package var remoteEndpoint: Endpoint? { remote?.endpoint }

    package var localEndpoint: Endpoint? {
        learnLocalAddress()
        return local?.endpoint
    }

    package var tcpInfo: TCPInfo? {
        guard descriptor >= 0, !state.contains(.isUnix) else { return nil }
        var facts = lls_tcp_facts()
        guard lls_tcp_info(descriptor, &facts) == 0 else { return nil }
        return TCPInfo(
            roundTrip: .microseconds(facts.round_trip_us),
            roundTripVariation: .microseconds(facts.round_trip_variation_us),
            retransmits: Int(facts.retransmits),
            unacknowledgedSegments: Int(facts.unacknowledged))
    }

    /// Takes `descriptor` over and watches it, on `loop`. If that fails the descriptor is still the caller's.
    init(
        _ descriptor: Int32, on loop: PollingEventLoop, remote: SocketAddress?, isUnix: Bool, isAdopted: Bool = false,
        attempt: ConnectAttempt? = nil
    ) throws(SocketError) {
        self.descriptor = descriptor
        self.home = loop
        self.remote = remote
        self.attempt = attempt
        state = isUnix ? .isUnix : []
        if isAdopted { state.insert(.isAdopted) }
        token = try loop.watch(descriptor, for: .stream, self)
    }

    package func start(_ handler: any TransportHandler) {
        guard descriptor >= 0 else { return }
        self.handler = handler
        if !state.isDisjoint(with: [.readableDue, .writableDue]) { postNotice() }
    }

    package func shutdownWrites() {
        // Fails only where the connection has ended, which reading tells.
        if descriptor >= 0 { _ = lls_shutdown_writes(descriptor) }
    }

    package func close(reset: Bool) {
        guard descriptor >= 0 else { return }
        learnLocalAddress()
        let closed = descriptor
        descriptor = -1
        handler = nil
        attempt = nil
        if reset { _ = lls_set_reset_on_close(closed) }
        home.unwatch(token, closed, explicitly: state.contains(.isAdopted))
        _ = lls_close(closed)
    }

    /// Addresses can be asked for after the end.
    private func learnLocalAddress() {
        guard local == nil, descriptor >= 0 else { return }
        var raw = lls_address()
        if lls_local_address(descriptor, &raw) == 0 { local = SocketAddress(raw) }
    }

    /// Whether this socket is connected to itself: that happens when a port among those that the system hands out is dialled and nobody
    /// listens there.
    package var isConnectedToItself: Bool {
        learnLocalAddress()
        guard case .ip(let mine)? = local else { return false }
        return remote == .ip(mine)
    }
}

// Notices.
extension SocketTransport: PollTarget, LoopNotice {
    package func ready(_ events: PollEvents) {
        if !events.isDisjoint(with: [.hangUp, .urgent]) { state.insert(.readToTheEnd) }
        if !events.isDisjoint(with: [.readable, .hangUp, .urgent]) { state.formUnion([.readable, .readableDue]) }
        if let attempt {
            attempt.ready(events)
            return
        }
        if !events.isDisjoint(with: [.writable, .hangUp]), state.contains(.writeBlocked) {
            state.remove(.writeBlocked)
            state.insert(.writableDue)
        }
        tell()
    }

    package func deliver() {
        state.remove(.noticePosted)
        tell()
    }

    private func tell() {
        if state.contains(.readableDue), let handler {
            state.remove(.readableDue)
            handler.transportIsReadable()
        }
        // The handler may have closed this meanwhile.
        if state.contains(.writableDue), let handler {
            state.remove(.writableDue)
            handler.transportIsWritable()
        }
    }

    package func askToRead() {
        guard state.contains(.readable) else { return }
        state.insert(.readableDue)
        postNotice()
    }

    func postNotice() {
        guard !state.contains(.noticePosted), handler != nil else { return }
        state.insert(.noticePosted)
        home.post(self)
    }
}
