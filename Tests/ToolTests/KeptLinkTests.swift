import Foundation
import Lifeline
import Testing

/// `connect --reconnect`, and heartbeats on both sides.
@Suite(.timeLimit(.minutes(5)))
struct KeptLinkTests {
    @Test func aLinkComesBackAndNothingThatWasTypedIsLost() async throws {
        let (client, endpoint) = try await withPeer { peer in
            let options = ["--reconnect=exponential:0.05,0.2", "--answer", "ping=pong"]
            let client = try ToolProcess(["connect"] + options + [peer.address], input: .typed)
            try client.type("one\n")
            #expect(await peer.line() == "one")
            #expect(await client.note(with: "  connected") != nil)
            return (client, peer.endpoint)
        }
        #expect(await client.note(with: "  waiting ") != nil)
        #expect(await client.note(with: ": refused: ") != nil)
        try client.type("two\nthree\n")
        try await withPeer(at: endpoint) { peer in
            #expect(await peer.line() == "two")
            #expect(await peer.line() == "three")
            try await peer.say("hello")
            try await peer.say("ping")
            #expect(await peer.line() == "pong")
            client.interrupt()
            let outcome = try await client.outcome()
            #expect(outcome.status == 0)
            #expect(outcome.text == "hello\n")
            #expect(outcome.errors.last?.hasSuffix("  stopped: stopped by the user") == true, "\(outcome.errors)")
            #expect(outcome.errors.allSatisfy { !$0.contains("not sent") }, "\(outcome.errors)")
        }
    }

    @Test func givingUpIsTold() async throws {
        let endpoint = try await withPeer { $0.address }
        let script = "echo never | \"$0\" connect --reconnect=0,0.05 \(endpoint)"
        let outcome = try await ToolProcess.run([], script: script)
        #expect(outcome.status == 3)
        #expect(outcome.output.isEmpty)
        let time = #/[0-2][0-9]:[0-5][0-9]:[0-6][0-9]  /#
        let statuses = outcome.errors.filter { $0.prefixMatch(of: time) != nil }.map { $0.replacing(time, with: "") }
        let expected = [
            "connecting", "waiting 0 ms: refused: ", "connecting, attempt 2", "waiting 50 ms: refused: ", "connecting, attempt 3",
            "stopped: gave up after 3 attempts: refused: ",
        ]
        #expect(statuses.count == expected.count && zip(statuses, expected).allSatisfy { $0.hasPrefix($1) }, "\(outcome.errors)")
        #expect(outcome.errors.filter { $0.hasPrefix("not sent: “never”: gave up") }.count == 1, "\(outcome.errors)")
    }

    @Test func soManyAttemptsAndNoMore() async throws {
        let endpoint = try await withPeer { $0.address }
        let outcome = try await ToolProcess.run(["connect", "--reconnect=at-once", "--attempts", "2", endpoint])
        #expect(outcome.status == 3)
        #expect(outcome.errors.last?.contains("gave up after 2 attempts") == true, "\(outcome.errors)")
    }

    @Test func aServerThatDoesntWantTheClientEndsIt() async throws {
        try await withPeer { peer in
            let client = try ToolProcess(["connect", "--reconnect", "--kicked", "logged in elsewhere", peer.address], input: .typed)
            try client.type("hello\n")
            #expect(await peer.line() == "hello")
            try await peer.say("logged in elsewhere")
            let outcome = try await client.outcome()
            #expect(outcome.status == 4)
            #expect(outcome.text == "logged in elsewhere\n")
            #expect(outcome.errors.last?.hasSuffix("stopped: the server doesn't want this client any more") == true, "\(outcome.errors)")
        }
    }

    @Test func whatIsTypedWithoutAConnectionFollowsTheRule() async throws {
        let endpoint = try await withPeer { $0.address }
        let client = try ToolProcess(["connect", "--reconnect=every:1000", "--offline", "fail", endpoint], input: .typed)
        #expect(await client.note(with: "  waiting 1000 s") != nil)
        try client.type("hello\n")
        #expect(await client.note(with: "not sent: ") == "not sent: “hello”: offline: there is no connection now")
        client.interrupt()
        #expect(try await client.outcome().status == 1)

        let keeping = try ToolProcess(["connect", "--reconnect=every:1000", "--offline", "drop-oldest:2", endpoint], input: .typed)
        #expect(await keeping.note(with: "  waiting 1000 s") != nil)
        try keeping.type("one\ntwo\nthree\n")
        #expect(await keeping.note(with: "not sent: ")?.hasPrefix("not sent: “one”: superseded: ") == true)
        keeping.interrupt()
        let outcome = try await keeping.outcome()
        #expect(outcome.status == 1)
        #expect(outcome.errors.filter { $0.hasPrefix("not sent: ") }.count == 2, "\(outcome.errors)")
    }

