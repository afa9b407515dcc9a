import CLifelineSystem
package import LifelineCore

/// An address that the kernel takes.
package enum SocketAddress: Hashable, Sendable {
    case ip(IPAddress)
    case unix(String)

    var family: Int32 {
        switch self {
        case .ip(let address): Int32(address.raw.family)
        case .unix: Int32(LLS_UNIX)
        }
    }

    /// In the kernel's form. A Unix path has been checked by ``checked(path:)``.
    var raw: lls_address {
        var raw = lls_address()
        switch self {
        case .ip(let address):
            var ip = address.raw
            lls_make_address(&ip, &raw)
        case .unix(let path):
            _ = lls_make_unix_address(path, path.utf8.count, &raw)
        }
        return raw
    }

    init?(_ raw: lls_address) {
        var raw = raw
        var ip = lls_ip()
        switch Int(lls_read_address(&raw, &ip)) {
        case LLS_V4, LLS_V6: self = .ip(IPAddress(ip))
        case LLS_UNIX:
            self = .unix(
                withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
                    let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                    return String(decoding: buffer[..<lls_unix_path(&raw, start, buffer.count)], as: UTF8.self)
                })
        default: return nil
        }
    }

    /// Nil for a Unix socket without a name.
    package var endpoint: Endpoint? {
        switch self {
        case .ip(let address): .tcp(address.host, address.port)
        case .unix(let path): path.isEmpty ? nil : .unix(path)
        }
    }

    /// The address of a Unix socket at `path`.
    static func checked(path: String) throws(SocketError) -> SocketAddress {
        let limit = lls_unix_path_limit()
        if path.isEmpty { throw SocketError(.invalidEndpoint, "the path of a Unix socket is empty") }
        if path.utf8.contains(0) { throw SocketError(.invalidEndpoint, "the path of a Unix socket holds a zero byte") }
        if path.utf8.count > limit {
            throw SocketError(
                .invalidEndpoint, "the path of a Unix socket is \(path.utf8.count) bytes long, the system takes \(limit): \(path)")
        }
        return .unix(path)
    }
}

extension SocketAddress: CustomStringConvertible {
    package var description: String { endpoint?.description ?? "unix:(unnamed)" }
}

/// An IPv4 or IPv6 address with its port.
package struct IPAddress: Hashable, Sendable {
    let raw: lls_ip

    init(_ raw: lls_ip) { self.raw = raw }

    /// The address that `text` writes; nil if `text` is something else, such as a name.
    ///
    /// - Throws: ``SocketError/Code/invalidEndpoint`` for an IPv6 zone that isn't an interface here.
    package init?(_ text: String, port: UInt16) throws(SocketError) {
        var raw = lls_ip()
        if text.utf8.contains(0) { return nil }
        let result = lls_parse_ip(text, &raw)
        if result < 0 { throw SocketError(.invalidEndpoint, "no network interface has the name at the end of “\(text)”", errno: -result) }
        if result == 0 { return nil }
        raw.port = port
        self.raw = raw
    }

    package var port: UInt16 { raw.port }

    /// The address as text, with its zone.
    package var host: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 80) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            var raw = raw
            lls_format_ip(&raw, start, buffer.count)
            return String(cString: start)
        }
    }

    package func with(port: UInt16) -> IPAddress {
        var copy = raw
        copy.port = port
        return IPAddress(copy)
    }

    package static func == (left: IPAddress, right: IPAddress) -> Bool {
        left.raw.high == right.raw.high && left.raw.low == right.raw.low && left.raw.zone == right.raw.zone
            && left.raw.port == right.raw.port && left.raw.family == right.raw.family
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(raw.high)
        hasher.combine(raw.low)
        hasher.combine(raw.port)
    }
}
