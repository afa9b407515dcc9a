/// Why a simulation could not be run to its end. What the body itself throws is passed on as it is.
public struct SimulationError: Error, Sendable {
    /// What kind of failure it is.
    public enum Kind: String, Sendable, Hashable {
        /// Nothing is queued, no timer is armed, and the body isn't done: it waits for something that can't come.
        case stuck
        /// A job left the virtual loops for a real queue, or arrived from a thread that isn't theirs.
        case foreignJob
        /// The virtual clock would have passed the limit.
        case timeLimit
        /// Turn followed turn without time moving.
        case livelock
    }

    /// The kind of failure.
    public let kind: Kind
    /// What happened, in words.
    public let message: String
    /// The seed that the simulation ran with.
    public let seed: UInt64
    /// How long the simulation had run, in virtual time.
    public let time: Duration
    /// Where `simulate` was called, as `Module/File.swift:line`.
    public let place: String
}

extension SimulationError: CustomStringConvertible {
    /// All of it, with the seed that repeats it.
    public var description: String { "\(message) (t=\(time), seed \(seed), simulation at \(place))" }
}
