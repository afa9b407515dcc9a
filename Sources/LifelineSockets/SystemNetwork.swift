public import LifelineRuntime

/// The system's sockets: TCP and Unix.
public struct SystemNetwork: Network {
    /// What the runtime drives. Not for use.
    public let _driver: _NetworkDriver

    let driver: SystemDriver

    /// The network on `loops`; by default on those that the process shares.
    public init(loops: EventLoops = .shared) {
        self.init(driver: SystemDriver(loops))
    }

    /// With another resolver, for tests.
    package init(loops: EventLoops, resolver: any HostResolver) {
        self.init(driver: SystemDriver(loops, resolver: resolver))
    }

    private init(driver: SystemDriver) {
        self.driver = driver
        _driver = _NetworkDriver(driver)
    }

    fileprivate static let standard = SystemNetwork()
}

extension Network where Self == SystemNetwork {
    /// The system's network on the event loops that the process shares.
    public static var system: SystemNetwork { .standard }
}
