internal import LifelineRuntime

/// A network that never existed, in virtual time: named hosts, and links between them that are slow, cut, lossy or hostile as the test
/// says.
///
/// The real `Server`, `Connection` and `ByteStream` run on its hosts unchanged, over sockets with the buffers, windows,
/// retransmissions, resets and time limits of TCP. Every choice comes from the simulation's seed: the same seed, the same ``Trace``.
///
///     try await simulate(seed: 7) { world in
///         let network = world.simulated
///         network.links = LinkSettings(latency: .milliseconds(40), jitter: .milliseconds(10))
///         let (server, phone) = (network.host("server"), network.host("phone"))
///         // … Server.bind(.tcp("server", 7000), codec: .lines, on: server)
///         // … Connection.connect(to: .tcp("server", 7000), codec: .lines, on: phone)
///         network.cut(from: server, to: phone)       // The phone hears nothing more.
///     }
///
/// What changes a network may be called at any time in the simulation, and does nothing once that has ended.
public final class SimulatedNetwork: Sendable {
    private let fabric: SimulatedFabric

    init(_ fabric: SimulatedFabric) { self.fabric = fabric }

    /// The host called `name`. It is there from the first call on, and up.
    public func host(_ name: String) -> SimulatedHost {
        SimulatedHost(fabric, index: fabric.perform { $0.host(name) }, name: name)
    }

    // Links.

    /// What links are like that have no settings of their own.
    public var links: LinkSettings {
        get { fabric.perform { $0.defaultLink } }
        set { fabric.perform { $0.defaultLink = newValue } }
    }

    /// Sets what the link from one host to another is like, in this direction. Packets under way aren't touched.
    public func setLink(from: SimulatedHost, to: SimulatedHost, _ settings: LinkSettings) {
        fabric.perform { state in
            let link = state.link(from: from.index, to: to.index)
            state.links[link].settings = settings
        }
    }

    /// Sets both directions of the link between two hosts.
    public func setLink(between one: SimulatedHost, and other: SimulatedHost, _ settings: LinkSettings) {
        setLink(from: one, to: other, settings)
        setLink(from: other, to: one, settings)
    }

    /// Loses all packets from one host to another, those under way too, until the link is healed. The other direction works: a half-open
    /// connection. TCP sends again after the heal, or gives up at its limit.
    public func cut(from: SimulatedHost, to: SimulatedHost) {
        fabric.perform { $0.setCut(true, from: from.index, to: to.index) }
    }

    /// Cuts both directions between two hosts.
    public func partition(_ one: SimulatedHost, _ other: SimulatedHost) {
        cut(from: one, to: other)
        cut(from: other, to: one)
    }

    /// Takes back all cuts between two hosts.
    public func heal(_ one: SimulatedHost, _ other: SimulatedHost) {
        fabric.perform { state in
            state.setCut(false, from: one.index, to: other.index)
            state.setCut(false, from: other.index, to: one.index)
        }
    }

    /// Takes back all cuts.
    public func heal() { fabric.perform { $0.healAll() } }

    // Rules.

    /// Adds a rule behind those that are there. Each packet is shown to the rules in this order when it is sent; the first verdict that
    /// isn't ``FaultVerdict/pass`` holds. The rule stays until it is removed, whether or not the result is kept.
    ///
    /// - Parameter judge: called on the simulation's thread. It may change the network.
    @discardableResult
    public func addRule(_ judge: @escaping @Sendable (SimulatedPacket) -> FaultVerdict) -> FaultRule {
        let number = fabric.perform { state in
            state.rulesSoFar += 1
            state.rules.append(ActiveRule(number: state.rulesSoFar, judge: judge))
            return state.rulesSoFar
        }
        return FaultRule(fabric, number: number)
    }

    // Facts, for invariants.

    /// Connections that a host's kernel still knows of.
    public var liveConnections: Int { fabric.perform { $0.connections.count } }

    /// Ends of connections that code under test holds, connects under way included. Zero when everything was closed.
    public var openTransports: Int { fabric.perform { $0.hosts.reduce(0) { $0 + $1.openTransports } } }

    /// Open listeners, of all hosts.
    public var openListeners: Int { fabric.perform { $0.hosts.reduce(0) { $0 + $1.listeners.count } } }
}
