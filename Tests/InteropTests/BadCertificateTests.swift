import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// Certificates that have to be refused, and for the right reason.
@Suite(.enabled(if: PeerKind.openssl.isTested, "openssl isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct BadCertificateTests {
    /// Files of a server's certificate and key, what openssl has to be told to show it, and what this side says about it.
    struct Case: Sendable, CustomTestStringConvertible {
        let certificate: String
        var arguments: [String] = []
        let kind: TLSError.Kind

        var testDescription: String { "\(certificate): \(kind)" }
    }

    @Test(
        "C93: a server's certificate is refused with the reason and its facts",
        arguments: [
            Case(certificate: "expired", kind: .expired),
            Case(certificate: "notyet", kind: .notYetValid),
            Case(certificate: "a", kind: .wrongHost),
            Case(certificate: "selfsigned", kind: .selfSigned),
            Case(certificate: "other", kind: .unknownIssuer),
            // Without the intermediate one, which would be in chain.pem.
            Case(certificate: "leaf", kind: .unknownIssuer),
            Case(certificate: "clientonly", kind: .wrongPurpose),
            // Servers of openssl's don't show these, either, unless they are told to.
            Case(certificate: "sha1", arguments: ["-cipher", "DEFAULT@SECLEVEL=0"], kind: .tooWeak),
            Case(certificate: "weak", arguments: ["-cipher", "DEFAULT@SECLEVEL=0"], kind: .tooWeak),
            Case(certificate: "zero", kind: .wrongHost),
        ])
    func refusedHere(_ bad: Case) async throws {
        for option in ["-tls1_2", "-tls1_3"] {
            try await withOpenSSLServer(bad.certificate, [option] + bad.arguments) { peer in
                let error = try await refusal(by: peer.endpoint)
                #expect(error.code == .certificateRefused, "\(option): \(error)")
                #expect(error.tls?.kind == bad.kind, "\(option): \(error)")
                #expect(error.tls?.certificate != nil, "\(option): \(error)")
                #expect(!CloseReason.failed(error).mayRetry)
                // The server has heard of it: by an alert, and not by silence.
                try await peer.hears("SSL alert number")
            }
        }
    }

    @Test("A chain with its intermediate certificate is accepted, whatever has been refused before")
    func chain() async throws {
        let chain = ["-cert_chain", TLSFile.certificate("intermediate")]
        try await withOpenSSLServer("leaf", chain) { peer in
            let connection = try await Connection.secured(to: peer.endpoint, codec: .lines)
            let tls = try await connection.tls
            #expect(tls.peerCertificates.map(\.subject).count == 2)
            #expect(tls.peerCertificates.last?.subject.contains("Lifeline test intermediate") == true)
            await connection.close()
        }
    }

    @Test("A key that isn't among the pinned ones is refused, with its hash; one that is, isn't")
    func pins() async throws {
        try await withOpenSSLServer { peer in
            let hash = try TLSFile.identity("server").certificate.publicKeyHash
            let other = try TLSFile.identity("a").certificate.publicKeyHash
            let trust = TLSTrust.authorities(atPath: TLSFile.authority)
            for trust in [trust.pinned(to: [other, hash]), .keys([hash])] {
                let connection = try await Connection.secured(to: peer.endpoint, codec: .lines) { $0.trust = trust }
                await connection.close()
            }
            for trust in [trust.pinned(to: [other]), .keys([other])] {
                let error = try await refusal(by: peer.endpoint) { $0.trust = trust }
                #expect(error.code == .certificateRefused)
                #expect(error.tls?.kind == .notPinned)
                #expect(error.tls?.certificate?.publicKeyHash == hash)
            }
        }
    }

    @Test("C78: a link whose server has a bad certificate gives up at once and says why")
    func link() async throws {
        try await withOpenSSLServer("expired") { peer in
            let link = Supervisor(
                endpoint: peer.endpoint, codec: .lines, on: try securedClient(), reconnect: .exponential(first: .milliseconds(1)))
            await link.start()
            let status = await link.statusUpdates.first { $0.offlineReason != nil }
            let reason = try #require(status?.offlineReason)
            guard case .tls(let error) = reason else {
                Issue.record("\(reason)")
                return await link.stop(within: .zero)
            }
            #expect(error.code == .certificateRefused)
            #expect(error.tls?.kind == .expired)
            #expect(!reason.mayRetry)
            await link.stop(within: .zero)
        }
    }

    @Test(
        "A client that refuses this side's certificate is heard, and the server goes on",
        arguments: [
            ("expired", "certificate has expired", 45), ("notyet", "certificate is not yet valid", 42),
            ("selfsigned", "self-signed certificate", 48), ("other", "unable to get local issuer certificate", 48),
            ("leaf", "unable to get local issuer certificate", 48), ("a", "hostname mismatch", 42),
            ("clientonly", "unsuitable certificate purpose", 43),
        ] as [(String, String, UInt8)])
    func refusedByPeer(certificate: String, words: String, alert: UInt8) async throws {
        let errors = Mailbox<SocketError>()
        let server = try await bindSecured(.lines, errors: errors) { settings in
            settings.identity = try TLSFile.identity(certificate)
            settings.identities = ["localhost.localdomain": try TLSFile.identity("server")]
        }
        try await serving(server, echo) {
            for option in ["-tls1_2", "-tls1_3"] {
                let checking = [option, "-servername", "localhost", "-verify_return_error", "-verify_hostname", "localhost"]
                try await withOpenSSLClient(to: server.endpoint, checking) { peer in
                    try await peer.hears(words)
                    let error = try await errors.next()
                    #expect(error.code == .certificateRefused)
                    #expect(error.tls?.kind == .refusedByPeer)
                    #expect(error.tls?.alert == alert)
                }
            }
            let next = try await Connection.secured(to: server.endpoint, codec: .lines) { settings in
                settings.serverName = "localhost.localdomain"
                settings.trust = .keys([try TLSFile.identity("server").certificate.publicKeyHash])
            }
            try await next.expectEcho("text")
            await next.close()
        }
    }
}
