import Foundation
import Lifeline
import LifelineTLS
import Testing

/// `serve` and `connect` with TLS, as peers of each other.
@Suite(.timeLimit(.minutes(5)))
struct TLSTests {
    @Test func linesComeBackAndWhatWasAgreedOnIsTold() async throws {
        let (server, endpoint) = try await serve(certified("server") + ["--echo", "--verbose", "--tls-alpn", "chat/2,chat/1"], tls: true)
        #expect(endpoint.hasPrefix("tls://127.0.0.1:"))
        let options = ["--verbose", "--tls-ca", file("ca.pem"), "--tls-name", "localhost", "--tls-alpn", "chat/1", "--tls-min", "1.3"]
        let outcome = try await connect(options, to: endpoint, typing: "one\\ntwo\\n")
        #expect(outcome.status == 0)
        #expect(outcome.text == "one\ntwo\n")
        let agreed =
            #/connected: 127\.0\.0\.1:\d+ to 127\.0\.0\.1:\d+; TLS 1\.3, TLS_[A-Z0-9_]+, ALPN chat/1, asked for localhost, peer .*CN=localhost.*/#
        #expect(outcome.errors.first?.wholeMatch(of: agreed) != nil, "\(outcome.errors)")
        #expect(outcome.errors.last?.hasPrefix("ended: closed by peer") == true, "\(outcome.errors)")
        let note = await server.note("connected: ")
        #expect(note?.contains("; TLS 1.3, ") == true && note?.contains(", ALPN chat/1, ") == true, "\(note ?? "nothing")")
        #expect(note?.hasSuffix(", asked for localhost, peer without a certificate") == true, "\(note ?? "nothing")")
        try await stop(server)
    }

    @Test func aMegabyteComesBack() async throws {
        let (server, endpoint) = try await serve(certified("ec") + ["--echo"], tls: true)
        let script = "seq 150000 | \"$0\" connect --tls-ca '\(file("ca.pem"))' \(endpoint) | cksum; seq 150000 | cksum"
        let outcome = try await ToolProcess.run([], script: script)
        let sums = outcome.text.split(separator: "\n")
        #expect(sums.count == 2 && sums[0] == sums[1], "\(outcome.text)")
        #expect(outcome.errors.isEmpty)
        try await stop(server)
    }

