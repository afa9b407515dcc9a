package import LifelineCore
package import LifelineRuntime

/// What the system's network does for the runtime.
package final class SystemDriver: NetworkDriver {
    let group: EventLoops
    let resolver: any HostResolver

    package init(_ group: EventLoops, resolver: any HostResolver = SystemResolver.shared) {
        self.group = group
        self.resolver = resolver
    }

    package var loops: [any EventLoop] { group.loops }

    package func nextLoop() -> any EventLoop { group.next() }

    package func dial(
        _ endpoint: Endpoint, on loop: any EventLoop, options: SocketOptions, within limit: Duration
    ) async throws -> any Transport {
        let loop = try Self.own(loop)
        try Task.checkCancellation()
        let deadline = loop.now.advanced(by: limit)
        let addresses: [SocketAddress]
        switch endpoint {
        case .unix(let path):
            addresses = [try .checked(path: path)]
        case .tcp(let host, let port):
            if host.isEmpty { throw SocketError(.invalidEndpoint, "a host is needed to connect to") }
            addresses = try await self.addresses(of: host, port: port, within: limit, on: loop).map { .ip($0) }
        case .tls, .inMemory:
            throw SocketError(.unsupportedEndpoint, "the system's network can't connect to \(endpoint)\(Self.hint(endpoint))")
        }
        return try await Dial(endpoint, at: addresses, on: loop, options: options, within: limit, until: deadline).connect()
    }

    /// Addresses as they are, names by the resolver.
    func addresses(of host: String, port: UInt16, within limit: Duration, on loop: PollingEventLoop) async throws -> [IPAddress] {
        if let literal = try IPAddress(host, port: port) { return [literal] }
        if host.utf8.contains(0) { throw SocketError(.invalidEndpoint, "the host's name holds a zero byte") }
        let found = try await resolver.addresses(of: host, port: port, within: limit, on: loop)
        if found.isEmpty { throw SocketError(.unknownHost, "“\(host)” has no address") }
        return found
    }

    package func listen(
        _ endpoint: Endpoint, on loop: any EventLoop, dealingTo loops: [any EventLoop], options: SocketOptions, sink: any ListenerSink
    ) async throws -> any Listener {
        let home = try Self.own(loop)
        var targets: [PollingEventLoop] = []
        for target in loops { targets.append(try Self.own(target)) }
        if targets.isEmpty { targets = [home] }
        let socket: ListeningSocket
        switch endpoint {
        case .tcp(let host, let port):
            socket = try await listen(host: host, port: port, on: home, options: options)
        case .unix(let path):
            socket = try UnixPath.listen(at: path, options: options)
        case .tls, .inMemory:
            throw SocketError(.unsupportedEndpoint, "the system's network can't listen at \(endpoint)\(Self.hint(endpoint))")
        }
        return try await SocketListener.open(socket, on: home, dealingTo: targets, sink: sink)
    }

    /// A name is listened at by its first address that works.
    private func listen(
        host: String, port: UInt16, on loop: PollingEventLoop, options: SocketOptions
    ) async throws -> ListeningSocket {
        if host.isEmpty || host == "::" { return try ListeningSocket.anyAddress(port: port, options: options) }
        var last: SocketError?
        for address in try await addresses(of: host, port: port, within: Self.listenLookUpLimit, on: loop) {
            do throws(SocketError) {
                return try ListeningSocket.at(address, options: options)
            } catch {
                last = error
            }
        }
        throw last ?? SocketError(.unknownHost, "“\(host)” has no address")
    }

    private static func hint(_ endpoint: Endpoint) -> String {
        if case .tls = endpoint { ": TLSNetwork of LifelineTLS, over this one, can" } else { "" }
    }

    private static let listenLookUpLimit = Duration.seconds(30)

    static func own(_ loop: any EventLoop) throws(SocketError) -> PollingEventLoop {
        guard let own = loop as? PollingEventLoop else {
            throw SocketError(.misuse, "the event loop isn't one of the system's network")
        }
        return own
    }
}
