import CLifelineTLS
import COpenSSL
import LifelineCore
import Testing

@testable import LifelineTLS

/// A client and a server that read each other's bytes in memory, without a transport.
final class Link {
    let client: LinkEnd
    let server: LinkEnd

    /// - Parameter version: the newest that the client offers.
    init(
        _ client: TLSClient, _ server: TLSServer, host: String? = "localhost", port: UInt16? = 7000, version: TLSVersion = .tls13
    ) throws {
        self.client = try LinkEnd(client.makeHandle(host: host, port: port))
        self.server = try LinkEnd(server.makeHandle())
        self.client.limit(to: version)
    }

    init(_ client: TLSClient, _ server: PlainOpenSSL, host: String? = "localhost") throws {
        self.client = try LinkEnd(client.makeHandle(host: host, port: 7000))
        self.server = try LinkEnd(server)
    }

    init(_ client: PlainOpenSSL, _ server: TLSServer) throws {
        self.client = try LinkEnd(client)
        self.server = try LinkEnd(server.makeHandle())
    }

    /// Hands bytes over until neither end has any.
    ///
    /// - Parameter change: what happens to them on the way to the client.
    @discardableResult
    func run(changing change: (inout [UInt8]) -> Void = { _ in }) -> Link {
        client.act()
        while true {
            let forServer = client.take()
            if !forServer.isEmpty { server.receive(forServer) }
            var forClient = server.take()
            change(&forClient)
            if !forClient.isEmpty { client.receive(forClient) }
            if forServer.isEmpty && forClient.isEmpty { return self }
        }
    }

    var areBothThrough: Bool { client.isThrough && server.isThrough && client.failure == nil && server.failure == nil }
}

/// One end of a link.
final class LinkEnd {
    let ssl: OpaquePointer
    /// Nil for one that is nothing but OpenSSL.
    let handle: TLSHandle?
    private let pipe: OpaquePointer
    /// Why it has failed, once it has; of a handle only.
    private(set) var failure: SocketError?
    private(set) var isThrough = false
    private(set) var received: [UInt8] = []
    private var hasFailed = false

    convenience init(_ handle: TLSHandle) throws { try self.init(handle.ssl, handle) }

    convenience init(_ end: PlainOpenSSL) throws { try self.init(try end.make(), nil) }

    private init(_ ssl: OpaquePointer, _ handle: TLSHandle?) throws {
        self.ssl = ssl
        self.handle = handle
        pipe = try #require(llt_pipe_attach(ssl), "no memory")
    }

    deinit {
        if handle == nil { SSL_free(ssl) }
    }

    func limit(to version: TLSVersion) { _ = SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, version.rawValue, nil) }

    /// All bytes that it has written and nobody has taken yet.
    func take() -> [UInt8] {
        var count = 0
        let bytes = llt_pipe_written(pipe, &count)
        let taken = Array(UnsafeBufferPointer(start: bytes, count: count))
        llt_pipe_consume(pipe, count)
        return taken
    }

    /// Reads these bytes and acts on them.
    func receive(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { buffer in
            llt_pipe_lend(pipe, buffer.baseAddress, buffer.count)
            act()
            _ = llt_pipe_take_back(pipe)
        }
    }

    /// Goes on as far as it can.
    func act() {
        guard !hasFailed else { return }
        if !isThrough {
            let result = SSL_do_handshake(ssl)
            guard result == 1 else { return note(result) }
            isThrough = true
            do throws(SocketError) { try handle?.checkPins() } catch {
                failure = error
                hasFailed = true
                return
            }
        }
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = SSL_read(ssl, &buffer, Int32(buffer.count))
            guard count > 0 else { return note(count) }
            received += buffer.prefix(Int(count))
        }
    }

    func write(_ text: String) { _ = SSL_write(ssl, text, Int32(text.utf8.count)) }

    /// Whether it was allowed to.
    func negotiateAgain() -> Bool {
        defer { ERR_clear_error() }
        return SSL_renegotiate(ssl) == 1
    }

    private func note(_ result: Int32) {
        guard SSL_get_error(ssl, result) == SSL_ERROR_SSL else { return }
        hasFailed = true
        if let handle { failure = handle.failure(inHandshake: !isThrough) } else { ERR_clear_error() }
    }

    /// What its handle says.
    var info: TLSInfo {
        get throws { try #require(handle).info(peerEnd: .none) }
    }
}

/// A peer that is nothing but OpenSSL and allows whatever it can: old versions, weak keys.
final class PlainOpenSSL {
    private let context: OpaquePointer
    private let isServer: Bool

    init(server identity: TLSIdentity? = nil, newest version: Int32 = TLS1_3_VERSION, ciphers: String = "ALL") throws {
        isServer = identity != nil
        context = try #require(SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()))
        SSL_CTX_set_security_level(context, 0)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        try #require(SSL_CTX_set_cipher_list(context, ciphers) == 1)
        if let identity {
            try #require(SSL_CTX_use_certificate(context, identity.chain[0].pointer) == 1)
            try #require(SSL_CTX_use_PrivateKey(context, identity.key.pointer) == 1)
        }
    }

    deinit { SSL_CTX_free(context) }

    fileprivate func make() throws -> OpaquePointer {
        let ssl = try #require(SSL_new(context))
        if isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
        return ssl
    }
}
