import CLifelineBench

/// Lets the clients take turns with the raw server.
struct RequestComparison {
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> [FigureTable] {
        try [1, 64].map { inFlight in
            var rates: [ClientKind: [Double]] = [:]
            var ratios: [ClientKind: [Double]] = [:]
            for round in 0..<options.rounds {
                var measured: [ClientKind: Double] = [:]
                let kinds = ClientKind.allCases
                // Another one goes first in each round.
                for place in kinds.indices {
                    let kind = kinds[(place + round) % kinds.count]
                    measured[kind] = try measure(kind, inFlight: inFlight)
                }
                for (kind, rate) in measured {
                    rates[kind, default: []].append(rate)
                    if let framed = measured[.framed] { ratios[kind, default: []].append(rate / framed) }
                }
            }
            var table = FigureTable(
                title: "one client of the raw server, messages on the way: \(inFlight); medians of \(options.rounds) rounds",
                columns: [.init("rate /s", "rate", digits: 0), .init("ratio to framed", "ratio", digits: 3)])
            for kind in ClientKind.allCases {
                let name = "\(kind.rawValue) \(inFlight)"
                table.rows.append((name, [rates[kind], ratios[kind]].map { $0.map { FigureTable.median($0) } }))
            }
            return table
        }
    }

    private func measure(_ kind: ClientKind, inFlight: Int) throws -> Double {
        let time = Role.warmUp + options.seconds + 30
        let serverCore = llb_core(0)
        let second = llb_core(1)
        let server = try Child(Role.arguments(forServer: .raw), core: serverCore, limit: time + 10)
        guard let port = UInt16(try server.line(within: 10)) else { throw Trouble("the raw server has no port") }
        let client = try Child(
            Role.arguments(for: kind, inFlight: inFlight, port: port, seconds: options.seconds), core: second >= 0 ? second : serverCore,
            limit: time)
        do {
            return try Figures(line: try client.line(within: time)).rate ?? 0
        } catch {
            throw Trouble("the client \(kind.rawValue) failed: \(error)")
        }
    }
}
