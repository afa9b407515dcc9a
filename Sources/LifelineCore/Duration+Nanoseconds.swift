extension Duration {
    /// In nanoseconds, held within what 64 bits take.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// This and `other`, held within what 64 bits of nanoseconds take: moments and delays of any size can be added.
    package func addingClamped(_ other: Duration) -> Duration {
        let (left, right) = (clampedNanoseconds, other.clampedNanoseconds)
        let (sum, overflow) = left.addingReportingOverflow(right)
        return .nanoseconds(overflow ? (right < 0 ? .min : .max) : sum)
    }
}
