import CLifelineSystem
public import LifelineCore
public import LifelineRuntime

extension Connection {
    /// A connection over a socket that was made elsewhere, such as one of a `socketpair` or one that a parent process has left: a
    /// connected stream socket, TCP or Unix. `options.socket` is applied to it.
    ///
    /// From then on the descriptor is the connection's to close; nobody else may close it or read from it. Its open file no longer
    /// blocks, for copies of the descriptor, too. A cancelled call adopts all the same.
    /// - Throws: ``SocketError/Code/misuse`` if `descriptor` is something else, or what the system says to a setting. The descriptor is
    ///   still open then and the caller's.
    public static func adopting(
        _ descriptor: Int32, codec: C, on network: SystemNetwork = .system, options: ConnectionOptions = ConnectionOptions()
    ) async throws -> Connection<C> {
        let transport = try await network.adopt(descriptor, options: options.socket)
        let connection = Connection(over: StreamCore(transport: transport, options: options), codec: codec)
        await connection.start()
        return connection
    }
}

extension ByteStream {
    /// A stream over a socket that was made elsewhere; see ``Connection/adopting(_:codec:on:options:)``.
    public static func adopting(
        _ descriptor: Int32, on network: SystemNetwork = .system, options: ConnectionOptions = ConnectionOptions()
    ) async throws -> ByteStream {
        let transport = try await network.adopt(descriptor, options: options.socket)
        let stream = ByteStream(over: StreamCore(transport: transport, options: options))
        await stream.start()
        return stream
    }
}

extension SystemNetwork {
    /// Takes over a connected stream socket (TCP or Unix) that was made elsewhere. From then on it is the transport's to close, and its
    /// open file no longer blocks.
    ///
    /// - Parameter options: applied to it; nil leaves its settings alone.
    /// - Throws: ``SocketError/Code/misuse`` if `descriptor` is something else. After an error it is the caller's, and blocks as it did.
    package func adopt(
        _ descriptor: Int32, on loop: (any EventLoop)? = nil, options: SocketOptions? = nil
    ) async throws -> any Transport {
        let loop = try loop.map { loop throws(SocketError) in try SystemDriver.own(loop) } ?? driver.group.next()
        let result = await Reply.from(loop) {
            Result { () throws(SocketError) in try Self.adoptNow(descriptor, on: loop, options: options) }
        }
        return try result.get()
    }

    private static func adoptNow(
        _ descriptor: Int32, on loop: PollingEventLoop, options: SocketOptions?
    ) throws(SocketError) -> SocketTransport {
        let family = lls_check_connected_stream(descriptor)
        if family < 0 {
            throw SocketError(
                .misuse, "the descriptor \(descriptor) isn't a connected stream socket: \(SocketError.words(for: -family))",
                errno: -family)
        }
        let isUnix = family == Int32(LLS_UNIX)
        var raw = lls_address()
        let remote = lls_peer_address(descriptor, &raw) == 0 ? SocketAddress(raw) : nil
        let wasNonblocking = lls_set_nonblocking(descriptor, 1)
        try Descriptor.check(wasNonblocking, "the descriptor \(descriptor) can't be made non-blocking")
        do throws(SocketError) {
            if let options { try Descriptor.apply(options, to: descriptor, isIP: !isUnix) }
            return try SocketTransport(descriptor, on: loop, remote: remote, isUnix: isUnix, isAdopted: true)
        } catch {
            _ = lls_set_nonblocking(descriptor, wasNonblocking)
            throw error
        }
    }
}
