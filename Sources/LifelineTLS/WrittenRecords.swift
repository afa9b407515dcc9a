/// What was encrypted and isn't reported as written: a byte counts as written once all of its record has been taken below.
struct WrittenRecords {
    private struct Record {
        let plain: Int
        /// The place behind it, in bytes from the start of the encrypted stream.
        let end: UInt64
    }

    private var waiting: [Record] = []
    /// Encrypted bytes that were taken below.
    private var taken: UInt64 = 0
    /// Plain bytes that are written and that nobody was told of.
    private(set) var unreported = 0
    /// Plain bytes that were encrypted, and that nobody was told of.
    private(set) var ahead = 0

    /// Whether the end of a record still waits.
    var isCut: Bool { !waiting.isEmpty }

    /// A record of `plain` bytes ends where `pending` encrypted bytes wait.
    mutating func add(plain: Int, pending: Int) {
        waiting.append(Record(plain: plain, end: taken &+ UInt64(pending)))
        ahead += plain
    }

    /// So many encrypted bytes more were taken.
    mutating func advance(_ count: Int) {
        taken &+= UInt64(count)
        guard let first = waiting.first, first.end <= taken else { return }
        let through = waiting.firstIndex { $0.end > taken } ?? waiting.count
        for record in waiting[..<through] { unreported += record.plain }
        if through == waiting.count { waiting = [] } else { waiting.removeFirst(through) }
    }

    /// Tells how many bytes are written, of so many that were offered.
    mutating func report(atMost offered: Int) -> Int {
        let count = min(offered, unreported)
        unreported -= count
        ahead -= count
        return count
    }
}
