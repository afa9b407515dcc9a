import Glibc
import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// This library's TLS server and openssl's s_client.
@Suite(.enabled(if: PeerKind.openssl.isTested, "openssl isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct OpenSSLClientTests {
    static let versions = OpenSSLServerTests.versions

    /// Echoes lines, and tells what was agreed on when the end has come.
    private func echo(_ sights: Mailbox<TLSInfo>) -> @Sendable (Connection<LineCodec>) async throws -> Void {
        { connection in
            while let line = try await connection.frame() { try await connection.send(line) }
            sights.put(try await connection.tls)
        }
    }

    @Test("Lines come and go back, and both ends are announced", arguments: versions)
    func lines(option: String, version: TLSVersion) async throws {
        let server = try await bindSecured(.lines)
        let sights = Mailbox<TLSInfo>()
        try await serving(server, echo(sights)) {
            let checking = [option, "-servername", "localhost", "-verify_return_error", "-verify_hostname", "localhost"]
            try await withOpenSSLClient(to: server.endpoint, checking) { peer in
                try await peer.hears("Verify return code: 0 (ok)")
                peer.tell("text é")
                try await peer.hears("text é")
                try await peer.quit()
                let sight = try await sights.next()
                #expect(sight.version == version)
                #expect(sight.serverName == "localhost")
                #expect(sight.peerEnd == .closeNotify)
                #expect(sight.peerCertificates.isEmpty && !sight.isResumed && sight.applicationProtocol == nil)
            }
        }
        // This side's end first: the client says "closed" of one that was announced, and something else of another.
        let greeter = try await bindSecured(.lines)
        try await serving(greeter, { try await $0.send("text and the end") }) {
            try await withOpenSSLClient(to: greeter.endpoint, [option]) { peer in
                try await peer.hears("text and the end")
                try await peer.hears("closed")
                #expect(try await peer.process.status() == 0)
            }
        }
    }

    @Test("The certificate is the one for the name that is asked for", arguments: versions)
    func names(option: String, version: TLSVersion) async throws {
        let server = try await bindSecured(.lines) { settings in
            settings.identities = ["a.test": try TLSFile.identity("a"), "*.b.test": try TLSFile.identity("b")]
        }
        try await serving(server, echo(Mailbox())) {
            let asked = [("a.test", "a.test"), ("A.TEST", "a.test"), ("x.b.test", "b.test"), ("b.test", "localhost"), ("", "localhost")]
            for (name, subject) in asked {
                let words = name.isEmpty ? ["-noservername"] : ["-servername", name]
                try await withOpenSSLClient(to: server.endpoint, [option] + words) { peer in
                    let line = try await peer.hears("subject=")
                    #expect(line.hasSuffix("CN = \(subject)"), "asked for \(name)")
                    try await peer.quit()
                }
            }
        }
    }

    @Test("The application protocol is this side's best of those that both speak, or there is no connection", arguments: versions)
    func applicationProtocols(option: String, version: TLSVersion) async throws {
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(.lines, errors: errors) { $0.applicationProtocols = ["chat/2", "chat/1"] }
        try await serving(server, echo(Mailbox())) {
            try await withOpenSSLClient(to: server.endpoint, [option, "-alpn", "chat/1,chat/2"]) { peer in
                try await peer.hears("ALPN protocol: chat/2")
                try await peer.quit()
            }
            try await withOpenSSLClient(to: server.endpoint, [option]) { peer in
                try await peer.hears("No ALPN negotiated")
                try await peer.quit()
            }
            try await withOpenSSLClient(to: server.endpoint, [option, "-alpn", "other"]) { peer in
                try await peer.hears("SSL alert number 120")
                let error = try await errors.next()
                #expect(error.code == .handshakeFailed)
                #expect(error.tls?.kind == .noCommonProtocol)
            }
        }
    }

    @Test("Certificates of clients: known, unknown and none, where one is required and where one is only asked for", arguments: versions)
    func clientCertificates(option: String, version: TLSVersion) async throws {
        let trust = TLSTrust.authorities(atPath: TLSFile.authority)
        let known = [option, "-cert", TLSFile.certificate("client"), "-key", TLSFile.key("client")]
        let unknown = [option, "-cert", TLSFile.certificate("other-client"), "-key", TLSFile.key("other-client")]
        for isRequired in [true, false] {
            let errors = Mailbox<SocketError>()
            let sights = Mailbox<TLSInfo>()
            let server = try await bindSecured(.lines, errors: errors) { settings in
                settings.clientCertificates = isRequired ? .required(trust) : .optional(trust)
            }
            try await serving(server, echo(sights)) {
                for words in [known] + (isRequired ? [] : [[option]]) {
                    try await withOpenSSLClient(to: server.endpoint, words) { peer in
                        peer.tell("text")
                        try await peer.hears("text")
                        try await peer.quit()
                        let certificates = try await sights.next().peerCertificates
                        #expect(certificates.first?.subject.contains("CN=client") == (words == known ? true : nil))
                    }
                }
                for (words, kind) in [(unknown, TLSError.Kind.unknownIssuer)] + (isRequired ? [([option], .missingCertificate)] : []) {
                    try await withOpenSSLClient(to: server.endpoint, words) { peer in
                        // That of TLS 1.3 has a word for a missing certificate; before, it was a failed handshake like any other.
                        let alert = kind == .unknownIssuer ? "48" : version == .tls13 ? "116" : "40"
                        try await peer.hears("SSL alert number \(alert)")
                        let error = try await errors.next()
                        #expect(error.code == .certificateRefused)
                        #expect(error.tls?.kind == kind)
                    }
                }
            }
        }
    }

    @Test("No common version, and none that is too old")
    func versionTooOld() async throws {
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(.lines, errors: errors) { $0.minimumVersion = .tls13 }
        let usual = try await bindSecured(.lines, errors: errors)
        try await serving([server, usual], echo(Mailbox())) {
            let old = ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"]
            for (endpoint, words) in [(server.endpoint, ["-tls1_2"]), (usual.endpoint, old)] {
                try await withOpenSSLClient(to: endpoint, words) { peer in
                    try await peer.hears("SSL alert number 70")
                    let error = try await errors.next()
                    #expect(error.code == .handshakeFailed)
                    #expect(error.tls?.kind == .noCommonVersion)
                }
            }
        }
    }

    @Test("New keys in the middle of traffic change nothing for it")
    func keyUpdate() async throws {
        let server = try await bindSecured(.lines)
        let lines = Mailbox<String>()
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            async let ticks: Void = {
                for number in 0..<3000 { try await connection.send("tick \(number)") }
            }()
            while let line = try await connection.frame() {
                lines.put(line)
                if line == "text last" { break }
            }
            try await ticks
            try await connection.send("end of ticks")
        }
        try await serving(server, handler) {
            try await withOpenSSLClient(to: server.endpoint, ["-tls1_3"]) { peer in
                for round in 0..<5 {
                    // K asks for the other side's new keys, too; k doesn't.
                    for command in ["K", "k"] {
                        for number in 0..<50 { peer.tell("text \(round) \(command) \(number)") }
                        for number in 0..<50 { #expect(try await lines.next() == "text \(round) \(command) \(number)") }
                        peer.tell(command)
                        try await peer.hears("KEYUPDATE")
                    }
                }
                peer.tell("text last")
                #expect(try await lines.next() == "text last")
                try await peer.hears("end of ticks")
                try await peer.hears("closed")
            }
        }
    }

    @Test("A client goes on with its session, unless it isn't to", arguments: versions)
    func resumption(option: String, version: TLSVersion) async throws {
        for resumes in [true, false] {
            let server = try await bindSecured(.lines) { $0.resumesSessions = resumes }
            let sights = Mailbox<TLSInfo>()
            try await serving(server, echo(sights)) {
                let folder = try TemporaryFolder()
                defer { folder.remove() }
                let session = folder.path("session")
                for (words, isResumed) in [(["-sess_out", session], false), (["-sess_in", session], resumes)] {
                    // One that was never written: then there is nothing to go on with.
                    if words[0] == "-sess_in", !folder.holds("session") { continue }
                    try await withOpenSSLClient(to: server.endpoint, [option] + words) { peer in
                        let line = try await peer.hears(", Cipher is ")
                        #expect(line.hasPrefix(isResumed ? "Reused" : "New"))
                        peer.tell("text")
                        try await peer.hears("text")
                        try await peer.quit()
                        let sight = try await sights.next()
                        #expect(sight.isResumed == isResumed)
                        #expect(sight.version == version)
                    }
                }
                #expect(folder.holds("session") || !resumes)
            }
        }
    }

    @Test("C88: kill -9 of the client is an end that nobody has announced", arguments: versions)
    func kill9(option: String, version: TLSVersion) async throws {
        let server = try await bindSecured(.lines)
        let sights = Mailbox<TLSInfo>()
        try await serving(server, echo(sights)) {
            try await withOpenSSLClient(to: server.endpoint, [option]) { peer in
                peer.tell("text")
                try await peer.hears("text")
                peer.kill9()
                #expect(try await sights.next().peerEnd == .unannounced)
            }
        }
        let errors = Mailbox<SocketError>()
        let raw = try await bindSecured(.raw, errors: errors)
        try await serving(raw, { while let bytes = try await $0.frame() { try await $0.send(bytes) } }) {
            try await withOpenSSLClient(to: raw.endpoint, [option]) { peer in
                peer.tell("text")
                try await peer.hears("text")
                peer.kill9()
                #expect(try await errors.next().code == .truncated)
            }
        }
    }

    @Test("A client that wants to negotiate anew isn't followed, and the server goes on")
    func renegotiation() async throws {
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(.lines, errors: errors)
        try await serving(server, echo(Mailbox())) {
            let other = try await Connection.secured(to: server.endpoint, codec: .lines)
            try await other.expectEcho("before")
            try await withOpenSSLClient(to: server.endpoint, ["-tls1_2"]) { peer in
                peer.tell("text")
                try await peer.hears("text")
                peer.tell("R")
                try await peer.hears("RENEGOTIATING")
                try await peer.hears("no renegotiation")
            }
            try await other.expectEcho("behind")
            await other.close()
        }
    }
}
