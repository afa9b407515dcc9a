public import LifelineRuntime

/// TLS over another network: everything that is connected and accepted over it is protected, whatever the endpoint's scheme.
///
/// `tls://host:port` and `tcp://host:port` both mean that host and port here, so nothing leaves in plain text by mistake. Unix paths and
/// in-memory names work, too; a client needs ``TLSClient/Settings/serverName`` for them, or a trust that asks for no name.
///
/// A connection is there when the handshake is through and ``TLSClient/Settings/verify`` has returned, all within the limit of `connect`,
/// or the handler's connection within ``TLSServer/Settings/handshakeLimit``.
public struct TLSNetwork: Network {
    /// What the runtime drives. Not for use.
    public let _driver: _NetworkDriver

    /// - Parameters:
    ///   - base: what carries it.
    ///   - client: for connections that this side makes; nil if it makes none.
    ///   - server: for connections that it accepts; nil if it accepts none.
    public init(over base: some Network, client: TLSClient? = nil, server: TLSServer? = nil) {
        _driver = _NetworkDriver(TLSDriver(over: base._driver.base, client: client, server: server))
    }
}
