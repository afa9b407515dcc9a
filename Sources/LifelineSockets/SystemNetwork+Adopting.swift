import CLifelineSystem
import LifelineCore
package import LifelineRuntime

extension SystemNetwork {
    /// Takes over a connected stream socket (TCP or Unix) that was made elsewhere, such as one of a `socketpair` or one that a parent
    /// process has left. From then on it is the transport's to close, and its open file no longer blocks.
    ///
    /// - Throws: ``SocketError/Code/misuse`` if `descriptor` is something else. After an error it is as it was, and the caller's.
    package func adopt(_ descriptor: Int32, on loop: (any EventLoop)? = nil) async throws -> any Transport {
        let loop = try loop.map { loop throws(SocketError) in try SystemDriver.own(loop) } ?? driver.group.next()
        let result = await Reply.from(loop) {
            Result { () throws(SocketError) in try Self.adoptNow(descriptor, on: loop) }
        }
        return try result.get()
    }

    private static func adoptNow(_ descriptor: Int32, on loop: PollingEventLoop) throws(SocketError) -> SocketTransport {
        let family = lls_check_connected_stream(descriptor)
        if family < 0 {
            throw SocketError(
                .misuse, "the descriptor \(descriptor) isn't a connected stream socket: \(SocketError.words(for: -family))",
                errno: -family)
        }
        var raw = lls_address()
        let remote = lls_peer_address(descriptor, &raw) == 0 ? SocketAddress(raw) : nil
        let wasNonblocking = lls_set_nonblocking(descriptor, 1)
        try Descriptor.check(wasNonblocking, "the descriptor \(descriptor) can't be made non-blocking")
        do throws(SocketError) {
            return try SocketTransport(
                descriptor, on: loop, remote: remote, isUnix: family == Int32(LLS_UNIX), isAdopted: true)
        } catch {
            _ = lls_set_nonblocking(descriptor, wasNonblocking)
            throw error
        }
    }
}
