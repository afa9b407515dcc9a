internal import LifelineCore
internal import LifelineRuntime

/// The clock of a simulation: it stands while anything can run, and then jumps to the next moment that someone waits for.
public struct VirtualClock: Clock {
    /// A moment, as the time since the simulation's start.
    public struct Instant: InstantProtocol {
        /// Since the simulation's start.
        public var offset: Duration

        /// The moment `offset` after the start.
        public init(offset: Duration) { self.offset = offset }

        /// The moment `duration` later.
        public func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }

        /// The time from here to `other`.
        public func duration(to other: Self) -> Duration { other.offset - offset }

        /// Whether `left` comes first.
        public static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    let scheduler: VirtualScheduler
    let loops: [VirtualEventLoop]

    /// The present.
    public var now: Instant { Instant(offset: scheduler.now.sinceStart) }

    /// Time passes in nanoseconds.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Returns at `deadline`; real time doesn't pass.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled, or when the simulation ends before.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let time = LoopTime(nanoseconds: deadline.offset.clampedNanoseconds)
        try await scheduler.sleep(until: time, on: loops[scheduler.currentIndex ?? 0])
    }
}
