/// How the requests of a connection stand.
public struct RequestCounts: Sendable, Hashable {
    /// Requests that wait for their answers.
    public let due: Int
    /// Requests that were cancelled or had their time, whose answers may still come. (Those whose answers have ids are not all kept.)
    public let givenUp: Int
    /// Answers that their requesters got.
    public let answered: UInt64
    /// Answers to requests that had been given up. They were dropped.
    public let late: UInt64
    /// Answers to nobody: repeated ones, and such with an id that no request has. They were dropped.
    public let unknown: UInt64

    package init(due: Int, givenUp: Int, answered: UInt64, late: UInt64, unknown: UInt64) {
        self.due = due
        self.givenUp = givenUp
        self.answered = answered
        self.late = late
        self.unknown = unknown
    }
}
