/// Bounds of a queue: above the high mark the producer waits, at the low mark it goes on.
public struct Marks: Sendable, Hashable {
    /// Bytes from which on the producer waits.
    public var high: Int
    /// Bytes at which it goes on.
    public var low: Int

    /// Marks in bytes; `low` is half of `high` unless given. Values below 1, and a `low` above `high`, are brought into range.
    public init(high: Int, low: Int? = nil) {
        self.high = max(1, high)
        self.low = min(max(0, low ?? high / 2), self.high)
    }
}

/// How one connection behaves: its bounds and its time limits. All of them are finite unless set to nil.
public struct ConnectionOptions: Sendable {
    /// Bounds of the decoded frames that wait for the reader, in bytes of the storage that they keep. Default 256 KiB / 128 KiB.
    public var inbox = Marks(high: 256 * 1024)
    /// How many decoded frames wait for the reader at most. Default 4,096.
    public var inboxFrames = 4096
    /// Bounds of what was sent and isn't in the kernel yet. Default 256 KiB / 128 KiB.
    public var outbox = Marks(high: 256 * 1024)
    /// The connection ends when nothing was heard for this long. Default nil: never.
    public var idleLimit: Duration?
    /// The connection ends when the first frame isn't there after this time. Default nil: never.
    public var firstFrameLimit: Duration?
    /// The connection ends when a frame isn't complete this long after its first byte; the error tells how much of it is there, such as
    /// "42 bytes without a terminator". A reader that is slow doesn't count against the peer. Default nil: never.
    public var unfinishedFrameLimit: Duration?
    /// The connection ends when the kernel takes nothing of what waits for this long. Default 60 s.
    public var writeLimit: Duration? = .seconds(60)
    /// How long this side may go on sending after the peer has ended its own side. Default 60 s.
    public var halfOpenLimit: Duration? = .seconds(60)
    /// How long a close in good order waits for the peer, where no limit is given: when a server's handler returns, or after a violation
    /// of the protocol. Default 2 s.
    public var lingerLimit: Duration = .seconds(2)
    /// Settings of the system's socket.
    public var socket = SocketOptions()
    /// Called on the connection's event loop with what its decoder reports. It must be quick. Default nil: only counted.
    public var onFinding: (@Sendable (Finding) -> Void)?

    /// The defaults.
    public init() {}
}

/// Settings of the system's sockets. Networks in memory ignore them, except for the buffer sizes.
public struct SocketOptions: Sendable, Hashable {
    /// Probes that find a dead peer on an idle connection (`SO_KEEPALIVE`).
    public struct KeepAlive: Sendable, Hashable {
        /// Silence before the first probe, in whole seconds.
        public var idle: Duration
        /// Time between probes, in whole seconds.
        public var interval: Duration
        /// Unanswered probes until the connection fails.
        public var count: Int

        /// Probes after `idle`, then each `interval`, `count` times.
        public init(idle: Duration = .seconds(60), interval: Duration = .seconds(10), count: Int = 6) {
            self.idle = idle
            self.interval = interval
            self.count = count
        }
    }

    /// Send small writes at once (`TCP_NODELAY`). Default true.
    public var noDelay = true
    /// Default nil: off.
    public var keepAlive: KeepAlive?
    /// How long sent data may stay unacknowledged (`TCP_USER_TIMEOUT`). Default nil: the system's.
    public var userTimeout: Duration?
    /// The network interface to use, such as `lo` (`SO_BINDTODEVICE`). Default nil: any.
    public var interface: String?
    /// The kernel's send buffer in bytes. Default nil: the system's.
    public var sendBuffer: Int?
    /// The kernel's receive buffer in bytes. Default nil: the system's.
    public var receiveBuffer: Int?
    /// Listening: how many connections may wait for `accept`. Default 1,024; the system may lower it.
    public var backlog = 1024
    /// Listening: share the port with other listeners that say so, too (`SO_REUSEPORT`). Default false.
    public var reusePort = false
    /// Listening at a Unix path: remove a socket file that no server answers on. Default true. Other files are never removed.
    public var replaceStalePath = true

    /// The defaults.
    public init() {}
}
