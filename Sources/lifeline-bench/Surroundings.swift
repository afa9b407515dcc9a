import CLifelineBench

/// The network that servers and loads have in common, so that it is not what is measured.
enum Surroundings {
    /// A Linux that paces (`bbr`) sets a timer for each segment, on loopback, too. Reno is in every kernel and paces nothing.
    private static let congestionControl = "reno"

    static let asTheyAre = "in the system's network, scheduled as the system does"

    /// Levels them for what the calling thread, the main one, starts from now on; what they are then.
    @MainActor
    static func leveled() -> String {
        if llb_enter_own_network(congestionControl) == 0 { return "in a network of its own with \(congestionControl)" }
        complain("warning: no network of its own with \(congestionControl): the system's congestion control is measured, too")
        return "in the system's network"
    }
}
