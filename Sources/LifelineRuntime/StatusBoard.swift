import LifelineCore

/// The status of a link, and those who read its updates.
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`.
final class StatusBoard: @unchecked Sendable {
    private struct Reader { weak var reader: StatusReader? }

    private let lock = Lock()
    private var current = LinkStatus.idle
    private var readers: [Reader] = []
    private var lastRoundTrip: Duration?

    var roundTrip: Duration? {
        get { lock.withLock { lastRoundTrip } }
        set { lock.withLock { lastRoundTrip = newValue } }
    }

    var status: LinkStatus { lock.withLock { current } }

    deinit { for entry in readers { entry.reader?.end() } }

    /// A reader that gets the present status first and then each change.
    func newReader() -> StatusReader {
        lock.withLock {
            let reader = StatusReader(current)
            readers.removeAll { $0.reader == nil }
            readers.append(Reader(reader: reader))
            return reader
        }
    }

    /// On the link's loop only, so that every reader sees the same order.
    func post(_ status: LinkStatus) {
        let told: [StatusReader] = lock.withLock {
            // A wait behind an equal one is another wait.
            if case .waiting = status {} else if status == current { return [] }
            current = status
            return readers.compactMap(\.reader)
        }
        for reader in told { reader.add(status) }
    }
}

/// One reader's updates.
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`.
final class StatusReader: @unchecked Sendable {
    private let lock = Lock()
    private var queue = StatusQueue()
    private var isOver = false
    private var waiters: [OneShot<Void>] = []

    init(_ first: LinkStatus) { queue.add(first) }

    func add(_ status: LinkStatus) {
        wake { queue.add(status) }
    }

    func end() {
        wake { isOver = true }
    }

    private func wake(_ change: () -> Void) {
        lock.lock()
        change()
        let woken = waiters
        waiters = []
        lock.unlock()
        for waiter in woken { waiter.succeed(()) }
    }

    /// The next update; nil when the link has gone or the task was cancelled.
    nonisolated(nonsending) func next() async -> LinkStatus? {
        while true {
            let news = OneShot<Void>()
            let (status, isOver): (LinkStatus?, Bool) = lock.withLock {
                if let status = queue.popFirst() { return (status, false) }
                if !self.isOver { waiters.append(news) }
                return (nil, self.isOver)
            }
            if status != nil || isOver { return status }
            do { try await news.value() } catch {
                lock.withLock { waiters.removeAll { $0 === news } }
                return nil
            }
        }
    }
}
