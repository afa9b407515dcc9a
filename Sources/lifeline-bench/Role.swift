import CLifelineBench
import Glibc

/// What this program does when it was started by itself.
enum Role {
    static let server = "as-server"
    static let load = "as-load"
    private static let batches = "batches"

    static let warmUp = 0.2
    private static let idleWarmUp: UInt32 = 200

    /// `inBatches`: its threads, which share a core, don't preempt one another when they wake up.
    static func arguments(forServer kind: ServerKind, inBatches: Bool = false) -> [String] {
        [server, kind.rawValue] + (inBatches ? [batches] : [])
    }

    static func arguments(forLoad scenario: Scenario, port: UInt16, server: pid_t, seconds: Double) -> [String] {
        [load, scenario.name, "\(port)", "\(server)", "\(seconds)"]
    }

    /// Serves until it is ended, having printed its port.
    static func serve(_ arguments: [String]) async throws {
        guard let kind = arguments.first.flatMap({ ServerKind(rawValue: $0) }), [[], [batches]].contains(arguments.dropFirst()) else {
            throw Trouble("\(server) KIND [\(batches)]")
        }
        // Before there is another thread. One that was given a policy keeps it.
        if arguments.count > 1 { _ = llb_schedule_in_batches() }
        guard llb_raise_open_files() == 0 else { exit(1) }
        if kind == .raw { exit(llb_raw_server(STDOUT_FILENO) == 0 ? 0 : 1) }
        try await lifeline_bench.serve(kind: kind) { port in say("\(port)") }
    }

    /// Runs one load and prints its figures, a name and a value each.
    static func load(_ arguments: [String]) throws {
        guard arguments.count == 4,
            let scenario = Scenario.all.first(where: { $0.name == arguments[0] }),
            let port = UInt16(arguments[1]), let server = pid_t(arguments[2]), let seconds = Double(arguments[3])
        else { throw Trouble("\(load) SCENARIO PORT PROCESS SECONDS") }
        guard llb_raise_open_files() == 0 else { exit(1) }
        var figures = llb_load_result()
        switch scenario.work {
        case .frames(let connections, let payload, let inFlight):
            var options = llb_load_options(
                port: port, connections: connections, payload: payload, in_flight: inFlight,
                warm_up: warmUp, seconds: seconds)
            guard llb_load(&options, &figures) == 0 else { exit(1) }
        case .churn(let atOnce):
            var options = llb_churn_options(port: port, at_once: atOnce, warm_up: warmUp, seconds: seconds)
            guard llb_churn(&options, &figures) == 0 else { exit(1) }
        case .idle(let connections):
            var options = llb_idle_options(port: port, server: server, warm_up: idleWarmUp, connections: connections)
            var memory = llb_idle_result()
            guard llb_idle(&options, &memory) == 0 else { exit(1) }
            say("bytes \(memory.fresh) bytesAfterEcho \(memory.after_echo)")
            return
        }
        say("rate \(figures.rate) p50us \(figures.p50us) p99us \(figures.p99us) p999us \(figures.p999us)")
    }
}
