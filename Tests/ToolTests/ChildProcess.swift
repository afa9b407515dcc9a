import Foundation

/// A process, and a thread that reads its standard error and waits for its end.
///
/// Not Foundation's: its children can inherit each other's pipes, and then a pipe doesn't end before the last of them does.
final class ChildProcess: Sendable {
    /// The lines of standard error, as they come.
    let errorLines: AsyncStream<String>
    /// One element: the exit status, or the negative number of the signal that ended it.
    let terminations: AsyncStream<Int32>

    private let life: Life

    /// Runs a program. The descriptors stay the caller's.
    init(_ words: [String], input: Int32, output: Int32) throws {
        let errors = try Self.makePipe()
        let identifier: pid_t
        do {
            defer { close(errors.writing) }
            identifier = try Self.spawn(words, input: input, output: output, errors: errors.writing)
        } catch {
            close(errors.reading)
            throw error
        }
        let life = Life(identifier)
        self.life = life
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let (terminations, termination) = AsyncStream.makeStream(of: Int32.self)
        errorLines = lines
        self.terminations = terminations
        Thread.detachNewThread {
            Self.readLines(of: errors.reading) { line.yield($0) }
            line.finish()
            termination.yield(life.waitForEnd())
            termination.finish()
        }
    }

    func send(_ signal: Int32) { life.send(signal) }

    /// Two ends of a one-way stream that other children don't inherit.
    static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
            // A pipe could get the flag only after it is made, when another thread may have started a child.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Trouble(call: "socketpair", number: errno) }
        #else
            guard pipe(&ends) == 0 else { throw Trouble(call: "pipe", number: errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        return (ends[0], ends[1])
    }

    private static func spawn(_ words: [String], input: Int32, output: Int32, errors: Int32) throws -> pid_t {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in [input, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        // What the tests do about SIGPIPE isn't for children.
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var identifier = pid_t()
        let result = posix_spawn(&identifier, words[0], &actions, &attributes, &arguments, environ)
        guard result == 0 else { throw Trouble(call: "posix_spawn of \(words[0])", number: result) }
        return identifier
    }

    private static func readLines(of descriptor: Int32, _ body: (String) -> Void) {
        defer { close(descriptor) }
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: 0x0A) {
                body(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeSubrange(...end)
            }
        }
        if !rest.isEmpty { body(String(decoding: rest, as: UTF8.self)) }
    }

    struct Trouble: Error {
        let call: String
        let number: Int32
    }
}

/// A process identifier, which is valid until its end was waited for.
///
/// The proof behind `@unchecked`: `isOver` is guarded by `lock`.
private final class Life: @unchecked Sendable {
    private let identifier: pid_t
    private let lock = NSLock()
    private var isOver = false

    init(_ identifier: pid_t) { self.identifier = identifier }

    func send(_ signal: Int32) {
        lock.withLock {
            if !isOver { kill(identifier, signal) }
        }
    }

    func waitForEnd() -> Int32 {
        // Waits without taking the process away, so that the identifier stays its own.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return lock.withLock {
            isOver = true
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : -signal
        }
    }
}
