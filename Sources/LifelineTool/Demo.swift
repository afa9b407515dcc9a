import Lifeline

/// `lifeline demo`: a chat server and four peers, a client that stays connected whatever its servers do, and a server that speaks TLS, over
/// real TCP in one process. It shows what everybody sends and gets, and checks it.
enum Demo {
    /// Returns the exit status: 0 if everything was as expected.
    static func run() async throws -> Int32 {
        Signals.limitLife(toSeconds: 10)
        let log = DemoLog()
        let chat = DemoChat(log: log)
        Console.say("A chat server and its clients, over TCP on this machine. Times are milliseconds since the start.")
        log.heading("The server")
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .lines)
        log.line("server", "listens", "at \(server.endpoint): lines of text, \(LineCodec().lines.max) bytes at most")

        var checks = 0
        var failures = 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { try await chat.serve($0, on: server) } }
            var scenario = DemoScenario(server: server, log: log, events: chat.events)
            try await scenario.play()
            try await group.waitForAll()
            checks += scenario.checks
            failures += scenario.failures
        }
        var outages = DemoOutages(log: log)
        try await outages.play()
        checks += outages.checks
        failures += outages.failures
        var protected = try DemoTLS(log: log)
        try await protected.play()
        checks += protected.checks
        failures += protected.failures

        log.heading(failures == 0 ? "All \(checks) expectations were met" : "Expectations")
        if failures > 0 { throw DemoFailure(message: "\(failures) of \(checks) expectations were not met") }
        return 0
    }
}

/// The demo can't go on, or came to a bad end.
struct DemoFailure: Error, CustomStringConvertible {
    let message: String

    var description: String { message }
}
