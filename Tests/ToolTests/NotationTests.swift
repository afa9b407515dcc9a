import Foundation
import Testing

/// Headers, hexadecimal bodies and complaints: what `connect` and `serve` take and print beside plain lines.
@Suite(.timeLimit(.minutes(5)))
struct NotationTests {
    /// What is printed is what has to be typed to send the same: `printed` is typed again, and comes back as it is.
    @Test(arguments: [
        ("tlv:1:2be", #"7\tseven\nnone\n0\t\n255\ta\tb\n"#, "7\tseven\n0\tnone\n0\t\n255\ta\tb\n"),
        ("tlv:8:varint", #"18446744073709551615\tx\n"#, "18446744073709551615\tx\n"),
        ("type-header", #"3/1\tone\n4\ttwo\n-9/999\t\nnone\n"#, "3/1\tone\n4\ttwo\n-9/999\t\n0\tnone\n"),
        (
            "request-header", #"serial=7 command=2 code=-1\tone\ncommand=5\ttwo\nnone\n"#,
            "serial=7 command=2 code=-1\tone\nserial=0 command=5 code=0\ttwo\nserial=0 command=0 code=0\tnone\n"
        ),
        ("request-header:le:body", #"code=2147483647\t\n"#, "serial=0 command=0 code=2147483647\t\n"),
        (
            "json-header", #"{"type": "x", "id": [1, 2.5, null]}\tone\n{}\ttwo\nthree\n{"a":"\\t"}\tfour\n"#,
            "{\"id\":[1,2.5,null],\"type\":\"x\"}\tone\n\ttwo\n\tthree\n{\"a\":\"\\t\"}\tfour\n"
        ),
        ("json-line", #"{"a":1}\n[2]\n"#, "{\"a\":1}\n[2]\n"),
        ("fixed:3", #"one\ntwo\n"#, "one\ntwo\n"),
    ])
    func headersComeBackFromAnEcho(codec: String, typed: String, printed: String) async throws {
        try await withServer(["--echo", "--codec", codec]) { endpoint in
            let outcome = try await ToolProcess.run(
                [typed], script: "printf \"$1\" | \"$0\" connect --codec '\(codec)' \(endpoint)")
            #expect(outcome.text == printed)
            #expect(outcome.status == 0)
            #expect(outcome.errors.isEmpty)
            let again = try await ToolProcess.run(
                [printed], script: "printf '%s' \"$1\" | \"$0\" connect --codec '\(codec)' \(endpoint)")
            #expect(again.text == printed)
        }
    }

    @Test func linesWithoutAHeaderGetTheOneThatIsGiven() async throws {
        try await withServer(["--echo", "--codec", "type-header"]) { endpoint in
            let outcome = try await ToolProcess.run(
                [], script: "printf 'one\\n5\\ttwo\\n' | \"$0\" connect --codec type-header --header 3/1 \(endpoint)")
            #expect(outcome.text == "3/1\tone\n5\ttwo\n")
        }
    }

    @Test(arguments: ["length:2be", "netstring", "delimiter:\\n--\\n", "raw"])
    func bodiesInHexadecimal(codec: String) async throws {
        try await withServer(["--echo", "--codec", codec]) { endpoint in
            let outcome = try await ToolProcess.run(
                [], script: "printf '0a00FF 0d\\n' | \"$0\" connect --hex --codec '\(codec)' \(endpoint)")
            #expect(outcome.text == "0a00ff0d\n")
            #expect(outcome.status == 0)
        }
    }

    @Test(arguments: [
        (["--codec", "type-header"], "3/x\tone", "“3/x” isn't a header: write MAIN/SUB or MAIN, two numbers between -10 and 1000"),
        (["--codec", "type-header"], "1000\tone", "“1000” isn't a header"),
        (["--codec", "request-header"], "serial=1 colour=2\tone", "“serial=1 colour=2” isn't a header: write serial=N command=N code=N"),
        (["--codec", "tlv:1:1"], "256\tone", "“256” isn't a header: write a type from 0 to 255"),
        (["--codec", "json-header"], "{\"size\":1}\tone", "“{\"size\":1}” isn't a header: write a JSON object without a size"),
        (["--codec", "json-line"], "{", "a body of 1 byte isn't JSON"),
        (["--codec", "length:1", "--hex"], "abc", "“abc” isn't hexadecimal: write two digits for each byte"),
        (["--codec", "fixed:3"], "four", "a frame of 4 bytes where all have 3"),
    ])
    func whatCantBeSentIsTold(options: [String], line: String, message: String) async throws {
        try await withServer(["--echo"] + options) { endpoint in
            let client = try ToolProcess(["connect"] + options + [endpoint], input: .typed)
            try client.type(line + "\n")
            let outcome = try await client.outcome()
            #expect(outcome.status == 1)
            #expect(outcome.errors.count == 1)
            #expect(outcome.errors.first?.hasPrefix("lifeline: unencodable: \(message)") == true, "\(outcome.errors)")
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func skippedBytesAreTold() async throws {
        let (server, endpoint) = try await serve(["--codec", "type-header"])
        let script = #"printf 'noise\1\0\0\0\3\0\0\0\1\0\0\0\2\0\0\0ok' | "$0" connect --codec raw "# + endpoint
        #expect(try await ToolProcess.run([], script: script).status == 0)
        #expect(await server.note("skipped bytes: ") == "5 bytes")
        let outcome = try await stop(server)
        #expect(outcome.text.hasSuffix("] 3/1\tok\n"), "\(outcome.text)")
    }

    @Test func overlongLinesAreDroppedIfThatIsAsked() async throws {
        let (server, endpoint) = try await serve(["--max", "5", "--drop"])
        let client = try await ToolProcess.run([], script: "printf 'a\\n1234567\\nb\\n' | \"$0\" connect \(endpoint)")
        #expect(client.status == 0)
        #expect(await server.note("dropped frame: ") == "7 bytes")
        let outcome = try await stop(server)
        #expect(outcome.text.split(separator: "\n").map { $0.split(separator: " ").last } == ["a", "b"])
    }

    @Test func textThatIsNoneIsToldAndPassedOn() async throws {
        let (server, endpoint) = try await serve(["--codec", "json-line"])
        let client = try await ToolProcess.run([], script: "printf '{\"a\":\\n[1]\\n' | \"$0\" connect \(endpoint)")
        #expect(client.status == 0)
        #expect(await server.note("[")?.hasSuffix("] invalid body: a body of 5 bytes isn't JSON") == true)
        let outcome = try await stop(server)
        #expect(outcome.text.split(separator: "\n").map { $0.split(separator: " ").last } == ["{\"a\":", "[1]"])
    }

    @Test func textThatIsNoneIsToldToClientsToo() async throws {
        let (server, endpoint) = try await serve(["--verbose"], input: .typed)
        let client = try ToolProcess(["connect", "--codec", "json-line", endpoint], input: .typed)
        #expect(await server.note("connected: ") != nil)
        try server.type("{\n[1]\n")
        #expect(await client.note("invalid body: ") == "a body of 1 byte isn't JSON")
        try client.endInput()
        let outcome = try await client.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.text == "{\n[1]\n")
        try await stop(server)
    }

    @Test func aServerGoesOnBehindALineThatCantBeSent() async throws {
        let options = ["--codec", "type-header"]
        let (server, endpoint) = try await serve(options + ["--verbose"], input: .typed)
        let client = try ToolProcess(["connect"] + options + [endpoint], input: .typed)
        #expect(await server.note("connected: ") != nil)
        try server.type("1/1\tfirst\nbad\thello\n1/1\tsecond\n")
        #expect(await server.note("not sent: “bad” isn't a header") != nil)
        #expect(await server.note("sent to ") != nil)
        try client.endInput()
        #expect(try await client.outcome().text == "1/1\tfirst\n1/1\tsecond\n")
        try await stop(server)
    }

    @Test func aPeerThatSendsNoTerminatorIsFoundOut() async throws {
        let (server, endpoint) = try await serve(["--unfinished", "0.05"])
        let client = try ToolProcess(["connect", "--codec", "raw", endpoint], input: .typed)
        try client.type("login:Ann")
        let note = await server.note("ended: ")
        #expect(note?.hasSuffix("waiting for the rest of a frame: 9 bytes without a terminator") == true, "\(note ?? "nothing")")
        _ = try await client.outcome()
        try await stop(server)
    }

    private func withServer(_ options: [String], _ body: (String) async throws -> Void) async throws {
        let (server, endpoint) = try await serve(options)
        try await body(endpoint)
        try await stop(server)
    }
}