    @Test func aUnixSocketIsProtectedToo() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)").path
        let server = try ToolProcess(["serve", "--tls", "--echo"] + certified("server") + ["unix://\(path)"])
        #expect(await server.note("listening at ") == "unix://\(path)")
        let options = ["--tls", "--tls-ca", file("ca.pem"), "--tls-name", "localhost"]
        #expect(try await connect(options, to: "unix://\(path)").text == "hello\n")
        try await stop(server)
    }

    /// What the client says when it doesn't accept the server: one line, with the reason and the certificate.
    @Test(arguments: [
        ("expired", [], "expired"), ("notyet", [], "not yet valid"), ("other", [], "unknown issuer"), ("selfsigned", [], "self-signed"),
        ("a", [], "wrong host"), ("clientonly", [], "wrong purpose"), ("server", ["--tls-name", "chat.example.org"], "wrong host"),
    ])
    func aServerIsRefusedWithTheReason(certificate: String, options: [String], reason: String) async throws {
        let (server, endpoint) = try await serve(certified(certificate), tls: true)
        let outcome = try await connect(["--tls-ca", file("ca.pem")] + options, to: endpoint)
        #expect(outcome.status == 1)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.count == 1, "\(outcome.errors)")
        let line = try #require(outcome.errors.first)
        #expect(
            line.hasPrefix("lifeline: certificate refused: ") && line.contains(" <- \(reason): ") && line.contains("O=Lifeline"), "\(line)")
        // The server hears of it, and serves on.
        #expect(await server.note("refused: ") != nil)
        try await stop(server)
    }

    @Test func theKeyIsEnoughForWhoKnowsIt() async throws {
        let (server, endpoint) = try await serve(certified("selfsigned") + ["--echo"], tls: true)
        let (right, wrong) = (try pin("selfsigned"), try pin("server"))
        for pins in [["--tls-pin", right], ["--tls-pin", wrong, "--tls-pin", right]] {
            #expect(try await connect(pins, to: endpoint).text == "hello\n")
        }
        for options in [["--tls-pin", wrong], ["--tls-pin", wrong, "--tls-ca", file("selfsigned.pem")]] {
            let outcome = try await connect(options, to: endpoint)
            #expect(outcome.status == 1 && outcome.errors.count == 1 && outcome.errors[0].contains(" <- not pinned: "), "\(outcome.errors)")
        }
        let insecure = try await connect(["--tls-insecure"], to: endpoint)
        #expect(insecure.text == "hello\n")
        #expect(insecure.errors == ["nobody is verified: whoever is on the way can read and change everything"])
        try await stop(server)
    }

    @Test func clientsShowCertificates() async throws {
        let options = ["--verbose", "--echo", "--tls-client", "required", "--tls-ca", file("ca.pem")]
        let (server, endpoint) = try await serve(certified("server") + options, tls: true)
        let trust = ["--tls-ca", file("ca.pem")]
        #expect(try await connect(trust + certified("client"), to: endpoint).text == "hello\n")
        #expect(await server.note("connected: ")?.contains("peer CN=client") == true)

        let nobody = try await connect(trust, to: endpoint)
        #expect(nobody.status == 1 && nobody.errors.last?.contains("certificate required") == true, "\(nobody.errors)")
        #expect(await server.note("refused: ")?.contains("missing certificate") == true)
        let stranger = try await connect(trust + certified("other-client"), to: endpoint)
        #expect(stranger.status == 1 && stranger.errors.last?.contains("refused by the peer") == true, "\(stranger.errors)")
        #expect(await server.note("refused: ")?.contains("unknown issuer") == true)
        try await stop(server)
    }

    @Test func clientsWithoutACertificateAreServedWhereItIsOptional() async throws {
        let options = ["--echo", "--tls-client", "optional", "--tls-pin", try pin("client")]
        let (server, endpoint) = try await serve(certified("server") + options, tls: true)
        let trust = ["--tls-ca", file("ca.pem")]
        #expect(try await connect(trust, to: endpoint).text == "hello\n")
        #expect(try await connect(trust + certified("client"), to: endpoint).text == "hello\n")
        // With TLS 1.3 a client is through before the server has seen its certificate.
        #expect(try await connect(trust + certified("other-client"), to: endpoint).output.isEmpty)
        #expect(await server.note("refused: ")?.contains("not pinned") == true)
        try await stop(server)
    }

    @Test func thereIsNoCommonProtocol() async throws {
        let (server, endpoint) = try await serve(certified("server") + ["--tls-alpn", "chat/2"], tls: true)
        let outcome = try await connect(["--tls-ca", file("ca.pem"), "--tls-alpn", "chat/1"], to: endpoint)
        #expect(outcome.status == 1)
        #expect(outcome.errors.count == 1 && outcome.errors[0].contains("no common protocol"), "\(outcome.errors)")
        try await stop(server)
    }

    @Test func plainTextIsNotTLS() async throws {
        let (server, endpoint) = try await serve(certified("server"), tls: true)
        let plain = endpoint.replacingOccurrences(of: "tls://", with: "tcp://")
        _ = try await connect([], to: plain)
        #expect(await server.note("refused: ")?.contains("not TLS") == true)
        try await stop(server)

        let greeter = try await Server.bind(.tcp("127.0.0.1", 0), codec: .raw)
        async let running: Void = greeter.run { connection in
            try await connection.send(Bytes("220 welcome\n"))
            while try await connection.next() != nil {}
        }
        let outcome = try await connect(["--tls"], to: "\(greeter.endpoint)")
        #expect(outcome.status == 1)
        #expect(outcome.errors.count == 1 && outcome.errors[0].contains("not TLS"), "\(outcome.errors)")
        await greeter.shutdown(within: .zero)
        try await running
    }

    @Test func theCertificateFollowsTheName() async throws {
        let names = ["--tls-sni", "a.test=\(file("a.pem")),\(file("a.key"))", "--tls-sni", "b.test=\(file("b.pem")),\(file("b.key"))"]
        let (server, endpoint) = try await serve(certified("server") + names + ["--echo"], tls: true)
        for name in ["a.test", "b.test", "chat.example.com"] {
            #expect(try await connect(["--tls-ca", file("ca.pem"), "--tls-name", name], to: endpoint).text == "hello\n")
        }
        try await stop(server)
    }

    @Test func anEncryptedKeyIsReadWithThePassphraseOfAFile() async throws {
        let options = ["--echo", "--tls-cert", file("server.pem"), "--tls-key", file("encrypted.key"), "--tls-passphrase-file"]
        let passphrase = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: passphrase) }
        try Data("secret\nnot this\n".utf8).write(to: passphrase)
        let (server, endpoint) = try await serve(options + [passphrase.path], tls: true)
        #expect(try await connect(["--tls-ca", file("ca.pem")], to: endpoint).text == "hello\n")
        try await stop(server)

        try Data("guess\n".utf8).write(to: passphrase)
        let outcome = try await ToolProcess.run(["serve"] + options + [passphrase.path, "tls://127.0.0.1:0"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.count == 1 && outcome.errors[0].hasPrefix("lifeline: invalid setting: "), "\(outcome.errors)")
        #expect(outcome.errors.allSatisfy { !$0.contains("guess") && !$0.contains("secret") })
    }

    @Test func theSecretsAreLoggedWhereThatIsAskedFor() async throws {
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let (server, endpoint) = try await serve(certified("server") + ["--echo"], tls: true)
        #expect(try await connect(["--tls-ca", file("ca.pem"), "--tls-keylog", log.path], to: endpoint).text == "hello\n")
        #expect(try String(contentsOf: log, encoding: .utf8).contains("CLIENT_TRAFFIC_SECRET_0 "))
        try await stop(server)
    }

    @Test func certificatesAreReadAgainAtAHangUp() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (certificate, key) = (folder.appendingPathComponent("cert.pem"), folder.appendingPathComponent("key.pem"))
        func install(_ name: String) throws {
            try Data(contentsOf: URL(fileURLWithPath: file("\(name).pem"))).write(to: certificate)
            try Data(contentsOf: URL(fileURLWithPath: file("\(name).key"))).write(to: key)
        }
        try install("expired")
        let (server, endpoint) = try await serve(["--echo", "--tls-cert", certificate.path, "--tls-key", key.path], tls: true)
        let trust = ["--tls-ca", file("ca.pem")]
        #expect(try await connect(trust, to: endpoint).errors.first?.contains("expired") == true)
        try install("server")
        server.hangUp()
        #expect(await server.note("new connections get ")?.contains("CN=localhost") == true)
        let client = try ToolProcess(["connect"] + trust + [endpoint], input: .typed)
        try client.type("hello\n")
        try Data("nothing\n".utf8).write(to: certificate)
        server.hangUp()
        #expect(await server.note("the certificates stay as they were: ")?.contains("invalid setting") == true)
        #expect(try await connect(trust, to: endpoint).text == "hello\n")
        try client.type("still here\n")
        try client.endInput()
        #expect(try await client.outcome().text == "hello\nstill here\n")
        try await stop(server)
    }

    @Test func anEndThatNobodyHasSaidIsTold() async throws {
        let (server, endpoint) = try await serve(certified("server") + ["--verbose"], tls: true)
        let client = try ToolProcess(["connect", "--verbose", "--tls-ca", file("ca.pem"), endpoint], input: .typed)
        #expect(await client.note("connected: ") != nil)
        #expect(await server.note("connected: ") != nil)
        server.kill()
        let outcome = try await client.outcome()
        #expect(outcome.errors.last == "the peer hasn't said that this was its end: some may be missing", "\(outcome.errors)")
        #expect(try await server.outcome().status == -SIGKILL)
    }

    @Test func aLinkComesBack() async throws {
        let (server, endpoint) = try await serve(certified("server") + ["--echo"], tls: true)
        let options = ["--reconnect=exponential:0.05,0.2", "--verbose", "--tls-ca", file("ca.pem")]
        let client = try ToolProcess(["connect"] + options + [endpoint], input: .typed)
        #expect(await client.note("connected: ")?.contains("; TLS 1.3, ") == true)
        try await stop(server)
        #expect(await client.note(with: "  waiting ") != nil)
        try client.type("hello\n")
        let successor = try ToolProcess(["serve", "--echo"] + certified("server") + [endpoint])
        #expect(await successor.note("listening at ") == endpoint)
        #expect(await client.note("connected: ")?.contains("; TLS 1.3, ") == true)
        try await stop(successor)
        #expect(await client.note(with: "  waiting ") != nil)
        client.interrupt()
        let outcome = try await client.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.text == "hello\n")
    }

    /// The server lets a silent client go; the client goes on with its session.
    @Test func aLinkGoesOnWithItsSession() async throws {
        let (server, endpoint) = try await serve(certified("server") + ["--idle", "0.2"], tls: true)
        let options = ["--reconnect=at-once", "--verbose", "--tls-ca", file("ca.pem")]
        let client = try ToolProcess(["connect"] + options + [endpoint], input: .typed)
        #expect(await client.note(with: ", resumed")?.hasPrefix("connected: ") == true)
        client.interrupt()
        #expect(try await client.outcome().status == 0)
        try await stop(server)
    }

    @Test func aRefusedCertificateStopsALink() async throws {
        let (server, endpoint) = try await serve(certified("expired"), tls: true)
        let outcome = try await connect(["--reconnect", "--tls-ca", file("ca.pem")], to: endpoint)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains { $0.contains("  stopped: ") && $0.contains("expired") }, "\(outcome.errors)")
        try await stop(server)
    }

    private let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("LifelineTLSTests/Certificates")

    private func file(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func certified(_ name: String) -> [String] { ["--tls-cert", file("\(name).pem"), "--tls-key", file("\(name).key")] }

    private func pin(_ name: String) throws -> String {
        try TLSIdentity(certificatesAtPath: file("\(name).pem"), keyAtPath: file("\(name).key")).certificate.publicKeyHash
    }

    /// Types lines and ends.
    private func connect(_ options: [String], to endpoint: String, typing text: String = "hello\\n") async throws -> ToolProcess.Outcome {
        try await ToolProcess.run(options, script: "printf '\(text)' | \"$0\" connect \"$@\" '\(endpoint)'")
    }
}
