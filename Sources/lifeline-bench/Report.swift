/// How results are written down.
enum Report {
    case table
    case json

    func text(of results: [Outcome], in scenario: Scenario) -> String {
        switch self {
        case .json:
            results.map { Self.object(of: $0, in: scenario) }.joined(separator: "\n")
        case .table:
            Self.table(of: results, in: scenario)
        }
    }

    private static func object(of result: Outcome, in scenario: Scenario) -> String {
        let figures = result.figures
        func member(_ name: String, _ value: Double?, _ digits: Int) -> String {
            "\"\(name)\":\(value.map { $0.fixed(digits) } ?? "null")"
        }
        var members = [
            "\"scenario\":\"\(scenario.name)\"",
            "\"server\":\"\(result.server.rawValue)\"",
            member("ratio", figures.ratio, 4),
            member("rate", figures.rate, 1),
            member("p50us", figures.p50us, 1),
            member("p99us", figures.p99us, 1),
            member("bytes", figures.bytes, 1),
        ]
        if scenario.isIdle { members.append(member("bytesAfterEcho", figures.bytesAfterEcho, 1)) }
        return "{\(members.joined(separator: ","))}"
    }

    private static func table(of results: [Outcome], in scenario: Scenario) -> String {
        let heads = scenario.isIdle ? ["fresh", "after echo"] : ["ratio", "rate /s", "p50 µs", "p99 µs", "p99.9 µs", "busy"]
        let rows = results.map { row(of: $0.figures, in: scenario) }
        var lines = ["\(scenario.name) (\(scenario.explanation))"]
        lines.append(line("server", heads))
        for (result, row) in zip(results, rows) { lines.append(line(result.server.rawValue, row)) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func row(of figures: Figures, in scenario: Scenario) -> [String] {
        func cell(_ value: Double?, _ digits: Int) -> String {
            value.map { $0.fixed(digits) } ?? "-"
        }
        if scenario.isIdle { return [cell(figures.bytes, 0), cell(figures.bytesAfterEcho, 0)] }
        return [
            cell(figures.ratio, 3), cell(figures.rate, 0), cell(figures.p50us, 1), cell(figures.p99us, 1),
            cell(figures.p999us, 1), figures.busy.map { ($0 * 100).fixed(0) + " %" } ?? "-",
        ]
    }

    private static func line(_ first: String, _ cells: [String]) -> String {
        "  " + first.padded(to: 14) + cells.map { $0.aligned(to: 12) }.joined()
    }
}

extension Double {
    /// With so many digits after the point.
    func fixed(_ digits: Int) -> String {
        guard digits > 0 else { return "\(Int64(rounded()))" }
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64((magnitude * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return (self < 0 && scaled > 0 ? "-" : "") + "\(scaled / scale).\(zeros)\(fraction)"
    }
}

extension String {
    /// Filled up with spaces at the end.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    /// Filled up with spaces at the start.
    func aligned(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
