internal import CLifelineTesting
internal import LifelineCore

/// What a simulated kernel reports, with the system's error numbers.
enum SimulatedErrors {
    static var reset: SocketError {
        SocketError(.reset, "the peer has broken the connection off", errno: Int32(LIFELINE_CONNECTION_RESET))
    }
    static var closed: SocketError { SocketError(.closed, "the connection has been closed here") }
    static var killed: SocketError { SocketError(.closed, "the process that held the connection was killed") }

    static func refused(_ endpoint: Endpoint) -> SocketError {
        SocketError(.refused, "nobody listens at \(endpoint)", errno: Int32(LIFELINE_CONNECTION_REFUSED))
    }

    static func timedOut(_ endpoint: Endpoint, after limit: Duration) -> SocketError {
        SocketError(.timedOut, "\(endpoint) has acknowledged nothing for \(limit)", errno: Int32(LIFELINE_TIMED_OUT))
    }

    static func hostIsDown(_ name: String) -> SocketError {
        SocketError(.unreachable, "the host “\(name)” is down", errno: Int32(LIFELINE_NETWORK_DOWN))
    }

    static func addressInUse(_ endpoint: Endpoint) -> SocketError {
        SocketError(.addressInUse, "somebody listens at \(endpoint) already", errno: Int32(LIFELINE_ADDRESS_IN_USE))
    }

    static func notHere(_ endpoint: Endpoint) -> SocketError {
        SocketError(.unreachable, "\(endpoint) isn't an address of this host", errno: Int32(LIFELINE_ADDRESS_NOT_AVAILABLE))
    }
}
