import CLifelineBench

/// The medians of one server in one scenario.
struct Outcome {
    let server: ServerKind
    let figures: Figures
}

/// Lets the servers take turns.
struct Comparison {
    private let options: Options
    private let serverCore: Int32
    private let loadCore: Int32
    /// Servers that did not even start, and are not asked again.
    private var absent: Set<ServerKind> = []
    private(set) var failed = false

    /// What a child may take longer than its load. In each place where a load waits, it gives up sooner.
    private static let grace = 30.0
    private static let startPatience = 10.0

    init(options: Options) {
        self.options = options
        serverCore = llb_core(0)
        let second = llb_core(1)
        loadCore = second >= 0 ? second : serverCore
        if second < 0 {
            complain("warning: there is one core only; servers share it with their load, and ratios say little")
        }
    }

    var preface: String {
        """
        servers on core \(serverCore), load on core \(loadCore); medians of \(options.rounds) rounds \
        of \(options.seconds) s; ratio: to raw in the same round

        """
    }

    /// All servers, all rounds.
    mutating func run(_ scenario: Scenario) -> [Outcome] {
        var figures: [ServerKind: [Figures]] = [:]
        var failing = absent
        for round in 0..<options.rounds {
            let measured = runRound(round, of: scenario, without: &failing)
            for (server, var one) in measured {
                if let rate = one.rate, let raw = measured[.raw]?.rate { one.ratio = rate / raw }
                figures[server, default: []].append(one)
            }
        }
        // Figures from before a failure are not worth showing.
        return options.servers.compactMap { server in
            guard !failing.contains(server), let all = figures[server] else { return nil }
            return Outcome(server: server, figures: Figures(medianOf: all))
        }
    }

    private mutating func runRound(
        _ round: Int, of scenario: Scenario, without failing: inout Set<ServerKind>
    ) -> [ServerKind: Figures] {
        var measured: [ServerKind: Figures] = [:]
        for index in options.servers.indices {
            // Another one goes first in each round, so that no place in the order is always the same one's.
            let server = options.servers[(index + round) % options.servers.count]
            if failing.contains(server) { continue }
            do {
                measured[server] = try measure(server, in: scenario)
            } catch {
                complain("\(server.rawValue) in \(scenario.name): \(error)")
                failing.insert(server)
                failed = true
            }
        }
        return measured
    }

    private mutating func measure(_ kind: ServerKind, in scenario: Scenario) throws -> Figures {
        let time = Role.warmUp + options.seconds + Self.grace
        let arguments = Role.arguments(forServer: kind, inBatches: !options.asIs)
        let server = try Child(arguments, core: serverCore, limit: Self.startPatience + time)
        let port: UInt16
        do {
            guard let number = UInt16(try server.line(within: Self.startPatience)) else { throw Trouble("no port") }
            port = number
        } catch {
            absent.insert(kind)
            throw Trouble("the server did not start: \(error)")
        }
        let used = server.processorSeconds
        let start = ContinuousClock.now
        let load = try Child(
            Role.arguments(forLoad: scenario, port: port, server: server.process, seconds: options.seconds),
            core: loadCore, limit: time)
        var figures: Figures
        do {
            figures = try Figures(line: try load.line(within: time))
        } catch {
            throw Trouble("the load failed: \(error)")
        }
        if !scenario.isIdle {
            figures.busy = (server.processorSeconds - used) / ((ContinuousClock.now - start) / .seconds(1))
        }
        return figures
    }
}
