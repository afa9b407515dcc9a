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

    /// As a time since the clock's origin, for values that know no clock.
    package var sinceOrigin: Duration { .nanoseconds(nanoseconds) }

    package init(sinceOrigin time: Duration) { nanoseconds = time.clampedNanoseconds }

    package func duration(to later: LoopTime) -> Duration {
        .nanoseconds(later.nanoseconds.subtractingReportingOverflow(nanoseconds).partialValue)
    }
}

extension Duration {
    /// In nanoseconds, held within what 64 bits take.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}
