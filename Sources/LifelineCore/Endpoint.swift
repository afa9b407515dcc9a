/// Where to connect to or to listen at. Written and parsed as a URL: `tcp://host:port`, `tls://host:port`, `unix:///path`,
/// `memory://name`.
public enum Endpoint: Sendable, Hashable {
    /// A TCP host (a name, an IPv4 or an IPv6 address, with `%zone` where one is needed) and port. Listening at port 0 picks a free one;
    /// listening at an empty host takes all addresses, of both families.
    case tcp(String, UInt16)
    /// As ``tcp(_:_:)``, with TLS. Only a network that protects what it carries serves it, such as `TLSNetwork` of LifelineTLS; others
    /// throw ``SocketError/Code/unsupportedEndpoint``.
    case tls(String, UInt16)
    /// A Unix stream socket at a path of the file system.
    case unix(String)
    /// A name within one `InMemoryNetwork`.
    case inMemory(String)
}

extension Endpoint: CustomStringConvertible {
    /// The URL.
    public var description: String {
        switch self {
        case .tcp(let host, let port): "tcp://\(Self.authority(host, port))"
        case .tls(let host, let port): "tls://\(Self.authority(host, port))"
        case .unix(let path): "unix://\(path)"
        case .inMemory(let name): "memory://\(name)"
        }
    }

    private static func authority(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The port, where there is one.
    public var port: UInt16? {
        switch self {
        case .tcp(_, let port), .tls(_, let port): port
        case .unix, .inMemory: nil
        }
    }
}

extension Endpoint {
    /// The endpoint that `text` names. `host:port` without a scheme is TCP, a text that starts with `/` or `.` is a Unix path.
    ///
    /// - Throws: ``SocketError/Code/invalidEndpoint`` with what is wrong.
    public init(_ text: some StringProtocol) throws(SocketError) {
        let text = String(text)
        if text.hasPrefix("/") || text.hasPrefix(".") {
            self = .unix(text)
            return
        }
        var scheme = "tcp"
        var rest = Substring(text)
        if let mark = text.range(ofFirst: "://") {
            scheme = text[..<mark.lowerBound].lowercased()
            rest = text[mark.upperBound...]
        }
        switch scheme {
        case "tcp":
            let (host, port) = try Self.authority(rest, in: text)
            self = .tcp(host, port)
        case "tls":
            let (host, port) = try Self.authority(rest, in: text)
            self = .tls(host, port)
        case "unix":
            guard !rest.isEmpty else { throw SocketError(.invalidEndpoint, "no path in “\(text)”") }
            self = .unix(String(rest))
        case "memory":
            guard !rest.isEmpty else { throw SocketError(.invalidEndpoint, "no name in “\(text)”") }
            self = .inMemory(String(rest))
        default:
            throw SocketError(.unsupportedEndpoint, "the scheme “\(scheme)” of “\(text)” isn't known: use tcp, tls, unix or memory")
        }
    }

    private static func authority(_ rest: Substring, in text: String) throws(SocketError) -> (String, UInt16) {
        let host: Substring
        let tail: Substring
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else {
                throw SocketError(.invalidEndpoint, "“[” without “]” in “\(text)”")
            }
            host = rest[rest.index(after: rest.startIndex)..<end]
            tail = rest[rest.index(after: end)...]
        } else if let colon = rest.lastIndex(of: ":") {
            host = rest[..<colon]
            tail = rest[colon...]
            if host.contains(":") {
                throw SocketError(.invalidEndpoint, "an IPv6 address stands in brackets: “[\(host)]\(tail)”")
            }
        } else {
            throw SocketError(.invalidEndpoint, "no port in “\(text)”: write host:port")
        }
        let digits = tail.dropFirst()
        guard tail.hasPrefix(":"), digits.first != "+", let port = UInt16(digits) else {
            throw SocketError(.invalidEndpoint, "the port of “\(text)” isn't a number from 0 to 65535")
        }
        return (String(host), port)
    }
}

extension StringProtocol {
    /// The first place where `needle` stands.
    fileprivate func range(ofFirst needle: String) -> Range<Index>? {
        var position = startIndex
        while position < endIndex {
            if self[position...].hasPrefix(needle) { return position..<index(position, offsetBy: needle.count) }
            position = index(after: position)
        }
        return nil
    }
}
