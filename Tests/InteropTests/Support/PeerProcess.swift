import Foundation
import Glibc
import LifelineRuntime

/// A program that a test talks to. It says facts on its standard output, a line for each.
///
/// One thread per peer reads what it says and waits for its end. (With Foundation's `Process` and the handlers of its pipes the tests
/// crashed in Dispatch's event loop at times.)
///
/// The proof behind `@unchecked`: everything that changes is guarded by `lock`.
final class PeerProcess: @unchecked Sendable {
    private enum Output: Sendable {
        case line(String)
        case ended
    }

    private let output = Mailbox<Output>()
    private let exit = OneShot<Int32>()
    let identifier: pid_t
    private let lock = Lock()
    /// A peer ends when it is closed, and so also when the tests die. Negative once it is closed.
    private var input: Int32
    private var errors: [UInt8] = []
    /// The identifier isn't this process's any more.
    private var isGone = false

    init(_ program: URL, _ arguments: [String]) throws {
        // Sockets, because they are closed in other programs from the first moment on; a pipe can't be, from Swift.
        var pairs: [(mine: Int32, theirs: Int32)] = []
        defer { for pair in pairs { close(pair.theirs) } }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                throw PeerFailure("no socket: errno \(errno)")
            }
            pairs.append((ends[0], ends[1]))
        }
        do {
            identifier = try Self.spawn(program.path, arguments, pairs.map(\.theirs))
        } catch {
            for pair in pairs { close(pair.mine) }
            throw error
        }
        input = pairs[0].mine
        let (output, errors) = (pairs[1].mine, pairs[2].mine)
        Thread.detachNewThread { self.follow(output, errors) }
    }

    /// - Parameter descriptors: its standard input, output and error.
    private static func spawn(_ path: String, _ arguments: [String], _ descriptors: [Int32]) throws(PeerFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (place, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(place))
        }
        // A peer that inherits a socket of some test would keep it open. Numbers that are free by then are passed over.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            if let number = Int32(name), number > 2 { posix_spawn_file_actions_addclose(&actions, number) }
        }
        // It may be told to end by signals, whatever the thread here keeps out.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var identifier: pid_t = 0
        let failure = posix_spawn(&identifier, path, &actions, &attributes, words, environ)
        if failure != 0 { throw PeerFailure("\(path) doesn't start: errno \(failure)") }
        return identifier
    }

    /// Reads until the peer has closed both, then waits for its end. On a thread of its own.
    private func follow(_ outputs: Int32, _ complaints: Int32) {
        var open = [outputs, complaints]
        var unfinished: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !open.isEmpty {
            var polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
            for entry in polled where entry.revents != 0 {
                let count = read(entry.fd, &buffer, buffer.count)
                if count <= 0 {
                    close(entry.fd)
                    open.removeAll { $0 == entry.fd }
                } else if entry.fd == outputs {
                    unfinished += buffer[..<count]
                    putLines(&unfinished)
                } else {
                    // Enough to see what went wrong; the rest is read, so that the peer isn't held up.
                    lock.withLock { if errors.count < 16384 { errors += buffer[..<count] } }
                }
            }
        }
        let status = waitForEnd()
        output.put(.ended)
        exit.succeed(status)
    }

    private func putLines(_ bytes: inout [UInt8]) {
        while let end = bytes.firstIndex(of: 0x0A) {
            output.put(.line(String(decoding: bytes[..<end], as: UTF8.self)))
            bytes.removeSubrange(...end)
        }
    }

    /// The exit code, or the number of the signal and 128. Until `isGone` says so, the identifier isn't given to another process.
    private func waitForEnd() -> Int32 {
        var end = siginfo_t()
        while waitid(P_PID, id_t(identifier), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        var status: Int32 = 0
        lock.withLock {
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            isGone = true
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// What it has written to its standard error, without what a JVM says about variables of its environment.
    var complaints: String {
        lock.withLock { String(decoding: errors, as: UTF8.self) }
            .split(separator: "\n").filter { !$0.hasPrefix("Picked up ") }.joined(separator: "\n")
    }

    /// The next line that it says.
    func line() async throws -> String {
        switch try await output.next() {
        case .line(let line): return line
        case .ended:
            output.put(.ended)
            throw PeerFailure("the peer has ended: \(complaints)")
        }
    }

    /// Puts a line, short enough for the socket's buffer, into its standard input. Harmless if it has ended.
    func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        lock.withLock { if input >= 0 { _ = Glibc.send(input, bytes, bytes.count, Int32(MSG_NOSIGNAL)) } }
    }

    /// Waits for it to end by itself.
    func status(within limit: Duration = outerLimit) async throws -> Int32 {
        try await exit.value(within: limit, on: referee)
    }

    /// Harmless if it has ended.
    func send(_ signal: Int32) {
        lock.withLock { if !isGone { _ = Glibc.kill(identifier, signal) } }
    }

    /// Ends it. Harmless if it has ended.
    func kill() {
        send(SIGKILL)
        lock.withLock {
            if input >= 0 { close(input) }
            input = -1
        }
    }
}

/// A peer isn't there, or didn't do what it should.
struct PeerFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
