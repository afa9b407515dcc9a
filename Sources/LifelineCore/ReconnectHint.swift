/// What a server wants of a client that it lets go. A registration that has read such a wish throws it; later it is given to the link
/// with `obey(_:)`; see ``GoAway``, too. It is obeyed once, when the connection ends.
public enum ReconnectHint: Error, Sendable, Hashable {
    /// Come back after this time, neither earlier nor later. Limits of attempts and of total time hold all the same.
    ///
    /// A thousand clients that were told the same time come back at the same moment. Let the server give each its own, or spread them here:
    /// each comes up to `spread` later, by chance.
    case after(Duration, spread: Duration = .zero)
    /// Connect to another endpoint. If that one can't be had, or lets the client go in its turn, the configured one is next again.
    ///
    /// Without a time the first such change of an outage is made at once, and later ones with the schedule's delay: two servers that
    /// send a client to each other aren't hammered.
    case elsewhere(Endpoint, after: Duration? = nil)
    /// Don't come back: the link stops as ``OfflineReason/kicked(_:)``.
    case never
}
