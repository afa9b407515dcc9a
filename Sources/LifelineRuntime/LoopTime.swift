import LifelineCore

/// A moment on an event loop's clock, in nanoseconds since an origin of its own. It never follows the wall clock.
package struct LoopTime: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static let zero = LoopTime(nanoseconds: 0)
    package static let never = LoopTime(nanoseconds: .max)

    package static func < (left: LoopTime, right: LoopTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// This moment and `duration`; a sum that can't be held is ``never``.
    package func advanced(by duration: Duration) -> LoopTime {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return overflow ? .never : LoopTime(nanoseconds: sum)
    }

    /// Since the clock's origin, as state machines reckon.
    package var sinceOrigin: Duration { .nanoseconds(nanoseconds) }

    /// The first moment that is at least so long after the clock's origin: a timer armed for it finds its time come.
    package init(sinceOrigin: Duration) {
        let nanoseconds = sinceOrigin.clampedNanoseconds
        self.init(nanoseconds: nanoseconds < .max && .nanoseconds(nanoseconds) < sinceOrigin ? nanoseconds + 1 : nanoseconds)
    }

    package func duration(to later: LoopTime) -> Duration {
        .nanoseconds(later.nanoseconds.subtractingReportingOverflow(nanoseconds).partialValue)
    }
}
