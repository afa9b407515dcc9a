import Lifeline
import LifelineTesting

/// What a pair does in its five minutes.
private enum Workload: String, CaseIterable, Sendable {
    case pings30 = "pings every 30 s"
    case pings5 = "pings every 5 s"
    case pings5AndMessages = "pings every 5 s, and a line each second"

    var period: Duration { self == .pings30 ? .seconds(30) : .seconds(5) }
}

/// Five virtual minutes of one server and one supervised link, with a heartbeat, in real time.
func simulations(_ options: Options) async throws -> FigureTable {
    var table = FigureTable(
        title: "five virtual minutes of a server and a link; \(10 * options.rounds) seeds",
        columns: [.init("median ms", "ms", digits: 2), .init("longest ms", "longest", digits: 2)])
    for load in Workload.allCases {
        var times: [Double] = []
        for seed in 0...UInt64(10 * options.rounds) {
            let start = ContinuousClock.now
            try await fiveMinutes(load, seed: seed)
            // What is needed once is there after the first.
            if seed > 0 { times.append((.now - start) / .milliseconds(1)) }
        }
        table.rows.append((load.rawValue, [FigureTable.median(times), times.max()]))
    }
    return table
}

private func fiveMinutes(_ load: Workload, seed: UInt64) async throws {
    try await simulate(seed: seed) { world in
        let network = world.simulated
        network.links = LinkSettings(latency: .milliseconds(40), jitter: .milliseconds(10))
        let server = try await Server.bind(
            .tcp("office", 7000), codec: .lines, on: network.host("office"), heartbeat: .answering({ $0 == "ping" }, with: "pong"))
        async let serving: Void = server.run { connection in
            while let line = try await connection.next() { try await connection.send(line) }
        }
        let link = Supervisor(
            endpoint: .tcp("office", 7000), codec: .lines, on: network.host("phone"),
            heartbeat: .pingPong(every: load.period, answerWithin: .seconds(3), ping: "ping") { $0 == "pong" })
        await link.start()
        if load == .pings5AndMessages {
            for second in 1...300 {
                try await world.advance(by: .seconds(second) - world.now)
                try await link.send("line")
                guard try await link.next() == "line" else { throw Trouble("another line came back") }
            }
        } else {
            try await world.advance(by: .seconds(300))
        }
        guard link.status == .connected, link.roundTrip != nil else { throw Trouble("the link was lost") }
        await link.stop()
        await server.shutdown(within: .seconds(1))
        try await serving
    }
}
