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
        // An outage, and a silence.
        for words in [
            "Fay     is        waiting", "Fay     is        connecting, attempt 2", ": refused: ", "Fay     gets      “are you back?”",
            "server  reads     “ping”, and says nothing", ": heartbeat missed: ", "Fay     knows     that the way there",
            "Fay     is        stopped: stopped by the user",
        ] { #expect(outcome.text.contains(words), "\(words)") }
        #expect(outcome.text.components(separatedBy: "Fay     is        connected").count == 5)
        // TLS.
        for words in [
            "Gus     connects  TLS 1.3, TLS_", ", ALPN demo/1, ", "Gus     waits     with ", "Hal     refuses   self-signed: ",
            "Ida     refuses   wrong host: ", "Jon     refuses   not pinned: ", "Kim     gets      “go ahead”",
            "Kim     speaks    TLS 1.3, ", "Kim     gets      “and nobody this”",
        ] { #expect(outcome.text.contains(words), "\(words)") }
        #expect(!outcome.text.contains("\u{1B}"), "colours are for terminals")
        #expect(outcome.errors.isEmpty)
    }

    @Test(arguments: [
        ["--help"], ["help"], ["help", "serve"], ["demo", "--help"], ["serve", "-h"], ["connect", "--codec", "raw", "--help"],
        ["decode", "--help"], ["help", "decode"],
    ])
    func helpIsPrinted(arguments: [String]) async throws {
        let outcome = try await ToolProcess.run(arguments)
        #expect(outcome.status == 0)
        #expect(outcome.text.contains("usage: lifeline"))
        #expect(outcome.errors.isEmpty)
    }

    /// Help and what is understood come from one table.
    @Test func eachCodecThatHelpNamesIsUnderstood() async throws {
        let help = try await ToolProcess.run(["decode", "--help"]).text
        let list = try #require(help.components(separatedBy: "\ncodecs:\n").last?.components(separatedBy: "\n\n").first)
        let codecs = list.split(separator: "\n").filter { !$0.hasPrefix("   ") }.compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
        #expect(codecs.count >= 16)
        #expect(Set(codecs).isSuperset(of: ["line", "netstring", "tlv:1:2be", "json-header", "type-header", "request-header:be", "raw"]))
        for codec in codecs {
            let outcome = try await ToolProcess.run(["decode", "--codec", codec, "/dev/null"])
            #expect(outcome.status == 0, "\(codec): \(outcome.errors)")
        }
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
        (["connect", "a:1", "--codec=length:5"], "unknown codec length:5: write it like length:4be"),
        (["connect", "a:1", "--codec=fixed:0"], "unknown codec fixed:0: write it like fixed:16"),
        (["connect", "a:1", "--codec=delimiter:\\q"], "unknown codec delimiter:\\q"),
        (["connect", "a:1", "--codec=line:lf"], "unknown codec line:lf"),
        (["connect", "a:1", "--codec=tlv:3:1"], "unknown codec tlv:3:1"),
        (["connect", "a:1", "--header=1", "--codec=netstring"], "--header means nothing with --codec netstring"),
        (["connect", "a:1", "--drop", "--codec=length:1"], "--drop means nothing with --codec length:1"),
        (["connect", "a:1", "--skip=1"], "--skip means nothing with --codec line"),
        (["connect", "a:1", "--codec=type-header", "--header=x"], "--header takes MAIN/SUB or MAIN"),
        (["connect", "a:1", "--unfinished", "0"], "--unfinished takes a number of seconds, not 0"),
        (["decode"], "no file: name one, or - for standard input; see lifeline decode --help"),
        (["decode", "a", "b"], "one file is enough: b is one too many"),
        (["decode", "a", "--header", "1"], "unknown option --header; see lifeline decode --help"),
        (["decode", "a", "--max", "3", "--codec", "fixed:3"], "--max means nothing with --codec fixed:3"),
        (["connect", "a:1", "--within", "soon"], "--within takes a number of seconds, not soon"),
        (["connect", "a:b"], "the port of “a:b” isn't a number"),
        (["connect", "memory://a"], "memory://a exists within one process only"),
        (["demo", "now"], "demo takes no now"),
        (["serve", "--reconnect"], "unknown option --reconnect"),
        (["connect", "a:1", "--reconnect=soon"], "--reconnect takes delays in seconds such as 0,2,6, or every:50, at-once or exponential"),
        (["connect", "a:1", "--reconnect=0,x"], "--reconnect takes delays"),
        (["connect", "a:1", "--reconnect=every:-1"], "--reconnect takes delays"),
        (["connect", "--reconnect", "0,2,6", "a:1"], "write it --reconnect=0,2,6"),
        (["connect", "a:1", "--attempts", "3"], "--attempts means nothing without --reconnect"),
        (["connect", "a:1", "--offline", "fail"], "--offline means nothing without --reconnect"),
        (["connect", "a:1", "--reconnect", "--attempts", "0"], "--attempts takes a number of attempts, not 0"),
        (["connect", "a:1", "--reconnect", "--offline", "keep"], "--offline takes wait, fail, keep:COUNT or drop-oldest:COUNT, not keep"),
        (["connect", "a:1", "--heartbeat", "often"], "--heartbeat takes SECONDS:BEAT, 0+SECONDS:BEAT or SECONDS/SECONDS:PING=PONG"),
        (["connect", "a:1", "--heartbeat", "0:x"], "--heartbeat takes SECONDS:BEAT"),
        (["connect", "a:1", "--heartbeat", "5/0:x=y"], "--heartbeat takes SECONDS:BEAT"),
        (["connect", "a:1", "--heartbeat", "5/3:ping"], "--heartbeat needs the answer, too: ping=PONG"),
        (["connect", "a:1", "--heartbeat", "5:\\q"], "--heartbeat: unknown escape in “\\q”"),
        (["connect", "a:1", "--heartbeat", "5:x", "--codec", "fixed:3"], "--heartbeat: "),
        (["connect", "a:1", "--heartbeat", "5:x", "--codec", "raw"], "--heartbeat means nothing with --codec raw"),
        (["connect", "a:1", "--heartbeat", "5:x=1\\t", "--codec", "request-header"], "--heartbeat: “x=1” isn't a header"),
        (["serve", "--answer", "ping"], "--answer needs the answer, too: ping=PONG"),
        (["connect", "a:1", "--tls-ca", "ca.pem"], "--tls-ca means nothing without --tls or a tls:// endpoint"),
        (["serve", "tls://127.0.0.1:0"], "with TLS a server needs a certificate: --tls-cert FILE --tls-key FILE, such as “openssl req "),
        (["serve", "--tls"], "with TLS a server needs a certificate"),
        (["serve", "--tls", "--tls-cert", "c", "--tls-ca", "ca.pem"], "--tls-ca means nothing without --tls-client"),
        (["serve", "--tls", "--tls-cert", "c", "--tls-client", "required"], "--tls-client needs --tls-ca or --tls-pin, too"),
        (["serve", "--tls", "--tls-cert", "c", "--tls-client", "some"], "--tls-client takes required or optional, not some"),
        (["serve", "--tls", "--tls-cert", "c", "--tls-sni", "a=b,"], "--tls-sni takes NAME=CERT,KEY, not a=b,"),
        (["serve", "--tls", "--tls-insecure"], "unknown option --tls-insecure"),
        (["connect", "tls://a:1", "--tls-client", "required"], "unknown option --tls-client"),
        (["connect", "tls://a:1", "--tls-pin", "abc"], "--tls-pin takes the SHA-256 of a public key in Base64, 44 characters, not abc"),
        (["connect", "tls://a:1", "--tls-alpn", "a,,b"], "--tls-alpn takes names of protocols such as chat/2,chat/1, not a,,b"),
        (["connect", "tls://a:1", "--tls-min", "1.1"], "--tls-min takes 1.2 or 1.3, not 1.1"),
        (["connect", "tls://a:1", "--tls-key", "k"], "--tls-key means nothing without --tls-cert"),
        (["connect", "tls://a:1", "--tls-passphrase-file", "k"], "--tls-passphrase-file means nothing without --tls-cert"),
        (["connect", "tls://a:1", "--tls-insecure", "--tls-ca", "c"], "--tls-insecure takes any certificate: leave out --tls-ca"),
        (["connect", "--tls", "unix:///a"], "--tls-name is needed: a Unix socket has no name that a certificate could be for"),
        (["serve", "--idle", "0"], "--idle takes a number of seconds, not 0"),
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
