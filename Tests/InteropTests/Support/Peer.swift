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

    /// The next facts that it tells have to be these.
    func expect(_ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let facts = try await facts(expected.count)
        #expect(facts == expected, sourceLocation: sourceLocation)
    }

    /// The next facts that it tells, so many.
    func facts(_ count: Int) async throws -> [String] {
        var facts: [String] = []
        while facts.count < count { facts.append(try await fact()) }
        return facts
    }
}

extension Peer {
    /// A peer that listens, once it says so.
    init(ready process: PeerProcess) async throws {
        let words = try await process.line().split(separator: " ")
        let endpoints = words.dropFirst().compactMap { try? Endpoint($0.contains(":") ? "\($0)" : "127.0.0.1:\($0)") }
        guard words.first == "READY", !endpoints.isEmpty, endpoints.count == words.count - 1 else {
            throw PeerFailure("the peer isn't ready: it says \(words)")
        }
        self.init(process: process, endpoints: endpoints)
    }
}

/// Runs a peer that listens while `body` runs, and ends it in every case.
func withServing<R>(_ kind: PeerKind, _ arguments: [String], body: (Peer) async throws -> R) async throws -> R {
    try await withProcess(kind, ["serve"] + arguments) { try await body(Peer(ready: $0)) }
}

/// Runs a peer that connects to `endpoint` while `body` runs, and ends it in every case.
func withConnecting<R>(_ kind: PeerKind, to endpoint: Endpoint, _ arguments: [String], body: (Peer) async throws -> R) async throws -> R {
    try await withProcess(kind, ["connect", String(endpoint.port ?? 0)] + arguments) { try await body(Peer(process: $0, endpoints: [])) }
}

/// Runs a peer that connects to several servers, each of which speaks what its name says, while `body` runs; ends it in every case.
func withConnecting<R>(
    _ kind: PeerKind, _ arguments: [String] = [], to servers: [(name: String, endpoint: Endpoint)], body: (Peer) async throws -> R
) async throws -> R {
    let pairs = servers.map { "\($0.name)=\($0.endpoint.port ?? 0)" }
    return try await withProcess(kind, ["connect"] + arguments + pairs) { try await body(Peer(process: $0, endpoints: [])) }
}

/// Runs a peer while `body` runs, and ends it in every case.
func withProcess<R>(_ kind: PeerKind, _ arguments: [String], body: (PeerProcess) async throws -> R) async throws -> R {
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
