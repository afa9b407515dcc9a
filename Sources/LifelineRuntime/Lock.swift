#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A mutual exclusion lock of the C library.
///
/// Not `Synchronization.Mutex`: that one gives false positives under ThreadSanitizer on Linux and is slow under contention. The three
/// rules of its use: never two locks at once; never held across a system call, a resume or the release of a frame; what it guards is
/// named beside it.
@usableFromInline
package struct Lock: ~Copyable, @unchecked Sendable {  // The C library's lock is made to be shared; its address never changes.
    #if canImport(Darwin)
        private let address: UnsafeMutablePointer<os_unfair_lock>
    #else
        private let address: UnsafeMutablePointer<pthread_mutex_t>
    #endif

    @usableFromInline
    package init() {
        address = .allocate(capacity: 1)
        #if canImport(Darwin)
            address.initialize(to: os_unfair_lock())
        #else
            address.initialize(to: pthread_mutex_t())
            pthread_mutex_init(address, nil)
        #endif
    }

    deinit {
        #if !canImport(Darwin)
            pthread_mutex_destroy(address)
        #endif
        address.deallocate()
    }

    @usableFromInline
    package func lock() {
        #if canImport(Darwin)
            os_unfair_lock_lock(address)
        #else
            pthread_mutex_lock(address)
        #endif
    }

    @usableFromInline
    package func unlock() {
        #if canImport(Darwin)
            os_unfair_lock_unlock(address)
        #else
            pthread_mutex_unlock(address)
        #endif
    }

    @usableFromInline
    package func tryLock() -> Bool {
        #if canImport(Darwin)
            os_unfair_lock_trylock(address)
        #else
            pthread_mutex_trylock(address) == 0
        #endif
    }

    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}
