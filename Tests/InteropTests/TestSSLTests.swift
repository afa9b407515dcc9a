import Foundation
import Lifeline
import LifelineCore
import LifelineTLS
import Testing

/// What testssl.sh says of a server of this library's.
@Suite(.enabled(if: PeerKind.testssl.isTested, "testssl.sh isn't installed"), .timeLimit(.minutes(4)))
struct TestSSLTests {
    struct Finding: Decodable {
        let id: String
        let severity: String
        let finding: String
    }

    /// What follows from the tests' own authority, whose certificates are good for a hundred years and can't be revoked, and from an openssl
    /// here that lacks old things to try. Where it tries resumption, it leaves right behind the handshake, at times before the session of
    /// TLS 1.3 has come, and then finds a connect problem; `OpenSSLClientTests` try resumption.
    static let excused: Set<String> = [
        "cert_revocation", "cert_chain_of_trust", "cert_validityPeriod", "engine_problem", "sessionresumption_ticket",
    ]

    @Test("Nothing is worse than LOW, besides what a private authority causes")
    func findings() async throws {
        var options = ServerOptions()
        // Most of its connections end in the handshake.
        options.onHandlerError = { _ in }
        let server = try await Server.bind(
            .tls("127.0.0.1", 0), codec: .lines,
            on: TLSNetwork(over: SystemNetwork(), server: try TLSServer(serverSettings())), options: options)
        try await serving(server, echo) {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let report = folder.path("report.json")
            let words = [
                "--fast", "--quiet", "--color", "0", "--warnings", "off", "--jsonfile", report, "--add-ca", TLSFile.authority, "--ip",
                "127.0.0.1",
            ]
            // Versions, the certificate, and the vulnerabilities that are tried within a second each: not ROBOT, which takes twenty.
            let checks = ["-p", "-S", "-H", "-I", "-T", "-R", "-C", "-Z", "-O", "-F", "-J", "-W", "-A", "-L", "-D"]
            try await withProgram(.testssl, words + checks + ["localhost:\(server.endpoint.port ?? 0)"]) { peer in
                // It runs openssl and itself hundreds of times, which takes half a minute where others want to run, too.
                // Its status is the number of checks that couldn't be made: they are findings, too.
                _ = try await peer.process.status(within: .seconds(180))
                let findings = try JSONDecoder().decode([Finding].self, from: Data(contentsOf: URL(filePath: report)))
                let offered = Dictionary(grouping: findings, by: \.id)
                for (id, words) in [("TLS1", "not offered"), ("TLS1_1", "not offered"), ("TLS1_2", "offered"), ("TLS1_3", "offered")] {
                    #expect(offered[id]?.first?.finding.hasPrefix(words) == true, "\(id): \(offered[id] ?? [])")
                }
                #expect(findings.count > 50)
                #expect(findings.last?.id == "scanTime")
                for finding in findings
                where !["DEBUG", "OK", "INFO", "LOW"].contains(finding.severity) && !Self.excused.contains(finding.id) {
                    Issue.record("\(finding.severity): \(finding.id) \(finding.finding)")
                }
            }
        }
    }
}
