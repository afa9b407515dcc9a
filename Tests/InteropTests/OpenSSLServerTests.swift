import Glibc
import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// This library's TLS client and openssl's s_server.
@Suite(.enabled(if: PeerKind.openssl.isTested, "openssl isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct OpenSSLServerTests {
    /// Options of openssl's for the versions, and their names there.
    static let versions: [(option: String, version: TLSVersion)] = [("-tls1_2", .tls12), ("-tls1_3", .tls13)]

    @Test("Lines go there and back, and both ends are announced", arguments: versions)
    func lines(option: String, version: TLSVersion) async throws {
        try await withOpenSSLServer("server", [option]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            let tls = try await connection.tls
            #expect(tls.version == version)
            #expect(tls.serverName == "localhost")
            #expect(tls.applicationProtocol == nil && !tls.isResumed)
            #expect(tls.peerCertificates.map(\.subject).first?.contains("CN=localhost") == true)
            #expect(tls.peerCertificates.first?.names.contains("127.0.0.1") == true)
            try await connection.send("text from here é")
            try await peer.hears("text from here é")
            peer.tell("text from there é")
            #expect(try await connection.frame() == "text from there é")
            // This side's end: of one that wasn't announced the peer would say ERROR.
            #expect(await connection.close(within: outerLimit))
            try await peer.hears("DONE")
            #expect(try await connection.tls.peerEnd == .closeNotify)
        }
        // The peer's end; with this option it sends lines back in reverse, and closes in good order when it is told to by one.
        try await withOpenSSLServer("server", [option, "-rev"]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            try await connection.send("abc")
            #expect(try await connection.frame() == "cba")
            try await connection.send("CLOSE")
            try await connection.expectAnnouncedEnd()
            #expect(await connection.close(within: outerLimit))
        }
    }

    @Test("An IP address is checked, and isn't asked for as a name")
    func address() async throws {
        try await withOpenSSLServer { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) { $0.serverName = nil }
            #expect(try await connection.tls.serverName == nil)
            await connection.close()
        }
    }

    @Test("The certificate is the one for the name that was asked for", arguments: versions)
    func names(option: String, version: TLSVersion) async throws {
        let other = ["-servername", "a.test", "-cert2", TLSFile.certificate("a"), "-key2", TLSFile.key("a")]
        try await withOpenSSLServer("server", [option] + other) { peer in
            for name in ["a.test", "localhost"] {
                let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) { $0.serverName = name }
                let tls = try await connection.tls
                #expect(tls.serverName == name)
                #expect(tls.peerCertificates.first?.names.contains(name) == true)
                await connection.close()
            }
        }
    }

    @Test("A name that the server doesn't know, and says so", arguments: versions)
    func unknownName(option: String, version: TLSVersion) async throws {
        let other = ["-servername", "a.test", "-servername_fatal", "-cert2", TLSFile.certificate("a"), "-key2", TLSFile.key("a")]
        try await withOpenSSLServer("server", [option] + other) { peer in
            let error = try await refusal(by: peer.endpoint)
            #expect(error.code == .handshakeFailed)
            #expect(error.tls?.kind == .unrecognizedName)
            #expect(error.tls?.alert == 112)
        }
    }

    @Test("The application protocol is one that both speak, or there is no connection", arguments: versions)
    func applicationProtocols(option: String, version: TLSVersion) async throws {
        try await withOpenSSLServer("server", [option, "-alpn", "chat/2,chat/1"]) { peer in
            for protocols in [["chat/1"], ["other", "chat/2"], ["chat/1", "chat/2"]] {
                let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) { $0.applicationProtocols = protocols }
                // The server's best of them.
                #expect(try await connection.tls.applicationProtocol == (protocols.contains("chat/2") ? "chat/2" : "chat/1"))
                await connection.close()
            }
            let error = try await refusal(by: peer.endpoint) { $0.applicationProtocols = ["other"] }
            #expect(error.code == .handshakeFailed)
            #expect(error.tls?.kind == .noCommonProtocol)
            #expect(error.tls?.alert == 120)
        }
        try await withOpenSSLServer("server", [option]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) { $0.applicationProtocols = ["chat/1"] }
            #expect(try await connection.tls.applicationProtocol == nil)
            await connection.close()
        }
    }

    @Test("A server that wants a certificate gets it, or says that it misses it or doesn't take it", arguments: versions)
    func clientCertificates(option: String, version: TLSVersion) async throws {
        let asking = [option, "-Verify", "1", "-verify_return_error", "-CAfile", TLSFile.authority]
        try await withOpenSSLServer("server", asking) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) {
                $0.identity = try TLSFile.identity("client")
            }
            try await connection.send("text of a known client")
            try await peer.hears("text of a known client")
            await connection.close()

            let missing = try await refusal(by: peer.endpoint)
            #expect(missing.code == .certificateRefused)
            #expect(missing.tls?.kind == .certificateRequired)
            let unknown = try await refusal(by: peer.endpoint) { $0.identity = try TLSFile.identity("other-client") }
            #expect(unknown.code == .certificateRefused)
            #expect(unknown.tls?.kind == .refusedByPeer)
            #expect(unknown.tls?.alert == 48)
        }
    }

    @Test("A server that only asks for a certificate takes none", arguments: versions)
    func optionalCertificate(option: String, version: TLSVersion) async throws {
        try await withOpenSSLServer("server", [option, "-verify", "1", "-CAfile", TLSFile.authority]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            try await connection.send("text of nobody")
            try await peer.hears("text of nobody")
            await connection.close()
        }
    }

    @Test("No common version, no common cipher suite")
    func nothingInCommon() async throws {
        try await withOpenSSLServer("server", ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"]) { peer in
            let version = try await refusal(by: peer.endpoint) { $0.minimumVersion = .tls13 }
            #expect(version.code == .handshakeFailed)
            #expect(version.tls?.kind == .noCommonVersion)
            let cipher = try await refusal(by: peer.endpoint) { $0.cipherSuites = ["ECDHE-RSA-AES256-GCM-SHA384"] }
            #expect(cipher.code == .handshakeFailed)
            #expect(cipher.tls?.kind == .noCommonCipher)
        }
    }

    @Test("New keys in the middle of traffic change nothing for it")
    func keyUpdate() async throws {
        try await withOpenSSLServer("server", ["-tls1_3"]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            async let sent: Void = {
                for number in 0..<3000 { try await connection.send("text \(number) from here") }
            }()
            for round in 0..<5 {
                // K asks for the other side's new keys, too; k doesn't.
                for command in ["K", "k"] {
                    peer.tell("text \(round)\(command)")
                    #expect(try await connection.frame() == "text \(round)\(command)")
                    peer.tell(command)
                    try await peer.hears("SSL_do_handshake -> 1")
                }
            }
            try await sent
            // In a line of its own, whatever was said in between.
            try await connection.send("")
            try await connection.send("last")
            try await peer.hears("last")
            peer.tell("text at the end")
            #expect(try await connection.frame() == "text at the end")
            #expect(await connection.close(within: outerLimit))
        }
    }

    @Test("A second connection goes on with the session of the first, unless it isn't to", arguments: versions)
    func resumption(option: String, version: TLSVersion) async throws {
        try await withOpenSSLServer("server", [option]) { peer in
            for (resumes, second) in [(true, true), (false, false)] {
                var settings = TLSClient.Settings(trust: .authorities(atPath: TLSFile.authority), serverName: "localhost")
                settings.resumesSessions = resumes
                let network = TLSNetwork(over: SystemNetwork(), client: try TLSClient(settings))
                for (number, isResumed) in [(1, false), (2, second), (3, second)] {
                    let connection = try await Connection.connect(to: peer.endpoint, codec: .lines, on: network, within: outerLimit)
                    let tls = try await connection.tls
                    #expect(tls.isResumed == isResumed, "connection \(number)")
                    #expect(tls.version == version)
                    #expect(tls.peerCertificates.first?.names.contains("localhost") == true)
                    // With TLS 1.3 the session comes behind the handshake.
                    try await connection.send("text \(number)")
                    try await peer.hears("text \(number)")
                    peer.tell("text \(number) back")
                    #expect(try await connection.frame() == "text \(number) back")
                    await connection.close()
                }
            }
        }
    }

    @Test("C88: kill -9 of the server: a whole frame arrives, and what ends by the end is truncated", arguments: versions)
    func kill9(option: String, version: TLSVersion) async throws {
        try await withOpenSSLServer("server", [option]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            peer.tell("text before the end")
            #expect(try await connection.frame() == "text before the end")
            peer.kill9()
            let rest = await connection.rest()
            #expect(rest.frames.isEmpty && rest.error == nil)
            #expect(connection.closeReason == .closedByPeer)
            #expect(try await connection.tls.peerEnd == .unannounced)
        }
        try await withOpenSSLServer("server", [option]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .raw)
            peer.tell("text")
            #expect(try await connection.frame() == Bytes("text\n"))
            peer.kill9()
            let rest = await connection.rest()
            #expect((rest.error as? SocketError)?.code == .truncated)
            #expect(try await connection.tls.peerEnd == .unannounced)
        }
    }

    @Test("A server that wants to negotiate anew isn't followed")
    func renegotiation() async throws {
        try await withOpenSSLServer("server", ["-tls1_2"]) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            try await connection.send("text before")
            try await peer.hears("text before")
            peer.tell("r")
            // It has heard of it, and gives up by an alert.
            try await peer.hears("no renegotiation")
            let rest = await connection.rest()
            #expect(rest.frames.isEmpty)
            #expect((rest.error as? SocketError)?.tls?.alert == 40)
            let next = try await Connection.secured(to: peer.endpoint, codec: .lines)
            try await next.send("text of the next")
            try await peer.hears("text of the next")
            await next.close()
        }
    }

    @Test("Plain text in the middle of it is an error, and never data")
    func plainTextInside() async throws {
        try await withOpenSSLServer { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            try await connection.send("text before")
            try await peer.hears("text before")
            peer.tell("P")
            let rest = await connection.rest()
            #expect(rest.frames.isEmpty)
            let error = try #require(rest.error as? SocketError)
            #expect(error.code == .protocolViolation)
            #expect([.notTLS, .protocolError].contains(error.tls?.kind))
        }
    }
}
