import LifelineCore

/// What was taken from an outbox and isn't written yet. One run of bytes, the usual case, takes no array.
package struct WriteQueue {
    private(set) var first = Bytes()
    /// Those behind it, from `next` on; what stands before is empty.
    private var rest: [Bytes] = []
    private var next = 0

    package init() {}

    var isEmpty: Bool { first.isEmpty }
    var isOneRun: Bool { rest.isEmpty }

    /// All runs.
    var regions: ArraySlice<Bytes> { ([first] + rest[next...])[...] }

    mutating func append(_ output: consuming ByteOutput) {
        if let run = output.takeRun() {
            if isEmpty { first = run } else { rest.append(run) }
        } else {
            rest += output.takeRegions()
            if isEmpty { first = takeNext() }
        }
    }

    /// Drops what was written, run by run through `drop`, which may be the last to refer to it.
    mutating func advance(_ written: Int, _ drop: (inout Bytes) -> Void) {
        var left = written
        while left > 0, left >= first.count, !isEmpty {
            left -= first.count
            var run = takeNext()
            swap(&run, &first)
            drop(&run)
        }
        if left > 0, !isEmpty { first = first.slice(left..<first.count) }
    }

    /// Nothing of it stays here: a run pins its storage, however large that is.
    private mutating func takeNext() -> Bytes {
        var run = Bytes()
        guard next < rest.count else { return run }
        swap(&run, &rest[next])
        next += 1
        if next == rest.count {
            rest = []
            next = 0
        } else if next >= 32, next >= rest.count / 2 {
            rest.removeFirst(next)
            next = 0
        }
        return run
    }
}
