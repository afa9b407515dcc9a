import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CommandLineTests {
    @Test func demoMeetsItsExpectations() async throws {
        let outcome = try await ToolProcess.run(["demo"])
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("expectations were met"))
        #expect(outcome.text.contains("Ann     gets      “Dan: grün”"))
        #expect(outcome.text.contains("44 61 6e 0a 67 72 c3"))
        #expect(outcome.text.contains("(3 accepted, 1 skipped, 0 evicted)"))
        #expect(outcome.text.contains("with Dan: truncated frame"))
        #expect(outcome.text.contains("with Ann: shutting down"))
        #expect(!outcome.text.contains("\u{1B}"), "colours are for terminals")
        #expect(outcome.errors.isEmpty)
    }

    @Test(arguments: [
        ["--help"], ["help"], ["help", "serve"], ["demo", "--help"], ["serve", "-h"], ["connect", "--codec", "raw", "--help"],
    ])
    func helpIsPrinted(arguments: [String]) async throws {
        let outcome = try await ToolProcess.run(arguments)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("usage: lifeline"))
        #expect(outcome.errors.isEmpty)
    }

    @Test func versionIsPrinted() async throws {
        let outcome = try await ToolProcess.run(["--version"])
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix("lifeline "))
    }

    @Test(arguments: [
        (["fly"], "unknown command fly; see lifeline --help"),
        (["--fly"], "unknown option --fly; see lifeline --help"),
        (["serve", "--fly"], "unknown option --fly; see lifeline serve --help"),
        (["serve", "--within", "3"], "unknown option --within; see lifeline serve --help"),
        (["connect"], "no endpoint: name one, such as tcp://127.0.0.1:7000; see lifeline connect --help"),
        (["connect", "a:1", "b:2"], "one endpoint is enough: b:2 is one too many; see lifeline connect --help"),
        (["connect", "a:1", "--codec", "morse"], "unknown codec morse"),
        (["connect", "a:1", "--codec"], "--codec needs a value"),
        (["connect", "a:1", "--verbose=yes"], "--verbose takes no value"),
        (["connect", "a:1", "--max", "-3"], "--max takes a number of bytes, not -3"),
        (["connect", "a:1", "--max=3", "--codec=raw"], "--max means nothing with --codec raw"),
        (["connect", "a:1", "--within", "soon"], "--within takes a number of seconds, not soon"),
        (["connect", "a:b"], "the port of “a:b” isn't a number"),
        (["connect", "memory://a"], "memory://a exists within one process only"),
        (["demo", "now"], "demo takes no now"),
    ])
    func whatCantBeUnderstoodIsTold(arguments: [String], message: String) async throws {
        let outcome = try await ToolProcess.run(arguments)
        #expect(outcome.status == 2)
        #expect(outcome.errors.count == 1)
        #expect(outcome.errors.first?.hasPrefix("lifeline: \(message)") == true, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
    }

    @Test func withoutACommandTheHelpIsAnError() async throws {
        let outcome = try await ToolProcess.run([])
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains { $0.hasPrefix("usage: lifeline") })
    }
}
