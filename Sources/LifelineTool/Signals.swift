#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Set once, before the handler that reads it is installed; hence no race behind `nonisolated(unsafe)`.
private nonisolated(unsafe) var interruptions: Int32 = -1
/// As `interruptions`.
private nonisolated(unsafe) var hangups: Int32 = -1

/// What the process does about signals. A handler may call next to nothing, so these write a byte or a line and no more.
enum Signals {
    /// From now on the first SIGINT or SIGTERM can be read from the descriptor that is returned. The second ends the process.
    static func catchInterrupts() throws -> Int32 {
        let ends = try System.makePipe()
        interruptions = ends.writing
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in
                let saved = errno
                var byte: UInt8 = 0
                _ = write(interruptions, &byte, 1)
                signal(SIGINT, SIG_DFL)
                signal(SIGTERM, SIG_DFL)
                errno = saved
            }
        }
        return ends.reading
    }

    /// From now on each SIGHUP can be read from the descriptor that is returned.
    static func catchHangups() throws -> Int32 {
        let ends = try System.makePipe()
        hangups = ends.writing
        signal(SIGHUP) { _ in
            let saved = errno
            var byte: UInt8 = 0
            _ = write(hangups, &byte, 1)
            errno = saved
        }
        return ends.reading
    }

    /// Ends the process with status 1 after so many seconds, whatever it is doing then.
    static func limitLife(toSeconds seconds: UInt32) {
        signal(SIGALRM) { _ in
            let text: StaticString = "lifeline: the time for all of it is up\n"
            _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
            _exit(1)
        }
        alarm(seconds)
    }
}
