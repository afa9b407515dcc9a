public import LifelineCore

/// How a ``Supervisor`` treats each of its connections.
public struct SupervisorOptions: Sendable {
    /// The bounds and time limits of a connection. The inbox's bounds hold for all connections together.
    public var connection = ConnectionOptions()
    /// The time for an attempt to connect, name look-up included. Default 10 s; nil for as long as the system tries.
    public var connectLimit: Duration? = .seconds(10)
    /// The time for a registration. Default 10 s.
    public var registrationLimit: Duration = .seconds(10)
    /// How long a connection may live on behind a ``GoAway`` that came over it: the server ends it, or else this side does then. Default 5 s;
    /// nil leaves it to the server, as where it announces long before that it will restart.
    public var goAwayLimit: Duration? = .seconds(5)
    /// Attempts that are shared with other supervisors. Default nil: no such bound.
    public var retryBudget: RetryBudget?

    /// The defaults.
    public init() {}
}
