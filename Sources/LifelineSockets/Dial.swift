import LifelineCore
import LifelineRuntime

/// Tries addresses one after the other until one connects, each with its fair share of the time that is left.
///
/// All of it happens on the loop, so that a busy pool of threads costs no address its share. The proof behind `@unchecked`: everything
/// that changes is touched on `loop` only; `result` has its own lock.
final class Dial: @unchecked Sendable {
    private let endpoint: Endpoint
    private let addresses: [SocketAddress]
    private let loop: PollingEventLoop
    private let options: SocketOptions
    private let limit: Duration
    private let deadline: LoopTime
    private let result = OneShot<any Transport>()

    private var failures: [SocketError] = []
    private var attempt: ConnectAttempt?
    private var isAborted = false

    /// - Parameters:
    ///   - limit: what the caller asked for, for messages.
    ///   - deadline: when it ends.
    init(
        _ endpoint: Endpoint, at addresses: [SocketAddress], on loop: PollingEventLoop, options: SocketOptions, within limit: Duration,
        until deadline: LoopTime
    ) {
        self.endpoint = endpoint
        self.addresses = addresses
        self.loop = loop
        self.options = options
        self.limit = limit
        self.deadline = deadline
    }

    /// The connection. When it throws, no descriptor is left.
    func connect() async throws -> any Transport {
        loop.run { self.tryNext() }
        do {
            return try await result.value()
        } catch {
            await Reply.from(loop) { self.abort() }
            throw error
        }
    }

    private func tryNext() {
        // Cancelled before the loop came to it.
        if isAborted { return }
        let place = failures.count
        guard place < addresses.count else {
            result.fail(summary)
            return
        }
        let attempt = ConnectAttempt(addresses[place], on: loop, options: options, within: share(of: addresses.count - place)) { outcome in
            self.attempt = nil
            switch outcome {
            case .success(let transport):
                // Cancelled in the same moment: nobody will take it.
                if !self.result.succeed(transport) { transport.close(reset: false) }
            case .failure(let error):
                self.failures.append(error)
                self.tryNext()
            }
        }
        self.attempt = attempt
        attempt.begin()
    }

    private func abort() {
        isAborted = true
        attempt?.abort()
        attempt = nil
    }

    /// In whole milliseconds where they are enough, for the sake of messages.
    private func share(of count: Int) -> Duration {
        if deadline == .never || (count == 1 && failures.isEmpty) { return limit }
        let share = max(.zero, loop.now.duration(to: deadline)) / count
        let nanoseconds = share.clampedNanoseconds
        return nanoseconds < 10_000_000 ? share : .milliseconds(nanoseconds / 1_000_000)
    }

    private var summary: SocketError {
        guard failures.count > 1, let last = failures.last else {
            return failures.first ?? SocketError(.unknownHost, "\(endpoint) has no address")
        }
        let list = failures.map(\.message).joined(separator: "; ")
        // However many addresses there are, it was the caller's limit that ended it.
        if failures.allSatisfy({ $0.code == .timedOut && $0.phase == .connect }) {
            return SocketError(timedOut: .connect, after: limit, detail: "\(endpoint): \(list)")
        }
        return SocketError(.allAddressesFailed, "connecting to \(endpoint): \(list)", errno: last.errno, cause: last)
    }
}
