/// Calls and names that belong together, with the reason why some floors do without them.
struct BanList: Sendable {
    let reason: String
    let bans: [Ban]
}

extension BanList {
    static let suspension = BanList(
        reason: "values neither wait nor run",
        bans: ["await", "async", "Task", "withCheckedContinuation", "withUnsafeContinuation"])

    static let clocks = BanList(
        reason: "time comes from the event loop, or as the argument `now`",
        bans: [
            "ContinuousClock", "SuspendingClock", "clock_gettime*", "gettimeofday", "mach_absolute_time",
            "mach_continuous_time", "DispatchTime", "DispatchWallTime", "CFAbsoluteTimeGetCurrent", "Date.now", .free("Date("),
        ])

    static let randomness = BanList(
        reason: "random choices come from a seeded generator that is passed in",
        bans: [
            "SystemRandomNumberGenerator", "arc4random*", "getrandom", "getentropy", "drand48", .free("rand("), .free("random("),
            Ban(".random(", unlessLabel: "using"), Ban(".randomElement(", unlessLabel: "using"),
            Ban(".shuffled(", unlessLabel: "using"), Ban(".shuffle(", unlessLabel: "using"),
        ])

    static let locks = BanList(
        reason: "values have no lock; the actor or lock around them has",
        bans: [
            "Mutex", "Atomic", "NSLock", "NSRecursiveLock", "OSAllocatedUnfairLock", "os_unfair_lock*", "pthread_*",
            "DispatchQueue", "DispatchSemaphore",
        ])

    static let inputOutput = BanList(
        reason: "values do no input or output",
        bans: [
            .free("print("), .free("debugPrint("), .free("dump("), .free("readLine("), "FileHandle", "FileManager", "fopen",
            "fputs", "fwrite", "fread", "getenv",
        ])

    /// Names that methods of the house have too (`bind`, `connect`, `close`) count only when the C library's name stands before
    /// them. A plain `connect(` in such a file can't reach the kernel: the C library isn't imported there.
    static let systemCalls = BanList(
        reason: "only LifelineSockets talks to the kernel",
        bans: [
            "epoll_*", "eventfd*", "timerfd_*", "signalfd", "kqueue", "kevent*", "io_uring_*", "recvmsg", "sendmsg", "recvmmsg",
            "sendmmsg", "recvfrom", "sendto", "readv", "writev", "accept4", "socketpair", "pipe2", "setsockopt", "getsockopt",
            "getsockname", "getpeername", "getaddrinfo", "freeaddrinfo", "getnameinfo", "sockaddr_*", "fcntl", "ioctl",
        ]
            + ["Glibc", "Darwin", "Musl"].flatMap { library in
                [
                    "socket", "bind", "listen", "accept", "connect", "send", "recv", "read", "write", "open", "close", "shutdown",
                    "poll", "select", "pipe",
                ].map { Ban("\(library).\($0)") }
            })

    static let blocking = BanList(
        reason: "nothing here puts a thread to sleep",
        bans: ["usleep", "nanosleep", "clock_nanosleep", .free("sleep(")])

    static let sleeping = BanList(
        reason: "waiting is a timer on the event loop, or a fact that a test waits for",
        bans: ["Task.sleep", "Thread.sleep", "asyncAfter"])

    static let realSleeps = BanList(
        reason: "tests sleep on the simulation's clock or not at all",
        bans: ["ContinuousClock().sleep", "SuspendingClock().sleep", ".continuous.sleep", ".suspending.sleep"])

    static let detaching = BanList(
        reason: "a detached task leaves its event loop, its cancellation and its test",
        bans: ["Task.detached", "Task.immediateDetached"])

    static let unsafeFlags = BanList(
        reason: "a package with unsafe flags can't be depended on",
        bans: ["unsafeFlags"])
}
