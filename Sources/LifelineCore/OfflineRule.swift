/// What becomes of messages that are sent while there is no connection, or while earlier ones still wait for it.
///
/// Messages that wait aren't encoded yet: they can be cancelled and can expire. When the link is up, and registered, they go first, in
/// the order in which they were sent. One that was encoded isn't sent again on a later connection. When the link stops, those that still
/// wait are never sent.
public struct OfflineRule<Outgoing>: Sendable {
    package enum Kind: Sendable, Equatable { case fail, wait, keep, dropOldest, latest }

    package let kind: Kind
    package let limit: Int
    package let key: (@Sendable (Outgoing) -> AnyHashable)?

    private init(_ kind: Kind, limit: Int, key: (@Sendable (Outgoing) -> AnyHashable)? = nil) {
        self.kind = kind
        self.limit = max(0, limit)
        self.key = key
    }

    /// Sending throws ``SocketError/Code/offline``.
    public static var fail: Self { Self(.fail, limit: 0) }

    /// Sending waits until the connection has taken the message; a cancelled `send` isn't sent later. What is handed over without waiting
    /// is kept as by ``keep(_:)`` with 1,000.
    public static var wait: Self { Self(.wait, limit: 1000) }

    /// Up to `count` messages are kept, and `send` returns at once; beyond that it throws ``SocketError/Code/queueFull``.
    public static func keep(_ count: Int) -> Self { Self(.keep, limit: count) }

    /// The newest `count` messages are kept, and `send` returns at once. An older one that makes room is never sent:
    /// ``SocketError/Code/superseded``.
    public static func dropOldest(_ count: Int) -> Self { Self(.dropOldest, limit: count) }

    /// Of messages with the same key only the latest is kept, in its own place in the order; the older one is never sent:
    /// ``SocketError/Code/superseded``. Beyond `count` keys `send` throws ``SocketError/Code/queueFull``. Default 1,000.
    ///
    /// - Parameter key: called in the sender's task.
    public static func latest<Key: Hashable & Sendable>(_ count: Int = 1000, by key: @escaping @Sendable (Outgoing) -> Key) -> Self {
        Self(.latest, limit: count) { AnyHashable(key($0)) }
    }
}
