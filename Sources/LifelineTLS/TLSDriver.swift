import LifelineCore
import LifelineRuntime

/// What TLS over a network does for the runtime.
final class TLSDriver: NetworkDriver {
    private let base: any NetworkDriver
    private let client: TLSClient?
    private let server: TLSServer?

    init(over base: any NetworkDriver, client: TLSClient?, server: TLSServer?) {
        self.base = base
        self.client = client
        self.server = server
    }

    var loops: [any EventLoop] { base.loops }

    func nextLoop() -> any EventLoop { base.nextLoop() }

    func dial(
        _ endpoint: Endpoint, on loop: any EventLoop, options: SocketOptions, within limit: Duration
    ) async throws -> any Transport {
        guard let client else {
            throw SocketError(.unsupportedEndpoint, "can't connect to \(endpoint): the network has no TLSClient")
        }
        let began = loop.now
        // Before anything is connected: settings that can't be used are told at once.
        let handle = try client.makeHandle(host: endpoint.host, port: endpoint.port)
        let transport = try await base.dial(endpoint.unprotected, on: loop, options: options, within: limit)
        let left = limit.clampedNanoseconds < .max ? max(.zero, limit - began.duration(to: loop.now)) : limit
        let protected: TLSTransport
        do throws(SocketError) {
            protected = try TLSTransport(over: transport, handle)
        } catch {
            loop.run { transport.close(reset: false) }
            throw error
        }
        return try await protected.establish(within: left, told: limit)
    }

    func listen(
        _ endpoint: Endpoint, on loop: any EventLoop, dealingTo loops: [any EventLoop], options: SocketOptions, sink: any ListenerSink
    ) async throws -> any Listener {
        guard let server else {
            throw SocketError(.unsupportedEndpoint, "can't listen at \(endpoint): the network has no TLSServer")
        }
        let listener = try await base.listen(
            endpoint.unprotected, on: loop, dealingTo: loops, options: options, sink: TLSSink(server, sink))
        return TLSListener(listener)
    }
}

extension TLSTransport {
    /// Begins, and waits until bytes may flow. Nothing is left behind when it throws.
    nonisolated(nonsending) func establish(within limit: Duration, told: Duration) async throws -> TLSTransport {
        loop.run { self.begin(within: limit, told: told) }
        do {
            try await complete()
            return self
        } catch {
            loop.run { self.close(reset: false) }
            throw error
        }
    }
}

/// Protects what is accepted, before anybody else sees it.
private final class TLSSink: ListenerSink {
    private let server: TLSServer
    private let sink: any ListenerSink

    init(_ server: TLSServer, _ sink: any ListenerSink) {
        self.server = server
        self.sink = sink
    }

    func accepted(_ transport: any Transport) {
        do throws(SocketError) {
            let protected = try TLSTransport(over: transport, server.makeHandle())
            let limit = server.settings.handshakeLimit
            protected.begin(within: limit, told: limit)
            sink.accepted(protected)
        } catch {
            transport.close(reset: false)
            sink.acceptFailed(error)
        }
    }

    func acceptFailed(_ error: SocketError) { sink.acceptFailed(error) }
}

/// A listener whose endpoint says that it is protected.
private final class TLSListener: Listener {
    private let base: any Listener

    init(_ base: any Listener) { self.base = base }

    var endpoint: Endpoint { base.endpoint.protected }

    func pause() { base.pause() }
    func resume() { base.resume() }
    func close() async { await base.close() }
    func closeSoon() { base.closeSoon() }
}

extension Endpoint {
    /// The host, where there is one.
    var host: String? {
        switch self {
        case .tcp(let host, _), .tls(let host, _): host
        case .unix, .inMemory: nil
        }
    }

    /// What the network below connects to or listens at.
    fileprivate var unprotected: Endpoint {
        if case .tls(let host, let port) = self { .tcp(host, port) } else { self }
    }

    fileprivate var protected: Endpoint {
        if case .tcp(let host, let port) = self { .tls(host, port) } else { self }
    }
}
