import LifelineCore
import Testing

/// A peer that runs, and what it says.
struct Peer: Sendable {
    let process: PeerProcess
    /// Where it listens; none if it connects.
    let endpoints: [Endpoint]

    /// Where it listens first.
    var endpoint: Endpoint { endpoints[0] }

    /// The next fact that it tells.
    func fact() async throws -> String { try await process.line() }

    /// The next facts that it tells, so many.
    func facts(_ count: Int) async throws -> [String] {
        var facts: [String] = []
        while facts.count < count { facts.append(try await fact()) }
        return facts
    }
}

/// Runs a peer that listens while `body` runs, and ends it in every case.
func withServing<R>(_ kind: PeerKind, _ arguments: [String], body: (Peer) async throws -> R) async throws -> R {
    try await run(kind, ["serve"] + arguments) { process in
        let words = try await process.line().split(separator: " ")
        let ports = words.dropFirst().compactMap { UInt16($0) }
        guard words.first == "READY", !ports.isEmpty, ports.count == words.count - 1 else {
            throw PeerFailure("the peer isn't ready: it says \(words)")
        }
        return try await body(Peer(process: process, endpoints: ports.map { .tcp("127.0.0.1", $0) }))
    }
}

/// Runs a peer that connects to `endpoint` while `body` runs, and ends it in every case.
func withConnecting<R>(_ kind: PeerKind, to endpoint: Endpoint, _ arguments: [String], body: (Peer) async throws -> R) async throws -> R {
    try await run(kind, ["connect", String(endpoint.port ?? 0)] + arguments) { try await body(Peer(process: $0, endpoints: [])) }
}

/// Runs a peer that connects to several servers, each of which speaks what its name says, while `body` runs; ends it in every case.
func withConnecting<R>(
    _ kind: PeerKind, _ arguments: [String] = [], to servers: [(name: String, endpoint: Endpoint)], body: (Peer) async throws -> R
) async throws -> R {
    let pairs = servers.map { "\($0.name)=\($0.endpoint.port ?? 0)" }
    return try await run(kind, ["connect"] + arguments + pairs) { try await body(Peer(process: $0, endpoints: [])) }
}

private func run<R>(_ kind: PeerKind, _ arguments: [String], body: (PeerProcess) async throws -> R) async throws -> R {
    let process = try kind.start(arguments)
    defer { process.kill() }
    do {
        let result = try await body(process)
        process.recordComplaints()
        return result
    } catch {
        process.recordComplaints()
        throw error
    }
}

extension PeerProcess {
    /// A peer that complains has met something that its author didn't expect, whatever the test saw.
    func recordComplaints() {
        let complaints = complaints
        if !complaints.isEmpty { Issue.record("the peer complained: \(complaints)") }
    }
}
