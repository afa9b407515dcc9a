import Lifeline

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The few calls of the C library that the tool makes itself.
enum System {
    static let standardInput: Int32 = 0
    static let standardOutput: Int32 = 1
    static let standardError: Int32 = 2

    /// Waits until `descriptor` has bytes, has ended or has failed: true; or until `other` has: false.
    static func waits(for descriptor: Int32, unless other: Int32) -> Bool {
        var polled = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0)]
        while true {
            let count = poll(&polled, nfds_t(polled.count), -1)
            if count < 0, errno != EINTR { return true }
            if count > 0 { return polled[1].revents == 0 }
        }
    }

    /// Opens a file for reading.
    static func open(_ path: String) throws -> Int32 {
        while true {
            #if canImport(Darwin)
                let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC)
            #elseif canImport(Musl)
                let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC)
            #else
                let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            #endif
            if descriptor >= 0 { return descriptor }
            if errno != EINTR { throw failure("opening \(path)") }
        }
    }

    /// The first line of a file, without its end, and no more than 4096 bytes of it.
    static func firstLine(of path: String) throws -> [UInt8] {
        let descriptor = try open(path)
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while text.count < buffer.count, !text.contains(0x0A) {
            guard let count = try buffer.withUnsafeMutableBytes({ try read(descriptor, into: $0) }) else {
                _ = waits(for: descriptor, unless: -1)
                continue
            }
            if count == 0 { break }
            text += buffer[..<count]
        }
        return Array(text.prefix(buffer.count).prefix { $0 != 0x0A && $0 != 0x0D })
    }

    /// What `read` gives: bytes, none at the end, nil if there is nothing just now.
    static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        while true {
            #if canImport(Darwin)
                let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
                let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
            #else
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw failure("reading")
            }
        }
    }

    /// Writes all of `bytes`, waiting as long as it takes. Ends the process without a word if nobody reads them any more.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Darwin)
                let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
            #elseif canImport(Musl)
                let count = Musl.write(descriptor, rest.baseAddress, rest.count)
            #else
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            #endif
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&polled, 1, -1)
            case EPIPE: exit(0)
            default: throw failure("writing")
            }
        }
    }

    /// Two ends of a pipe.
    static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure("making a pipe") }
        return (ends[0], ends[1])
    }

    /// Writing where nobody reads is an error, not the end of the process.
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Whether colours are welcome on standard output.
    static var wantsColours: Bool {
        guard isatty(standardOutput) == 1, getenv("NO_COLOR") == nil else { return false }
        return getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
    }

    /// The local time, such as `12:04:05`.
    static var timeOfDay: String {
        var now = time(nil)
        var parts = tm()
        localtime_r(&now, &parts)
        return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { String(100 + $0).dropFirst() }.joined(separator: ":")
    }

    static func exit(_ status: Int32) -> Never {
        #if canImport(Darwin)
            Darwin.exit(status)
        #elseif canImport(Musl)
            Musl.exit(status)
        #else
            Glibc.exit(status)
        #endif
    }

    private static func failure(_ doing: String) -> SocketError {
        let number = errno
        return SocketError(.system, "\(doing) failed: \(strerror(number).map { String(cString: $0) } ?? "")", errno: number)
    }
}