    @Test func aSilentServerIsNoticedAndLeft() async throws {
        try await withPeer { peer in
            let client = try ToolProcess(["connect", "--reconnect=0", "--heartbeat", "0.05/0.2:ping=pong", peer.address], input: .typed)
            #expect(await client.note(with: ": heartbeat missed: ") != nil)
            #expect(await client.note(with: "  connected") != nil)
            #expect(await peer.line() == "ping")
            client.interrupt()
            #expect(try await client.outcome().output.isEmpty)
        }
    }

    @Test func withoutReconnectASilentServerIsAFailure() async throws {
        try await withPeer { peer in
            let client = try ToolProcess(["connect", "--heartbeat", "0.05/0.2:ping=pong", peer.address], input: .typed)
            let outcome = try await client.outcome()
            #expect(outcome.status == 1)
            #expect(outcome.errors.last?.hasPrefix("lifeline: heartbeat missed: ") == true, "\(outcome.errors)")
        }
    }

    @Test func beatsThatExpectNothing() async throws {
        try await withPeer { peer in
            let client = try ToolProcess(["connect", "--heartbeat", "0+0.05:{\"data\":\"alive\"}", peer.address], input: .typed)
            for _ in 0..<3 { #expect(await peer.line() == "{\"data\":\"alive\"}") }
            try client.endInput()
            await peer.server.shutdown(within: .seconds(5))
            #expect(try await client.outcome().status == 0)
        }
    }

    /// Each ping has a serial of its own, and the answer is the one that has it, too.
    @Test func requestsWithSerialsAreBeats() async throws {
        let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: .requestHeader)
        let (events, event) = AsyncStream.makeStream(of: Bool.self)
        async let running: Void = server.run { connection in
            for serial: Int32 in 1...3 {
                let ping = try #require(try await connection.next())
                #expect(ping == Packet(header: RequestHeader(serial: serial, command: 9), body: []))
                try await connection.send(ping)
            }
            let ping = Packet(header: RequestHeader(serial: 77, command: 8), body: Bytes("hello"))
            try await connection.send(ping)
            while let answer = try await connection.next() {
                if answer.header.command == 9 { continue }
                event.yield(answer == ping)
                break
            }
            while try await connection.next() != nil {}
        }
        let options = ["--codec", "request-header", "--heartbeat", "0.02/5:command=9\\t", "--answer", "command=8\\t"]
        let client = try ToolProcess(["connect", "--reconnect", "--verbose"] + options + ["\(server.endpoint)"], input: .typed)
        for await isRight in events {
            #expect(isRight)
            break
        }
        client.interrupt()
        let outcome = try await client.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains { $0.hasPrefix("the last ping was answered after ") }, "\(outcome.errors)")
        await server.shutdown(within: .seconds(5))
        try await running
    }

    @Test func aServerAnswersPings() async throws {
        let (server, endpoint) = try await serve(["--answer", "ping=pong", "--answer", "are you there=yes", "--ignore", "alive"])
        let client = try await Connection.connect(to: Endpoint(endpoint), codec: .lines, within: .seconds(60))
        for line in ["alive", "ping", "hello", "are you there"] { try await client.send(line) }
        #expect(try await client.next() == "pong")
        #expect(try await client.next() == "yes")
        await client.close(within: .seconds(60))
        let outcome = try await stop(server)
        #expect(outcome.text.hasSuffix("] hello\n"), "\(outcome.text)")
        #expect(outcome.text.split(separator: "\n").count == 1, "\(outcome.text)")
    }

    @Test func aServerEndsSilentClients() async throws {
        let (server, endpoint) = try await serve(["--idle", "0.2"])
        let client = try await Connection.connect(to: Endpoint(endpoint), codec: .lines, within: .seconds(60))
        #expect(await server.note(with: "timed out: ") != nil)
        client.closeNow()
        try await stop(server)
    }
}
