/// Compares servers built on Lifeline to the least an epoll echo server can do.
///
/// Every server and every load runs in a process of its own: this same program, started again with
/// one of two subcommands that `--help` does not list.
@main
struct Program {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case Role.server?: try await Role.serve(Array(arguments.dropFirst()))
            case Role.load?: try Role.load(Array(arguments.dropFirst()))
            default: try compare(arguments)
            }
        } catch {
            fail("\(error)")
        }
    }

    private static func compare(_ arguments: [String]) throws {
        let options = try Options(arguments)
        if options.help {
            say(Options.helpText)
            return
        }
        #if DEBUG
            complain("warning: this is a debug build, its figures mean nothing; use swift run -c release")
        #endif
        let report = options.json ? Report.json : Report.table
        if options.codecs { return try compareCodecs(options, report) }
        var comparison = Comparison(options: options)
        if !options.json { say(comparison.preface) }
        for scenario in options.scenarios {
            let results = comparison.run(scenario)
            if !results.isEmpty { say(report.text(of: results, in: scenario)) }
        }
        if comparison.failed { fail("some servers could not be measured") }
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
