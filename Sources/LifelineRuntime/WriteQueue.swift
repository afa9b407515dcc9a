import LifelineCore

/// What was taken from an outbox and isn't written yet. One run of bytes, the usual case, takes no array.
package struct WriteQueue {
    private(set) var first = Bytes()
    private var rest: ArraySlice<Bytes> = []

    package init() {}

    var isEmpty: Bool { first.isEmpty }
    var isOneRun: Bool { rest.isEmpty }

    /// All runs.
    var regions: ArraySlice<Bytes> { ([first] + rest)[...] }

    mutating func append(_ output: consuming ByteOutput) {
        if let run = output.takeRun() {
            if isEmpty { first = run } else { rest.append(run) }
        } else {
            rest += output.takeRegions()
            if isEmpty { first = rest.popFirst() ?? Bytes() }
        }
    }

    /// Drops what was written, run by run through `drop`.
    mutating func advance(_ written: Int, _ drop: (inout Bytes) -> Void) {
        var left = written
        while left > 0, left >= first.count, !isEmpty {
            left -= first.count
            var run = rest.popFirst() ?? Bytes()
            swap(&run, &first)
            drop(&run)
        }
        if left > 0, !isEmpty { first = first.slice(left..<first.count) }
    }
}
