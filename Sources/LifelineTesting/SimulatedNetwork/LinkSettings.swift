internal import LifelineRuntime

/// What one direction of the way between two hosts is like. The default is a good local network: 1 ms, and nothing is cut or lost.
///
/// Whatever is set here, each connection's bytes arrive in order, as TCP promises.
public struct LinkSettings: Sendable, Hashable {
    /// How long a packet travels. Default 1 ms; less than zero is zero.
    public var latency: Duration
    /// A packet travels longer by a random part of this. Packets that catch up with their predecessor arrive together with it, so that
    /// reads are glued. Default zero.
    public var jitter: Duration
    /// Payload bytes per second, shared by all connections over the link. Default nil: no bound; less than 1 is 1.
    public var bandwidth: Int?
    /// The share of packets that are cut in two at a random place, the rest up to 100 µs behind, from 0 to 1. Default 0.
    public var cuts: Double
    /// The share of packets that are lost, from 0 to 1: TCP sends them again, which costs 200 ms and more. Default 0.
    public var loss: Double

    /// A link. Settings out of range are brought into it when they are used.
    public init(
        latency: Duration = .milliseconds(1), jitter: Duration = .zero, bandwidth: Int? = nil, cuts: Double = 0, loss: Double = 0
    ) {
        self.latency = latency
        self.jitter = jitter
        self.bandwidth = bandwidth
        self.cuts = cuts
        self.loss = loss
    }

    /// Within a host.
    static let loopback = LinkSettings(latency: .zero)

    /// The largest packet: at most 16 KiB, and small enough that a slow link delivers some each 10 ms.
    var largestPacket: Int {
        guard let bandwidth else { return 16_384 }
        return min(16_384, max(512, bandwidth / 100))
    }

    /// How long the link is busy with `count` bytes.
    func transmission(of count: Int) -> Duration {
        guard let bandwidth, count > 0 else { return .zero }
        // A packet has at most 16 KiB, so this can't overflow.
        return .nanoseconds(Int64(count) * 1_000_000_000 / Int64(max(1, bandwidth)))
    }

    /// The longest that a packet travels on a free link.
    var longest: Duration { max(.zero, latency) + max(.zero, jitter) }
}

/// How the kernel of a simulated host behaves. The defaults are Linux's.
public struct KernelSettings: Sendable, Hashable {
    /// Bytes that a socket takes from its owner and that the peer hasn't acknowledged, unless the socket's options say otherwise.
    /// Default 64 KiB.
    public var sendBuffer = 65_536
    /// Bytes that a socket keeps for its owner to read, unless the socket's options say otherwise. Default 64 KiB.
    public var receiveBuffer = 65_536
    /// How long a connect is tried while nobody answers. Default 127 s.
    public var connectLimit = Duration.seconds(127)
    /// How long data is sent again while nothing is acknowledged, where `SocketOptions.userTimeout` doesn't say. Default 924 s.
    public var retransmissionLimit = Duration.seconds(924)
    /// How long an established connection waits in the listener's backlog before it is accepted. Default zero.
    public var acceptDelay = Duration.zero

    /// The defaults.
    public init() {}
}
