/// What a link is doing.
///
/// ```
///            start            registered
///   idle ────────▶ connecting ──────────▶ connected
///                   ▲      │ failed           │ lost
///         time over │      ▼                  │
///                   └── waiting ◀─────────────┘          stopped ── start ──▶ connecting
///                          │                                ▲
///                          └── stop, or no further attempt ─┘  (from everywhere)
/// ```
public enum LinkStatus: Sendable, Equatable {
    /// Not started yet.
    case idle
    /// Dialling or registering, for the nth time since the start or since the last connection that was stable; the first is 1.
    case connecting(attempt: Int)
    /// Registered: messages flow.
    case connected
    /// Offline, with the next attempt in `for`, counted from when this status began. Where links share a `RetryBudget`, another wait may
    /// follow: the one for the attempt's turn.
    case waiting(for: Duration, why: OfflineReason)
    /// Offline, with no further attempt until it is started again.
    case stopped(why: OfflineReason)
    /// In a sequence of updates only: so many earlier ones weren't read in time and were left out here.
    case skipped(Int)

    /// Whether messages flow.
    public var isConnected: Bool { self == .connected }

    /// Why it is offline, while it is.
    public var offlineReason: OfflineReason? {
        switch self {
        case .waiting(_, let why), .stopped(let why): why
        case .idle, .connecting, .connected, .skipped: nil
        }
    }
}

extension LinkStatus: CustomStringConvertible {
    /// Such as "connecting (2)" or "waiting 4.0 seconds: closed by the server".
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting(let attempt): "connecting (\(attempt))"
        case .connected: "connected"
        case .waiting(let delay, let why): "waiting \(delay): \(why)"
        case .stopped(let why): "stopped: \(why)"
        case .skipped(let count): "\(count) updates skipped"
        }
    }
}

/// The updates that one reader hasn't read: the newest 64, and how many older ones were left out.
package struct StatusQueue: Sendable {
    package static let limit = 64
    private var unread: [LinkStatus] = []
    private var head = 0
    private var skipped = 0

    package init() {}

    package var isEmpty: Bool { skipped == 0 && head == unread.count }

    package mutating func add(_ status: LinkStatus) {
        if unread.count - head == Self.limit {
            head += 1
            skipped += 1
        }
        if head >= Self.limit {
            unread.removeFirst(head)
            head = 0
        }
        unread.append(status)
    }

    package mutating func popFirst() -> LinkStatus? {
        if skipped > 0 {
            defer { skipped = 0 }
            return .skipped(skipped)
        }
        guard head < unread.count else { return nil }
        defer { head += 1 }
        return unread[head]
    }
}
