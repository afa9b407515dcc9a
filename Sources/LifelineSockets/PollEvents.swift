import CLifelineSystem

/// What a poller found out about a descriptor.
package struct PollEvents: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes, or a connection to accept.
    package static let readable = PollEvents(rawValue: UInt32(LLS_READABLE))
    package static let writable = PollEvents(rawValue: UInt32(LLS_WRITABLE))
    /// The peer's end, both ends, or an error: a short read may be the last before it.
    package static let hangUp = PollEvents(rawValue: UInt32(LLS_HANG_UP))
    /// Urgent data: reads stop short of it with bytes left behind.
    package static let urgent = PollEvents(rawValue: UInt32(LLS_URGENT))
}

/// What is watched: called on the loop, in its event phase.
package protocol PollTarget: AnyObject {
    func ready(_ events: PollEvents)
}

/// What to watch for.
enum PollInterest {
    /// Everything that a stream can report.
    case stream
    /// Connections to accept.
    case accepts
}
