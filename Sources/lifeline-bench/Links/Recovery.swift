import CLifelineBench
import Glibc
import Lifeline

/// Takes a server away from a link, gives it back, and tells how long each took to be noticed.
struct Recovery {
    private enum Outage: String, CaseIterable {
        case kill = "kill -9"
        case suspension = "SIGSTOP"
        case firewall = "firewall drops"
    }

    private let options: Options
    private let nft: String?
    /// Of this process's own, if it has a network of its own.
    private var port: UInt16 = 0

    private static let period = Duration.milliseconds(200)
    private static let limit = Duration.milliseconds(300)
    private static let delay = Duration.milliseconds(50)
    private static let connectLimit = Duration.milliseconds(300)

    /// While the process has one thread still.
    init(_ options: Options) {
        self.options = options
        nft = ["/usr/sbin/nft", "/sbin/nft", "/usr/bin/nft"].first { access($0, X_OK) == 0 }
        if nft == nil {
            complain("nft isn't installed: no firewall")
        } else if llb_enter_own_network(nil) == 0 {
            port = 7000
        } else {
            complain("this process may not have a network of its own: no firewall")
        }
    }

    @MainActor
    mutating func run() async throws -> FigureTable {
        var table = FigureTable(
            title: "a ping every 200 ms, answered within 300 ms, else attempts every 50 ms for 300 ms; \(5 * options.rounds) outages each",
            columns: [
                .init("known, ms", "known", digits: 1), .init("longest", "longestKnown", digits: 1),
                .init("back, ms", "back", digits: 1), .init("longest", "longestBack", digits: 1),
            ])
        for outage in Outage.allCases where outage != .firewall || port != 0 {
            var times: [(known: Double, back: Double)] = []
            for _ in 0..<5 * options.rounds { times.append(try await measure(outage)) }
            let (known, back) = (times.map(\.known), times.map(\.back))
            table.rows.append((outage.rawValue, [FigureTable.median(known), known.max(), FigureTable.median(back), back.max()]))
        }
        return table
    }

    @MainActor
    private mutating func measure(_ outage: Outage) async throws -> (known: Double, back: Double) {
        var server = try peer()
        let link = self.link(to: server.port)
        await link.start()
        var statuses = link.statusUpdates.makeAsyncIterator()
        while await statuses.next(isolation: MainActor.shared) != .connected {}
        try await expectEcho(link)

        let lost = ContinuousClock.now
        switch outage {
        case .kill: Glibc.kill(server.child.process, SIGKILL)
        case .suspension: Glibc.kill(server.child.process, SIGSTOP)
        case .firewall:
            try nft("add table ip wall ; add chain ip wall in { type filter hook input priority 0 ; } ; add rule ip wall in drop")
        }
        while await statuses.next(isolation: MainActor.shared)?.offlineReason == nil {}
        let known = ContinuousClock.now

        switch outage {
        case .kill: server = try peer()
        case .suspension: Glibc.kill(server.child.process, SIGCONT)
        case .firewall: try nft("delete table ip wall")
        }
        let back = ContinuousClock.now
        try await expectEcho(link)
        let echoed = ContinuousClock.now
        await link.stop(within: .zero)
        return ((known - lost) / .milliseconds(1), (echoed - back) / .milliseconds(1))
    }

    private struct Peer: ~Copyable {
        let child: Child
        let port: UInt16
    }

    /// Starts a server, where the last one was.
    private mutating func peer() throws -> Peer {
        let child = try Child([Role.peer, "\(port)"], core: -1, limit: 60)
        guard let port = UInt16(try child.line(within: 10)) else { throw Trouble("the server has no port") }
        self.port = port
        return Peer(child: child, port: port)
    }

    private func link(to port: UInt16) -> Supervisor<LineCodec> {
        var options = SupervisorOptions()
        options.connectLimit = Self.connectLimit
        options.registrationLimit = Self.connectLimit
        return Supervisor(
            endpoint: .tcp("127.0.0.1", port), codec: .lines, on: SystemNetwork(),
            heartbeat: .pingPong(every: Self.period, answerWithin: Self.limit, ping: "ping") { $0 == "pong" },
            reconnect: .every(Self.delay), options: options
        ) { connection in
            try await connection.send("hello")
            guard try await connection.next() == "hello" else { throw Trouble("no hello") }
        }
    }

    private func expectEcho(_ link: Supervisor<LineCodec>) async throws {
        try await link.send("line")
        guard try await link.next(within: .seconds(10)) == "line" else { throw Trouble("another line came back") }
    }

    private func nft(_ script: String) throws {
        guard let nft else { return }
        let arguments: [String] = [nft, script]
        var words = arguments.map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var process: pid_t = 0
        guard posix_spawn(&process, nft, nil, nil, words, environ) == 0 else { throw Trouble("nft doesn't start") }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw Trouble("nft \(script) has failed") }
    }
}

extension Role {
    static let peer = "as-peer"

    /// Echoes lines and answers pings at a port, or a free one if it is 0, until it is ended.
    static func bePeer(_ arguments: [String]) async throws {
        guard arguments.count == 1, let port = UInt16(arguments[0]) else { throw Trouble("\(peer) PORT") }
        let server = try await Server.bind(
            .tcp("127.0.0.1", port), codec: .lines, heartbeat: .answering({ $0 == "ping" }, with: "pong"))
        say("\(server.endpoint.port ?? 0)")
        try await server.run { connection in
            while let line = try await connection.next() { try await connection.send(line) }
        }
    }
}
