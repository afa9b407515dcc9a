import Foundation
import Testing

/// `serve` and `connect`, talking to each other. Ports are the kernel's choice.
@Suite(.timeLimit(.minutes(5)))
struct PipingTests {
    @Test(arguments: [
        "line", "crlf", "line:crlf/crlf", "delimiter:\\r\\n", "delimiter:\\0", "length:1", "length:2le", "length:4be", "length:varint",
        "length:4be:itself", "prefixed:2be", "netstring",
    ])
    func framesComeBackFromAnEcho(codec: String) async throws {
        let (server, endpoint) = try await serve(["--echo", "--codec", codec])
        let script = "printf 'one\\n\\ntw\\303\\266\\nlast' | \"$0\" connect --codec '\(codec)' \(endpoint)"
        let outcome = try await ToolProcess.run([], script: script)
        #expect(outcome.status == 0)
        #expect(outcome.text == "one\n\ntwö\nlast\n")
        #expect(outcome.errors.isEmpty)
        try await stop(server)
    }

    @Test func tenMegabytesComeBackFromAnEcho() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        // Without a period that a buffer's size could hide.
        var state: UInt64 = 1
        let words = (0..<1_250_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state
        }
        let bytes = words.withUnsafeBytes { Data($0) }
        try bytes.write(to: file)
        let (server, endpoint) = try await serve(["--echo", "--codec", "raw"])
        let piped = try await ToolProcess.run([file.path], script: "cat \"$1\" | \"$0\" connect --codec raw \(endpoint)")
        #expect(piped.status == 0)
        #expect(piped.output == bytes)
        let read = try await ToolProcess.run(["connect", "--codec", "raw", endpoint], input: .file(file))
        #expect(read.status == 0)
        #expect(read.output == bytes)
        try await stop(server)
    }

    @Test func nothingOnStandardInputIsACleanEnd() async throws {
        let (server, endpoint) = try await serve(["--echo"])
        let outcome = try await ToolProcess.run(["connect", endpoint])
        #expect(outcome.status == 0)
        #expect(outcome.output.isEmpty)
        try await stop(server)
    }

    @Test func whatIsTypedGoesToAllAndWhatTheySendIsPrinted() async throws {
        let (server, endpoint) = try await serve(["--verbose"], input: .typed)
        let clients = [
            try ToolProcess(["connect", endpoint], input: .typed), try ToolProcess(["connect", endpoint], input: .typed),
        ]
        let names = [await server.note("connected: ") ?? "", await server.note("connected: ") ?? ""]
        try server.type("to all\n")
        #expect(await server.note("sent to ") == "2, skipped 0")
        for client in clients {
            try client.type("from one\n")
            try client.endInput()
            let outcome = try await client.outcome()
            #expect(outcome.status == 0)
            #expect(outcome.text == "to all\n")
        }
        let outcome = try await stop(server)
        #expect(outcome.text.split(separator: "\n").sorted() == names.map { "[\($0)] from one" }.sorted())
    }

    @Test func anInterruptEndsClientsInGoodOrder() async throws {
        let (server, endpoint) = try await serve(["--verbose"])
        let client = try ToolProcess(["connect", "--verbose", endpoint], input: .typed)
        #expect(await server.note("connected: ") != nil)
        try await stop(server)
        let outcome = try await client.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.errors.last?.hasPrefix("ended: closed by peer") == true, "\(outcome.errors)")
    }

    @Test func nobodyListensIsAFailure() async throws {
        let (server, endpoint) = try await serve(["--echo"])
        try await stop(server)
        let outcome = try await ToolProcess.run(["connect", endpoint])
        #expect(outcome.status == 1)
        #expect(outcome.errors.first?.hasPrefix("lifeline: refused: ") == true, "\(outcome.errors)")
    }

    @Test func aLineAboveTheLimitIsAFailure() async throws {
        let (server, endpoint) = try await serve(["--echo", "--max", "20"])
        let here = try await ToolProcess.run([], script: "echo 12345678901 | \"$0\" connect --max 10 \(endpoint)")
        #expect(here.status == 1)
        #expect(here.errors.first?.hasPrefix("lifeline: frame too large: ") == true, "\(here.errors)")
        let back = try await ToolProcess.run([], script: "echo 1234567890 | \"$0\" connect --max 10 \(endpoint)")
        #expect(back.status == 0)
        #expect(back.text == "1234567890\n")
        try await stop(server)
    }

    @Test func nobodyReadsStandardOutput() async throws {
        let (server, endpoint) = try await serve(["--echo"])
        let outcome = try await ToolProcess.run([], script: "yes | \"$0\" connect \(endpoint) | head -n 3")
        #expect(outcome.status == 0)
        #expect(outcome.text == "y\ny\ny\n")
        #expect(outcome.errors.allSatisfy { !$0.contains("lifeline") }, "\(outcome.errors)")
        try await stop(server)
    }

    @Test func unixSocketsAreServed() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)").path
        let server = try ToolProcess(["serve", "--echo", "unix://\(path)"])
        #expect(await server.note("listening at ") == "unix://\(path)")
        let outcome = try await ToolProcess.run([], script: "echo hello | \"$0\" connect unix://\(path)")
        #expect(outcome.status == 0)
        #expect(outcome.text == "hello\n")
        try await stop(server)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
