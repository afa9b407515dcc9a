public import LifelineRuntime

/// A machine of a ``SimulatedNetwork``: the network that a process on it sees. Pass it where a network is asked for.
///
/// A host listens at `.tcp` with its own name, with an empty host or with `localhost`, and at `.unix` paths, which are its own; it
/// connects to `.tcp` with any host's name. Other names are `unknownHost`; port 0 picks a free one.
public final class SimulatedHost: Network {
    /// What other hosts call it.
    public let name: String
    let fabric: SimulatedFabric
    let index: Int
    private let driver: SimulatedDriver

    init(_ fabric: SimulatedFabric, index: Int, name: String) {
        self.fabric = fabric
        self.index = index
        self.name = name
        driver = SimulatedDriver(fabric, host: index)
    }

    /// What the runtime drives. Not for use.
    public var _driver: _NetworkDriver { _NetworkDriver(driver) }

    /// How its kernel behaves: buffers and times of connections that begin from now on, limits of all.
    public var kernel: KernelSettings {
        get { fabric.perform { $0.hosts[index].kernel } }
        set { fabric.perform { $0.hosts[index].kernel = newValue } }
    }

    /// Whether it is up: false between ``crash()`` and ``restart()``.
    public var isUp: Bool { fabric.perform { $0.hosts[index].isUp } }

    /// Ends of connections that code under test on this host holds, connects under way included: for a client that is to have one
    /// connection at a time never more than one.
    public var openTransports: Int { fabric.perform { $0.hosts[index].openTransports } }

    /// Takes its power away. Nobody is told: peers hear nothing until the host is up again, when their next packet is answered with a
    /// reset. On the host itself connections fail, listening and connecting throw `unreachable`, and a server accepts nobody any more:
    /// shut it down, and bind another after ``restart()``. Harmless when repeated.
    public func crash() { fabric.perform { $0.crash(index) } }

    /// Gives the power back. Nothing listens and nobody is connected; bind again.
    public func restart() { fabric.perform { $0.restart(index) } }

    /// Ends its process as `kill -9` does. The kernel closes everything: a peer sees the end of its connection, or a reset if the process
    /// hadn't read all that had arrived; the ports are free at once. What runs on the host in the test stands for what is dead: it finds
    /// its connections closed, and a server accepts nobody any more. The next process may connect and bind at once.
    public func killProcess() { fabric.perform { $0.killProcess(on: index) } }
}
