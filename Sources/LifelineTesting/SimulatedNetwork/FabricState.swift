internal import LifelineCore
internal import LifelineRuntime

/// Hosts, links, connections and everything on its way, as a value: what happens is said by calls, what is to be done outside by
/// ``effects``. Time and trace are given to it.
struct FabricState {
    enum Event {
        case arrival(Packet)
        /// Something may have to be sent again.
        case retransmission(SimulatedSocket, of: SimulatedConnection)
        case keepAlive(SimulatedSocket, of: SimulatedConnection)
        /// A side that ended long ago won't hear its peer's end any more.
        case forgetting(SimulatedSocket, of: SimulatedConnection)
        case accepting(ListeningState)
    }

    enum Effect {
        case post(SimulatedTransport)
        case connected(OneShot<Void>, SocketError?)
        case accept(ListeningState, SimulatedSocket, of: SimulatedConnection)
        /// To be judged by rules.
        case judge(Packet, after: Duration)
    }

    struct Host {
        let name: String
        var isUp = true
        var kernel = KernelSettings()
        var listeners: [ListeningState] = []
        var nextPort: UInt16 = 49_152
        /// Ends that an owner holds.
        var openTransports = 0
    }

    struct Link {
        let from: Int
        let to: Int
        /// Nil: the network's.
        var settings: LinkSettings?
        var isCut = false
        var busyUntil = LoopTime.zero
    }

    private struct Way: Hashable {
        let from: Int
        let to: Int
    }

    var now = LoopTime.zero
    let trace: Trace
    var dice: SeededGenerator
    var events = DeadlineHeap<LoopTime, Event>()
    var effects: [Effect] = []

    var hosts: [Host] = []
    /// For look-ups only: nothing goes through it in its order.
    private var hostsByName: [String: Int] = [:]
    var links: [Link] = []
    private var linksByWay: [Way: Int] = [:]
    var defaultLink = LinkSettings()
    /// Those that a kernel knows of, by number.
    var connections: [SimulatedConnection] = []
    var dialed = 0

    var rules: [ActiveRule] = []
    var rulesSoFar = 0
    var held: [(rule: Int, packet: Packet, delay: Duration)] = []

    init(trace: Trace, seed: UInt64) {
        self.trace = trace
        dice = SeededGenerator(seed: seed)
    }

    /// The host called `name`, which is made when it isn't there.
    mutating func host(_ name: String) -> Int {
        if let known = hostsByName[name] { return known }
        hosts.append(Host(name: name))
        hostsByName[name] = hosts.count - 1
        return hosts.count - 1
    }

    func knownHost(_ name: String) -> Int? { hostsByName[name] }

    mutating func link(from: Int, to: Int) -> Int {
        let way = Way(from: from, to: to)
        if let known = linksByWay[way] { return known }
        links.append(Link(from: from, to: to, settings: from == to ? .loopback : nil))
        linksByWay[way] = links.count - 1
        return links.count - 1
    }

    func settings(of link: Int) -> LinkSettings { links[link].settings ?? defaultLink }

    /// True so often.
    mutating func chance(_ share: Double) -> Bool {
        share > 0 && Double.random(in: 0..<1, using: &dice) < share
    }

    mutating func draw(upTo longest: Duration) -> Duration {
        let nanoseconds = longest.clampedNanoseconds
        return nanoseconds <= 0 ? .zero : .nanoseconds(Int64.random(in: 0...nanoseconds, using: &dice))
    }

    mutating func handle(_ event: Event) {
        switch event {
        case .arrival(let packet): arrive(packet)
        case .retransmission(let socket, _): retransmissionIsDue(socket)
        case .keepAlive(let socket, _): keepAliveIsDue(socket)
        case .forgetting(let socket, _): if socket.phase == .open { end(socket, because: nil) }
        case .accepting(let listener):
            listener.isTimed = false
            acceptNext(at: listener)
        }
    }

    func note(_ what: NetworkEvent.What, _ packet: Packet) {
        trace.addNetwork(
            now,
            NetworkEvent(
                what: what, kind: packet.kind, connection: packet.connection.number, isFromDialer: packet.isFromDialer,
                offset: packet.offset, count: packet.bytes.count, isEnd: packet.isEnd))
    }

    func note(_ text: String) { trace.addText(now, loop: nil, text) }
}
