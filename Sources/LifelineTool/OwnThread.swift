#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The executor of an actor whose calls block: it runs them on a thread of its own, so that no event loop and no thread of the default
/// pool waits with it. The thread lives as long as the process.
///
/// The proof behind `@unchecked`: `jobs` is guarded by `mutex`, and the other properties never change.
final class OwnThread: SerialExecutor, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let isFilled: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [UnownedJob] = []

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        isFilled = .allocate(capacity: 1)
        isFilled.initialize(to: pthread_cond_t())
        pthread_cond_init(isFilled, nil)
        start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(isFilled)
    }

    private func start() {
        let context = Unmanaged.passRetained(self).toOpaque()
        #if canImport(Darwin)
            var thread: pthread_t?
            let result = pthread_create(&thread, nil, { threadBody($0) }, context)
            if let thread { pthread_detach(thread) }
        #else
            var thread = pthread_t()
            let result = pthread_create(&thread, nil, { $0.map { threadBody($0) } }, context)
            if result == 0 { pthread_detach(thread) }
        #endif
        if result != 0 { fatalError("no thread for a call that blocks: error \(result)") }
    }

    fileprivate func runForever() -> Never {
        while true { next().runSynchronously(on: asUnownedSerialExecutor()) }
    }

    private func next() -> UnownedJob {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty { pthread_cond_wait(isFilled, mutex) }
        return jobs.removeFirst()
    }
}

private func threadBody(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    Unmanaged<OwnThread>.fromOpaque(context).takeRetainedValue().runForever()
}
