/// Compares servers built on Lifeline to the least an epoll echo server can do.
///
/// Every server, load and client runs in a process of its own: this same program, started again with
/// a subcommand that `--help` does not list.
@main
struct Program {
    @MainActor
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case Role.server?: try await Role.serve(Array(arguments.dropFirst()))
            case Role.load?: try Role.load(Array(arguments.dropFirst()))
            case Role.client?: try await Role.beClient(Array(arguments.dropFirst()))
            case Role.links?: try await Role.keepLinks(Array(arguments.dropFirst()))
            case Role.peer?: try await Role.bePeer(Array(arguments.dropFirst()))
            case Role.program?: try Role.become(Array(arguments.dropFirst()))
            case Role.tlsServer?: try await Role.serveTLS(Array(arguments.dropFirst()))
            case Role.tlsLoad?: try await Role.loadTLS(Array(arguments.dropFirst()))
            case Role.tlsStream?: try await Role.streamTLS(Array(arguments.dropFirst()))
            case Role.tlsIdle?: try await Role.holdTLS(Array(arguments.dropFirst()))
            default: try await measure(arguments)
            }
        } catch {
            fail("\(error)")
        }
    }

    @MainActor
    private static func measure(_ arguments: [String]) async throws {
        let options = try Options(arguments)
        if options.help {
            say(Options.helpText)
            return
        }
        #if DEBUG
            complain("warning: this is a debug build, its figures mean nothing; use swift run -c release")
        #endif
        let report = options.json ? Report.json : Report.table
        if options.mode.isLeveled {
            let surroundings = options.asIs ? Surroundings.asTheyAre : Surroundings.leveled()
            if !options.json { say(surroundings) }
        }
        switch options.mode {
        case .servers: try compareServers(options, report)
        case .codecs: try compareCodecs(options, report)
        case .requests: try RequestComparison(options).run().forEach { say(report.text(of: $0)) }
        case .heartbeats: say(report.text(of: try HeartbeatComparison(options).run()))
        case .recovery:
            var recovery = Recovery(options)
            say(report.text(of: try await recovery.run()))
        case .simulations: say(report.text(of: try await simulations(options)))
        case .tls: try compareTLS(options, report)
        }
    }

    private static func compareServers(_ options: Options, _ report: Report) throws {
        var comparison = Comparison(options: options)
        if !options.json { say(comparison.preface) }
        for scenario in options.scenarios {
            let results = comparison.run(scenario)
            if !results.isEmpty { say(report.text(of: results, in: scenario)) }
        }
        if comparison.failed { fail("some servers could not be measured") }
    }

    private static func compareTLS(_ options: Options, _ report: Report) throws {
        guard OpenSSL.version() != nil else { return complain("there is no openssl command, which makes certificates: no TLS") }
        let comparison = TLSComparison(options, try KeyFolder.make())
        say(report.text(of: try comparison.handshakes()))
        say(report.text(of: try comparison.streams()))
        say(report.text(of: try comparison.memory()))
    }

    private static func compareCodecs(_ options: Options, _ report: Report) throws {
        let comparison = CodecComparison(seconds: options.seconds, rounds: options.rounds)
        func isAsked(_ name: String) -> Bool { options.codecName.map { name.contains($0) } ?? true }
        let outcomes = try CodecCatalogue.cases().filter { isAsked($0.name) }.map { try comparison.run($0) }
        if !outcomes.isEmpty { say(report.text(of: outcomes)) }
        let searches = try comparison.searches().filter { isAsked($0.name) }
        let ways = try comparison.resynchronisations().filter { isAsked($0.name) }
        if !searches.isEmpty { say(report.text(of: searches, title: "searches for a delimiter at the end of 1 MiB")) }
        if !ways.isEmpty { say(report.text(of: ways, title: "the way to a packet behind 1 MiB of garbage")) }
    }
}
