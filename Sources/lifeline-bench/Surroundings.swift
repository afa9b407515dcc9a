import CLifelineBench

/// What all servers and loads have in common, so that it is not what is measured.
struct Surroundings: CustomStringConvertible {
    private let hasOwnNetwork: Bool
    private let isBatch: Bool

    /// A Linux that paces (`bbr`) sets a timer for each segment, on loopback, too. Reno is in every kernel and paces nothing.
    private static let congestionControl = "reno"

    /// Those that the system has.
    static let asTheyAre = Surroundings(hasOwnNetwork: false, isBatch: false)

    private init(hasOwnNetwork: Bool, isBatch: Bool) {
        self.hasOwnNetwork = hasOwnNetwork
        self.isBatch = isBatch
    }

    /// Levels them for what the calling thread, the main one, starts from now on.
    @MainActor
    static func leveled() -> Surroundings {
        let hasOwnNetwork = llb_enter_own_network(congestionControl) == 0
        if !hasOwnNetwork {
            complain("warning: no network of its own with \(congestionControl): the system's congestion control is measured, too")
        }
        let isBatch = llb_schedule_in_batches() == 0
        if !isBatch { complain("warning: a scheduling policy was given: it is measured, too") }
        return Surroundings(hasOwnNetwork: hasOwnNetwork, isBatch: isBatch)
    }

    var description: String {
        switch (hasOwnNetwork, isBatch) {
        case (true, true): "in a network of its own with \(Self.congestionControl), nobody is preempted by who wakes up"
        case (true, false): "in a network of its own with \(Self.congestionControl)"
        case (false, true): "nobody is preempted by who wakes up"
        case (false, false): "in the system's network, scheduled as the system does"
        }
    }
}
