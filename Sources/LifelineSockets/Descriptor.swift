import CLifelineSystem
import LifelineCore

/// Makes stream sockets and sets them up.
enum Descriptor {
    /// A stream socket of `family`, not blocking and closed when another program takes over the process.
    static func open(family: Int32) throws(SocketError) -> Int32 {
        let descriptor = lls_socket(family)
        if descriptor < 0 { throw SocketError(errno: -descriptor, "no socket") }
        return descriptor
    }

    /// Applies what both ends have in common. A listening socket hands it on to those that it accepts.
    static func apply(_ options: SocketOptions, to descriptor: Int32, isIP: Bool) throws(SocketError) {
        if let size = options.sendBuffer { try check(lls_set_send_buffer(descriptor, clamped(size)), "the send buffer can't be set") }
        if let size = options.receiveBuffer {
            try check(lls_set_receive_buffer(descriptor, clamped(size)), "the receive buffer can't be set")
        }
        guard isIP else { return }
        if options.noDelay { try check(lls_set_no_delay(descriptor), "no-delay can't be set") }
        if let probes = options.keepAlive {
            let result = lls_set_keep_alive(
                descriptor, wholeSeconds(probes.idle), wholeSeconds(probes.interval), clamped(probes.count))
            try check(result, "keep-alive can't be set")
        }
        if let limit = options.userTimeout {
            let milliseconds = min(max(1, limit.clampedMilliseconds), Int64(UInt32.max))
            try check(lls_set_user_timeout(descriptor, UInt32(milliseconds)), "the user time-out can't be set")
        }
        if let interface = options.interface {
            try check(lls_set_interface(descriptor, interface), "the interface “\(interface)” can't be used")
        }
    }

    static func check(_ result: Int32, _ doing: @autoclosure () -> String) throws(SocketError) {
        if result < 0 { throw SocketError(errno: -result, doing()) }
    }

    private static func clamped(_ value: Int) -> Int32 { Int32(clamping: max(1, value)) }

    private static func wholeSeconds(_ duration: Duration) -> Int32 { clamped(Int(duration.components.seconds)) }
}

extension Duration {
    fileprivate var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        if seconds > 1 << 40 { return .max }
        if seconds < 0 { return 0 }
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
