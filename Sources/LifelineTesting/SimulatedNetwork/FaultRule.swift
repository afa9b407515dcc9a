public import LifelineCore
internal import LifelineRuntime

/// A packet on its way, as fault rules see it.
public struct SimulatedPacket: Sendable {
    /// What a packet is for.
    public enum Kind: String, Sendable, Hashable {
        /// The first of a connection (SYN).
        case connect
        /// The listener's answer to it (SYN, ACK).
        case accept
        /// Bytes, the end of the sender's side, or both.
        case data
        /// Bytes have arrived, or there is room again.
        case acknowledgement
        /// A question whether the peer is still there.
        case probe
        /// The connection is broken off (RST).
        case reset
    }

    /// What it is for.
    public let kind: Kind
    /// The name of the host that sends it.
    public let from: String
    /// The name of the host that it goes to.
    public let to: String
    /// The connection's number: they count from 1, in the order in which they were dialled.
    public let connection: Int
    /// Whether the side that dialled has sent it.
    public let isFromDialer: Bool
    /// Where it was dialled to.
    public let endpoint: Endpoint
    /// For data: how many bytes its side has sent before these.
    public let offset: Int
    /// For data: the bytes.
    public let bytes: Bytes
    /// For data: whether its sender's side ends behind the bytes (FIN).
    public let isEnd: Bool
    /// When it was sent, as the time since the simulation's start.
    public let time: Duration
}

/// What a fault rule wants with a packet.
public enum FaultVerdict: Sendable, Hashable {
    /// It is for the next rule to say; behind the last one the packet is delivered.
    case pass
    /// It is delivered, and no further rule is asked.
    case deliver
    /// It travels so much longer, as does what comes behind it on its connection.
    case delay(Duration)
    /// It is lost. TCP sends it again after a while, and rules see it again.
    case drop
    /// It is lost, and both ends are told that the connection is broken.
    case reset
    /// It waits until its rule is released or removed, without being missed: no retransmission, no time-out.
    case hold
}

/// A rule that was added to a ``SimulatedNetwork``; see ``SimulatedNetwork/addRule(_:)``.
public final class FaultRule: Sendable {
    private let fabric: SimulatedFabric
    private let number: Int

    init(_ fabric: SimulatedFabric, number: Int) {
        self.fabric = fabric
        self.number = number
    }

    /// Delivers what the rule holds, in order. The rule stays.
    public func release() { fabric.perform { $0.release(number) } }

    /// Removes the rule and delivers what it holds. Harmless when repeated.
    public func remove() {
        fabric.perform { state in
            state.rules.removeAll { $0.number == number }
            state.release(number)
        }
    }
}

/// A rule as the network keeps it.
struct ActiveRule: Sendable {
    let number: Int
    let judge: @Sendable (SimulatedPacket) -> FaultVerdict
}
