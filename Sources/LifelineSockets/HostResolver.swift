import LifelineCore
package import LifelineRuntime

/// Finds the addresses of a name.
package protocol HostResolver: Sendable {
    /// The addresses in the order in which they are to be tried, at least one.
    ///
    /// - Throws: ``SocketError`` (at the limit with the phase `resolve`), `CancellationError`.
    func addresses(of host: String, port: UInt16, within limit: Duration, on loop: any EventLoop) async throws -> [IPAddress]
}
