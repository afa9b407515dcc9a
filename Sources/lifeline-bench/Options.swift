/// What was asked for on the command line.
struct Options {
    /// What is measured.
    enum Mode: String, CaseIterable {
        case servers, codecs, requests, heartbeats, recovery, simulations, tls

        /// Whether processes are compared over the system's sockets.
        var isLeveled: Bool {
            switch self {
            case .servers, .requests, .tls: true
            case .codecs, .heartbeats, .recovery, .simulations: false
            }
        }

        /// How long each figure is counted for unless it is said.
        var seconds: Double {
            switch self {
            case .codecs: 0.2
            case .heartbeats: 10
            default: 2
            }
        }
    }

    var mode = Mode.servers
    var seconds = 2.0
    var rounds = 3
    var json = false
    var help = false
    /// Congestion control and scheduling as the system has them.
    var asIs = false
    /// Links with a heartbeat, and their period in seconds.
    var links = 100_000
    var period = 30.0
    /// Only codecs and searches with this in their names.
    var codecName: String?
    var scenarios = Scenario.all
    var servers = ServerKind.allCases

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        if let word = arguments.first, let mode = Mode(rawValue: word) {
            self.mode = mode
            seconds = mode.seconds
            rest = rest.dropFirst()
        }
        var scenarioNames: [String] = []
        var serverNames: [String] = []
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": help = true
            case "--json": json = true
            case "--as-is": asIs = true
            case "--codec": codecName = try Self.value(after: argument, in: &rest)
            case "--seconds": seconds = try Self.number(after: argument, in: &rest, within: 0.01...60)
            case "--rounds": rounds = Int(try Self.number(after: argument, in: &rest, within: 1...100))
            case "--links": links = Int(try Self.number(after: argument, in: &rest, within: 1...1_000_000))
            case "--period": period = try Self.number(after: argument, in: &rest, within: 0.1...600)
            case "--scenario": scenarioNames.append(try Self.value(after: argument, in: &rest))
            case "--server": serverNames.append(try Self.value(after: argument, in: &rest))
            default: throw Trouble("what is \(argument)? See --help")
            }
        }
        try Self.check(scenarioNames, among: Scenario.all.map(\.name), what: "scenario")
        try Self.check(serverNames, among: ServerKind.allCases.map(\.rawValue), what: "server")
        if !scenarioNames.isEmpty {
            scenarios = Scenario.all.filter { scenarioNames.contains($0.name) }
        }
        if !serverNames.isEmpty {
            // Without raw there would be no ratio.
            servers = ServerKind.allCases.filter { $0 == .raw || serverNames.contains($0.rawValue) }
        }
    }

    private static func value(after option: String, in rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw Trouble("\(option) needs a value") }
        return value
    }

    private static func number(
        after option: String, in rest: inout ArraySlice<String>, within range: ClosedRange<Double>
    ) throws -> Double {
        let text = try value(after: option, in: &rest)
        guard let number = Double(text), range.contains(number) else {
            throw Trouble("\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
    }

    private static func check(_ names: [String], among known: [String], what: String) throws {
        for name in names where !known.contains(name) {
            throw Trouble("there is no \(what) \(name), only \(known.joined(separator: ", "))")
        }
    }
}

extension Options {
    static var helpText: String {
        let scenarios = Scenario.all.map { "  \($0.name.padded(to: 14))\($0.explanation)" }
        return """
            Compares Lifeline's servers to the least an epoll echo server can do.

            usage: swift run -c release lifeline-bench [options]
                   swift run -c release lifeline-bench codecs [--seconds N] [--rounds N] [--codec TEXT] [--json]
                   swift run -c release lifeline-bench requests [--seconds N] [--rounds N] [--as-is] [--json]
                   swift run -c release lifeline-bench heartbeats [--links N] [--period S] [--seconds N] [--json]
                   swift run -c release lifeline-bench recovery [--rounds N] [--json]
                   swift run -c release lifeline-bench simulations [--rounds N] [--json]
                   swift run -c release lifeline-bench tls [--seconds N] [--rounds N] [--as-is] [--json]

              --seconds N      how long each load counts, after 0.2 s that do not (default 2)
              --rounds N       how often each server meets each scenario (default 3)
              --scenario NAME  only this one; may be repeated
              --server NAME    only this one, and raw; may be repeated
              --json           one JSON object a line instead of tables
              --as-is          with the system's congestion control and scheduling; see below
              --help           this text

            Scenarios:
            \(scenarios.joined(separator: "\n"))

            Servers: \(ServerKind.allCases.map(\.rawValue).joined(separator: ", "))
              raw is written in C: one thread, one read and one write for each readiness, no
              framing. The others are Lifeline's and do all a real server would.

            How it measures:
              Each server runs in a fresh process on one core, the load in another on the next.
              The servers take turns in every round, and a ratio is always to raw in the same
              round, so that a machine that slows down slows both. What is shown are the medians
              over the rounds; the ratio is the median of ratios. Every byte that comes back is
              checked. Times are from when a frame is due to when its echo is checked; for churn,
              from connect to the echo. `busy` is the share of the time the server kept its core
              busy: well below 100 %, the load was the limit, not the server. (With only one
              frame on the way, as in 1x64x1, each waits for the other.)

              Everything runs in a network of its own whose congestion control is reno, if that is
              permitted: the pacing of others (bbr) takes a timer for each segment and has two
              stable states, for raw, too. And servers that are compared to raw have the batch
              policy, raw too: their threads share one core, where one that wakes up would preempt
              another, and it would be the scheduler that is measured. (On a machine that others
              use, this makes figures worse.) --as-is leaves both as the system has them.

              Idle memory is the growth of the server's anonymous memory (from smaps_rollup) from
              after a warm-up of 200 connections to when all are accepted, for each connection;
              then once more after a 64 B echo on each. What the kernel keeps is not in it.

            `codecs` measures what takes streams apart and puts them together, on bytes in memory and
            without any connection: nanoseconds a frame, and the share of the speed of memcpy;
            searches for delimiters against memchr and memmem; and the way out of garbage. --codec
            TEXT: only those with TEXT in their names. It takes N seconds (0.2 by default) for each
            figure of each round.

            `requests` measures one client, with one and with 64 messages on the way, against the raw
            server: the load in C, `send` and `next`, the same with a heartbeat that watches, and
            `request` in a task for each. Frames are a header of 16 bytes and 48 more. Clients whose
            names end in -loop run on their event loop, the others in the default pool. The ratio is to
            `framed` in the same round.

            `heartbeats` keeps N links up on one event loop in real time, over a transport that answers
            each ping at once, and tells what share of a core the loop's thread takes: without a heartbeat,
            with one-way beats, and with pings and pongs. Links are started evenly over one period S, so
            that no two fire together; then it counts for N seconds. (The processor time is all that a
            beat costs but the system's network: timers, turns of the loop, encoding, decoding.)

            `recovery` takes a server away from a link and gives it back: kill -9, SIGSTOP, and a firewall
            that drops, where this process may have a network of its own and nft is installed. It tells
            when the link knew, and when the first message went there and back after the server was back.

            `simulations` takes the real time of five virtual minutes of a server and a link.

            `tls` compares a TLS server to `openssl s_server` under the same load of Lifeline clients, with
            whole handshakes and with resumed sessions; `µs of server` is its processor time for each
            connection, which says more than the rate where the load is the limit. Streams of 64 KiB writes
            are compared to those without TLS, and to what is left of these if each byte takes the time, too,
            that `openssl speed` needs for it. And it tells what idle connections take of a server's memory.
            Certificates are made with the openssl command, in a temporary folder.

            The default run takes about four minutes. Use a machine with two idle cores.
            """
    }
}
