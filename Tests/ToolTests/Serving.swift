import Testing

// Servers on ports of the kernel's choice.

/// Starts `lifeline serve` and waits until it listens.
func serve(_ options: [String], tls: Bool = false, input: ToolProcess.Input = .none) async throws -> (ToolProcess, endpoint: String) {
    let server = try ToolProcess(["serve"] + options + [tls ? "tls://127.0.0.1:0" : "tcp://127.0.0.1:0"], input: input)
    return (server, try #require(await server.note("listening at ")))
}

/// Interrupts a server and waits for its end, which has to be a clean one.
@discardableResult
func stop(_ server: ToolProcess) async throws -> ToolProcess.Outcome {
    server.interrupt()
    let outcome = try await server.outcome()
    #expect(outcome.status == 0)
    return outcome
}
