public import LifelineCore
public import LifelineRuntime

extension ByteStream {
    /// Goes on with TLS, as its client, on this same stream (as STARTTLS does). All that is written from now on, and all that is read, is
    /// protected.
    ///
    /// To be called once the peer has agreed in plain text, and nothing else of its plain text has arrived: what has is never taken as
    /// protected. It ends the stream with ``SocketError/Code/protocolViolation``.
    ///
    /// - Parameters:
    ///   - client: how.
    ///   - serverName: the host that the certificate has to be for; ``TLSClient/Settings/serverName`` comes first. Nil only where neither
    ///     ``TLSTrust`` nor anybody else asks for a name.
    ///   - limit: the time for the handshake, `verify` included. Default 10 s.
    /// - Returns: what was agreed on.
    /// - Throws: as `connect` over a ``TLSNetwork``, and the stream is closed then; ``SocketError/Code/misuse`` if a read waits, or TLS is
    ///   spoken already, and nothing has happened then. A cancelled call closes the stream.
    @discardableResult
    public func startTLS(_ client: TLSClient, serverName: String?, within limit: Duration = .seconds(10)) async throws -> TLSInfo {
        let upgrade = Upgrade(try client.makeHandle(host: serverName, port: nil), within: limit)
        try self.upgrade(announcing: nil, or: Upgrade.plainBehindBorder, upgrade.begin)
        return try await upgrade.complete { error in try self.end(error) }
    }

    /// As ``startTLS(_:serverName:within:)``, as its server, within ``TLSServer/Settings/handshakeLimit``.
    ///
    /// - Parameter last: the last plain text, by which this side agrees. It is queued in the same turn of the event loop, so whatever the
    ///   client has sent before can't be meant as protected, and ends the stream; that goes for its first words of TLS, too, if they don't
    ///   wait for this.
    @discardableResult
    public func startTLS(_ server: TLSServer, announcing last: Bytes) async throws -> TLSInfo {
        let upgrade = Upgrade(try server.makeHandle(), within: server.settings.handshakeLimit)
        try self.upgrade(announcing: last, or: Upgrade.plainBehindBorder, upgrade.begin)
        return try await upgrade.complete { error in try self.end(error) }
    }
}

extension Connection {
    /// Goes on with TLS, as its client, on this same connection and with the same codec; see ``LifelineRuntime/ByteStream/startTLS(_:serverName:within:)``.
    ///
    /// - Throws: ``SocketError/Code/protocolViolation`` if messages in plain text have arrived already and weren't read, or a part of one has,
    ///   and the connection is closed then.
    @discardableResult
    public func startTLS(_ client: TLSClient, serverName: String?, within limit: Duration = .seconds(10)) async throws -> TLSInfo {
        let upgrade = Upgrade(try client.makeHandle(host: serverName, port: nil), within: limit)
        try self.upgrade(announcing: nil, or: Upgrade.plainBehindBorder, upgrade.begin)
        return try await upgrade.complete { error in try self.end(error) }
    }

    /// As ``startTLS(_:serverName:within:)``, as its server, within ``TLSServer/Settings/handshakeLimit``.
    ///
    /// - Parameter last: the last message in plain text, by which this side agrees. It is queued in the same turn of the event loop, so
    ///   whatever the client has sent before can't be meant as protected, and ends the connection.
    @discardableResult
    public func startTLS(_ server: TLSServer, announcing last: C.Outgoing) async throws -> TLSInfo {
        let upgrade = Upgrade(try server.makeHandle(), within: server.settings.handshakeLimit)
        try self.upgrade(announcing: last, or: Upgrade.plainBehindBorder, upgrade.begin)
        return try await upgrade.complete { error in try self.end(error) }
    }
}

extension ByteStream {
    fileprivate func end(_ error: SocketError?) throws {
        if let error = closeReason?.error { throw error }
        if let error { core.end(error) } else { core.closeNow() }
    }
}

extension Connection {
    fileprivate func end(_ error: SocketError?) throws {
        if let error = closeReason?.error { throw error }
        if let error { core.end(error) } else { core.closeNow() }
    }
}

/// The way of one stream from plain text to TLS. On its loop until ``complete(onFailure:)``.
private final class Upgrade {
    private let handle: TLSHandle
    private let limit: Duration
    private var transport: TLSTransport?

    init(_ handle: TLSHandle, within limit: Duration) {
        self.handle = handle
        self.limit = limit
    }

    func begin(over base: any Transport, behind plain: Int) throws(SocketError) -> any Transport {
        let transport = try TLSTransport(over: base, handle, behind: plain)
        // What the old owner was told of isn't told again.
        transport.isBaseReadable = true
        transport.begin(within: limit, told: limit)
        self.transport = transport
        return transport
    }

    /// Waits for the end of the handshake; `close` is called if that is none.
    ///
    /// - Parameter end: throws the error of the stream if it has ended for another reason.
    func complete(onFailure end: (SocketError?) throws -> Void) async throws -> TLSInfo {
        do {
            try await transport?.complete()
            return handle.info(peerEnd: .none)
        } catch {
            try end(error as? SocketError)
            throw error
        }
    }

    static var plainBehindBorder: SocketError {
        let reason = TLSError(.plaintextBehindBorder, "the peer has sent plain text behind the border from which on all is protected")
        return SocketError(.protocolViolation, reason.message, cause: reason)
    }
}
