import CLifelineSystem

/// Finds jobs that hold the loop up: a handler that blocks its thread blocks every connection on it.
///
/// One reading of a cheap clock per job: the end of one is the start of the next.
struct LongJobWatch {
    private let report: (@Sendable (Duration) -> Void)?
    private var start: Int64 = 0
    private var nextComplaint: Int64 = 0
    private var unreported = 0

    static let limit = Duration.milliseconds(50)
    private static let limitNanoseconds: Int64 = 50_000_000
    private static let complaintInterval: Int64 = 1_000_000_000

    init(report: (@Sendable (Duration) -> Void)?) { self.report = report }

    /// The first job of a turn starts about now.
    mutating func begin() { start = lls_coarse_now() }

    /// A job has ended and the next starts. True if the clock has moved meanwhile.
    mutating func jobEnded() -> Bool {
        let end = lls_coarse_now()
        if end == start { return false }
        if end - start > Self.limitNanoseconds { complain(about: end - start, at: end) }
        start = end
        return true
    }

    private mutating func complain(about nanoseconds: Int64, at time: Int64) {
        report?(.nanoseconds(nanoseconds))
        guard time >= nextComplaint else {
            unreported += 1
            return
        }
        nextComplaint = time + Self.complaintInterval
        let more = unreported > 0 ? ", after \(unreported) more" : ""
        unreported = 0
        Complaint.write(
            "a job held an event loop for \(nanoseconds / 1_000_000) ms\(more); every connection on it had to wait."
                + " Code that blocks belongs off the loop.")
    }
}
