internal import LifelineCore
internal import LifelineRuntime

/// One connection: two sockets and what is on its way between them. Guarded by the fabric's lock.
final class SimulatedConnection {
    let number: Int
    /// Where it was dialled to.
    let endpoint: Endpoint
    /// What the listener listens at.
    let address: ListenAddress
    let dialerHost: Int
    let acceptorHost: Int
    /// The links of both directions.
    let links: (forth: Int, back: Int)
    var lastArrivals = (forth: LoopTime.zero, back: LoopTime.zero)
    private(set) var dialer: SimulatedSocket!
    var acceptor: SimulatedSocket?

    init(
        number: Int, to endpoint: Endpoint, at address: ListenAddress, from dialerHost: Int, on acceptorHost: Int,
        links: (forth: Int, back: Int), local: Endpoint, options: SocketOptions, kernel: KernelSettings
    ) {
        self.number = number
        self.endpoint = endpoint
        self.address = address
        self.dialerHost = dialerHost
        self.acceptorHost = acceptorHost
        self.links = links
        dialer = SimulatedSocket(
            self, isDialer: true, on: dialerHost, local: local, remote: endpoint, options: options, kernel: kernel, phase: .dialing)
    }

    func socket(isDialer: Bool) -> SimulatedSocket? { isDialer ? dialer : acceptor }

    /// Whether a kernel still knows of it.
    var isLive: Bool { dialer.phase != .gone || acceptor.map { $0.phase != .gone } == true }
}

/// One end of a connection, as its kernel keeps it. Guarded by the fabric's lock.
///
///     dialing ──(accept)──▶ open ──▶ gone: both sides' ends have arrived, a reset, a time limit, its host's end
///     accepting ──(acknowledgement)──▶ open
final class SimulatedSocket {
    enum Phase { case dialing, accepting, open, gone }

    unowned let connection: SimulatedConnection
    let isDialer: Bool
    let host: Int
    let local: Endpoint
    let remote: Endpoint
    let options: SocketOptions
    weak var transport: SimulatedTransport?
    /// Who awaits the connect.
    var connected: OneShot<Void>?
    /// In whose backlog it stands.
    weak var listener: ListeningState?

    var phase: Phase
    /// The owner has let go of it.
    var isClosed = false
    /// Gone in good order: late packets are acknowledged, not reset.
    var isClean = false
    var failure: SocketError?
    var notices = Notices()

    // Sending. Offsets count bytes from the connection's start; the end stands behind the last.
    let sendCapacity: Int
    var unacknowledged = SendQueue()
    var acknowledged = 0
    var next = 0
    var written = 0
    /// So far the peer has room.
    var edge = 0
    var isEnding = false
    var isWriterWaiting = false

    // Receiving.
    let receiveCapacity: Int
    var unread = ReceiveQueue()
    var received = 0
    var isEnded = false
    var isReaderWaiting = true
    /// So far the peer has been told that there is room.
    var announced = 0
    var lastHeard = LoopTime.zero

    // Waiting for the peer.
    var waitingSince = LoopTime.never
    var retransmission = LoopTime.never
    var lastSent = LoopTime.zero
    var tries = 0
    var retransmits = 0
    var unansweredProbes = 0

    /// What its owner is to be told.
    struct Notices {
        var isStarted = false
        var isPosted = false
        var isReadable = false
        var isWritable = false
    }

    init(
        _ connection: SimulatedConnection, isDialer: Bool, on host: Int, local: Endpoint, remote: Endpoint, options: SocketOptions,
        kernel: KernelSettings, phase: Phase
    ) {
        self.connection = connection
        self.isDialer = isDialer
        self.host = host
        self.local = local
        self.remote = remote
        self.options = options
        self.phase = phase
        sendCapacity = max(1, options.sendBuffer ?? kernel.sendBuffer)
        receiveCapacity = max(1, options.receiveBuffer ?? kernel.receiveBuffer)
    }

    /// What the next acknowledgement says: the end counts as one more.
    var receivedOffset: Int { received + (isEnded ? 1 : 0) }
    var roomEdge: Int { received + receiveCapacity - unread.count }
    var isEndAcknowledged: Bool { isEnding && acknowledged == written + 1 }
    /// Whether something is missing that only the peer can give.
    var isWaiting: Bool {
        switch phase {
        case .dialing, .accepting: true
        case .open: acknowledged < next || next < written
        case .gone: false
        }
    }
}

/// A packet on its way between the two ends of a connection.
struct Packet {
    let kind: SimulatedPacket.Kind
    let connection: SimulatedConnection
    let isFromDialer: Bool
    /// Data: where it begins. Acknowledgement: everything before it has arrived.
    var offset = 0
    var bytes = Bytes()
    var isEnd = false
    /// So far its sender has room.
    var edge = 0

    var sender: SimulatedSocket? { connection.socket(isDialer: isFromDialer) }
    var receiver: SimulatedSocket? { connection.socket(isDialer: !isFromDialer) }
    var source: Int { isFromDialer ? connection.dialerHost : connection.acceptorHost }
    var target: Int { isFromDialer ? connection.acceptorHost : connection.dialerHost }
    var link: Int { isFromDialer ? connection.links.forth : connection.links.back }
}
