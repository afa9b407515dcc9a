package import LifelineCore

/// Something to connect over and to listen on: the system's network, one in memory, a simulated one. It is passed in, never looked up.
///
/// The library's own types conform; the one requirement is not for use outside of it.
public protocol Network: Sendable {
    /// What the runtime drives. Not for use.
    var _driver: _NetworkDriver { get }
}

/// The runtime's view of a ``Network``. Not for use.
public struct _NetworkDriver: Sendable {
    package let base: any NetworkDriver

    package init(_ base: any NetworkDriver) { self.base = base }
}

/// What a network does for the runtime.
package protocol NetworkDriver: Sendable {
    /// The loops that it owns, at least one.
    var loops: [any EventLoop] { get }
    /// The loop for the next connection.
    func nextLoop() -> any EventLoop

    /// Connects. The result lives on `loop` and hasn't started. On cancellation and at the limit nothing is left behind.
    ///
    /// - Throws: ``SocketError``, `CancellationError`.
    func dial(
        _ endpoint: Endpoint, on loop: any EventLoop, options: SocketOptions, within limit: Duration
    ) async throws -> any Transport

    /// Listens. Each accepted transport lives on one of `loops`, dealt round-robin, and `sink` is told on that loop.
    func listen(
        _ endpoint: Endpoint, on loop: any EventLoop, dealingTo loops: [any EventLoop], options: SocketOptions, sink: any ListenerSink
    ) async throws -> any Listener
}

/// An open listening socket.
package protocol Listener: AnyObject, Sendable {
    /// Where it listens, with the port that was picked.
    var endpoint: Endpoint { get }
    /// Takes no more connections until ``resume()``; the system keeps those that come, up to its backlog. From any thread; of a pause
    /// and a resume the later call holds.
    func pause()
    /// From any thread.
    func resume()
    /// Stops. When it returns the address is free. Connections that were accepted stay.
    func close() async
    /// As ``close()``, without waiting for it.
    func closeSoon()
}

/// Where accepted connections go.
package protocol ListenerSink: AnyObject, Sendable {
    /// Called on `transport`'s loop; the transport hasn't started.
    func accepted(_ transport: any Transport)
    /// Accepting fails for now, for a cause on this side such as too few descriptors; it is tried again by itself.
    func acceptFailed(_ error: SocketError)
}
