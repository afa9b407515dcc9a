import Glibc
import Lifeline
import LifelineCore
import LifelineRuntime
import Testing

/// A server of lines in another process, which is killed, suspended and started again at the same address.
final class OutagePeer {
    private(set) var process: PeerProcess
    let endpoint: Endpoint

    /// At a loopback address of this process's own, so that nobody else's connection gets the port while no server has it.
    private static let host: String = {
        let id = getpid()
        return "127.\(1 + id >> 16 & 63).\(id >> 8 & 255).\(id & 255)"
    }()

    init() async throws {
        process = try PeerKind.outages.start(["serve", Self.host, "0"])
        endpoint = .tcp(Self.host, try await process.readyPort())
    }

    /// A new process where the last one was.
    func restart() async throws {
        process.kill()
        process = try PeerKind.outages.start(["serve", Self.host, String(endpoint.port ?? 0)])
        _ = try await process.readyPort()
    }

    /// Ends it by a signal that it can't do anything about.
    func kill9() { process.send(SIGKILL) }

    /// Waits until it has ended by that.
    func expectKilled() async throws {
        #expect(try await process.status() == 128 + SIGKILL)
    }
}

/// Runs an ``OutagePeer`` while `body` runs, and ends it in every case.
func withOutagePeer<R>(body: (OutagePeer) async throws -> R) async throws -> R {
    let peer = try await OutagePeer()
    defer {
        peer.process.recordComplaints()
        peer.process.kill()
    }
    return try await body(peer)
}

extension PeerProcess {
    /// Where it says that it listens.
    func readyPort() async throws -> UInt16 {
        let words = try await line().split(separator: " ")
        guard words.count == 2, words[0] == "READY", let port = UInt16(words[1]) else {
            throw PeerFailure("the peer isn't ready: it says \(words)")
        }
        return port
    }

    /// The next lines that it is told, so many, and on which of its connections; other facts are passed over.
    func heard(_ count: Int) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count {
            let words = try await line().split(separator: " ", maxSplits: 1)
            if words[0] == "LINE" { lines.append(String(words[1])) }
        }
        return lines
    }
}

/// A link to an ``OutagePeer``, registered by "hello", that finds out soon when something is wrong, and tries again soon. Later attempts are
/// further apart, so that a test that is held up doesn't miss a status.
func watchfulLink(
    to endpoint: Endpoint, on network: SystemNetwork = SystemNetwork(), every period: Duration = .milliseconds(200),
    answerWithin limit: Duration = .milliseconds(500), change: (inout SupervisorOptions) -> Void = { _ in }
) -> Supervisor<LineCodec> {
    var options = SupervisorOptions()
    options.connectLimit = .milliseconds(500)
    options.registrationLimit = .seconds(1)
    change(&options)
    return Supervisor(
        endpoint: endpoint, codec: .lines, on: network,
        heartbeat: .pingPong(every: period, answerWithin: limit, ping: "ping") { $0 == "pong" },
        reconnect: .exponential(first: .milliseconds(50), cap: .seconds(2), jitter: .none), options: options
    ) { connection in
        try await connection.send("hello")
        let answer = try await connection.next()
        guard answer?.hasPrefix("welcome ") == true else { throw PeerFailure("no welcome but \(answer ?? "the end")") }
    }
}

/// Runs a link while `body` runs, and stops it in every case.
func running<R>(_ link: Supervisor<LineCodec>, body: (inout StatusReader) async throws -> R) async throws -> R {
    await link.start()
    do {
        var statuses = StatusReader(link)
        let result = try await body(&statuses)
        await link.stop(within: .zero)
        return result
    } catch {
        await link.stop(within: .zero)
        throw error
    }
}

/// Reads the statuses of a link one after the other; the suite's time limit bounds each wait.
struct StatusReader {
    private var updates: AsyncStream<LinkStatus>.Iterator

    init(_ link: Supervisor<LineCodec>) { updates = link.statusUpdates.makeAsyncIterator() }

    mutating func untilConnected() async throws {
        while try await next() != .connected {}
    }

    /// The next reason for being offline.
    mutating func reason() async throws -> OfflineReason {
        while true {
            if let reason = try await next().offlineReason { return reason }
        }
    }

    /// The next reason for being offline that `isWanted` picks; no other status but waiting and connecting may come before it.
    mutating func reason(where isWanted: (OfflineReason) -> Bool) async throws -> OfflineReason {
        while true {
            let status = try await next()
            #expect(status != .connected)
            if let reason = status.offlineReason, isWanted(reason) { return reason }
        }
    }

    private mutating func next() async throws -> LinkStatus {
        guard let status = await updates.next(isolation: #isolation) else { throw PeerFailure("there are no more statuses") }
        return status
    }
}

extension Supervisor where C == LineCodec {
    /// Says `line` and hears it again.
    func expectEcho(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await send(line, timeToLive: outerLimit)
        try await expectAnswer(line, sourceLocation: sourceLocation)
    }

    func expectAnswer(_ line: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await next(within: outerLimit) == line, sourceLocation: sourceLocation)
    }
}

extension OfflineReason {
    var isHeartbeat: Bool { if case .heartbeatMissed = self { true } else { false } }
    var isRefused: Bool { if case .refused = self { true } else { false } }
    var isNetworkGone: Bool { if case .networkGone = self { true } else { false } }

    func isTimeOut(_ phase: SocketError.Phase) -> Bool { if case .timedOut(phase, _) = self { true } else { false } }
}
