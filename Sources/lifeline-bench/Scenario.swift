/// What a server is put through.
struct Scenario: Sendable {
    enum Work: Sendable {
        /// Frames over lasting connections.
        case frames(connections: UInt32, payload: UInt32, inFlight: UInt32)
        /// Connections that live for one frame.
        case churn(atOnce: UInt32)
        /// Connections on which nothing happens.
        case idle(connections: UInt32)
    }

    let name: String
    let work: Work

    static let all = [
        frames(1, 64, 1),
        frames(50, 64, 1),
        frames(50, 64, 64),
        frames(50, 1024, 16),
        frames(4, 65536, 4),
        Scenario(name: "churn", work: .churn(atOnce: 8)),
        Scenario(name: "idle", work: .idle(connections: 5000)),
    ]

    var isIdle: Bool {
        if case .idle = work { true } else { false }
    }

    /// What the name means.
    var explanation: String {
        switch work {
        case .frames(let connections, let payload, let inFlight):
            "connections: \(connections), payload: \(payload) B, frames in flight on each: \(inFlight)"
        case .churn(let atOnce):
            "connect, echo 64 B, close; connections at once: \(atOnce)"
        case .idle(let connections):
            "bytes of user memory per connection, connections: \(connections)"
        }
    }

    private static func frames(_ connections: UInt32, _ payload: UInt32, _ inFlight: UInt32) -> Scenario {
        Scenario(
            name: "\(connections)x\(payload)x\(inFlight)",
            work: .frames(connections: connections, payload: payload, inFlight: inFlight))
    }
}
