import CLifelineSystem
import LifelineCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A socket that listens and isn't watched yet.
struct ListeningSocket: Sendable {
    let descriptor: Int32
    let endpoint: Endpoint
    /// The file that it made, for a Unix socket.
    var file: UnixPath?

    var isUnix: Bool { file != nil }

    /// All addresses of both families, or of IPv4 where there is no IPv6.
    static func anyAddress(port: UInt16, options: SocketOptions) throws(SocketError) -> ListeningSocket {
        if let both = try IPAddress("::", port: port) {
            do throws(SocketError) {
                return try at(both, options: options, isDual: true)
            } catch  where error.errno == EAFNOSUPPORT || error.errno == EADDRNOTAVAIL {
                // Go on with IPv4.
            }
        }
        guard let v4 = try IPAddress("0.0.0.0", port: port) else { throw SocketError(.system, "no address to listen at") }
        return try at(v4, options: options)
    }

    static func at(_ address: IPAddress, options: SocketOptions, isDual: Bool = false) throws(SocketError) -> ListeningSocket {
        let socketAddress = SocketAddress.ip(address)
        let descriptor = try Descriptor.open(family: socketAddress.family)
        do throws(SocketError) {
            // Connections of a server that has just ended don't keep its port; a live listener does.
            try Descriptor.check(lls_set_reuse_address(descriptor), "the address can't be reused")
            if options.reusePort { try Descriptor.check(lls_set_reuse_port(descriptor), "the port can't be shared") }
            if socketAddress.family == Int32(LLS_V6) {
                try Descriptor.check(lls_set_v6_only(descriptor, isDual ? 0 : 1), "the families of addresses can't be chosen")
            }
            try Descriptor.apply(options, to: descriptor, isIP: true)
            var raw = socketAddress.raw
            let bound = lls_bind(descriptor, &raw)
            if bound == -EADDRNOTAVAIL {
                throw SocketError(
                    .invalidEndpoint, "listening at \(socketAddress): the address isn't one of this host", errno: EADDRNOTAVAIL)
            }
            try Descriptor.check(bound, "listening at \(socketAddress)")
            try Descriptor.check(lls_listen(descriptor, Int32(clamping: options.backlog)), "listening at \(socketAddress)")
            try Descriptor.check(lls_local_address(descriptor, &raw), "asking for the port")
            let endpoint = SocketAddress(raw)?.endpoint ?? .tcp(address.host, address.port)
            return ListeningSocket(descriptor: descriptor, endpoint: endpoint)
        } catch {
            _ = lls_close(descriptor)
            throw error
        }
    }
}
