import Foundation
import LifelineCore
import LifelineRuntime
import Testing

/// A peer that runs, and what it says.
struct Peer: Sendable {
    let process: PeerProcess
    /// Where it listens; 0 if it connects.
    let port: UInt16

    var endpoint: Endpoint { .tcp("127.0.0.1", port) }

    /// The next fact that it tells.
    func fact() async throws -> String { try await process.line() }

    /// The next facts that it tells, so many.
    func facts(_ count: Int) async throws -> [String] {
        var facts: [String] = []
        while facts.count < count { facts.append(try await fact()) }
        return facts
    }
}

/// What a peer is made of. Tests of one that isn't installed are skipped, or fail under `LIFELINE_REQUIRE_PEERS=1`.
enum PeerKind {
    case node, mina

    /// A peer ends by itself after so many seconds, whatever happens to the tests.
    static let lifetime = 240

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Peers")
    static let isRequired = ProcessInfo.processInfo.environment["LIFELINE_REQUIRE_PEERS"] == "1"
    static let jars = ["mina2-core", "slf4j-api", "slf4j-nop"].map { "/usr/share/java/\($0).jar" }

    /// Nil if it is all there.
    var missing: String? {
        switch self {
        case .node:
            if Self.program("node") == nil { return "Node.js isn't installed" }
        case .mina:
            if Self.program("java") == nil || Self.program("javac") == nil { return "no Java development kit is installed" }
            for jar in Self.jars where !FileManager.default.isReadableFile(atPath: jar) { return "Apache MINA isn't installed: no \(jar)" }
        }
        return nil
    }

    /// Whether its tests run. Where it is missing and may not be, they run and fail.
    var isTested: Bool { missing == nil || Self.isRequired }

    static func program(_ name: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            .map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    fileprivate func start(_ arguments: [String]) throws -> PeerProcess {
        if let missing { throw PeerFailure(missing) }
        let arguments = [String(Self.lifetime)] + arguments
        switch self {
        case .node:
            guard let node = Self.program("node") else { throw PeerFailure("no node") }
            return try PeerProcess(node, [Self.folder.appending(path: "line_peer.mjs").path] + arguments)
        case .mina:
            guard let java = Self.program("java"), let path = MinaClasses.path else { throw PeerFailure("MinaPeer isn't compiled") }
            // A small, quick start instead of a fast machine.
            let machine = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-cp", path]
            return try PeerProcess(java, machine + ["MinaPeer"] + arguments)
        }
    }
}

/// Runs a peer that listens while `body` runs, and ends it in every case.
func withServing<R>(_ kind: PeerKind, _ arguments: [String], body: (Peer) async throws -> R) async throws -> R {
    try await run(kind, ["serve"] + arguments) { process in
        let words = try await process.line().split(separator: " ")
        guard words.count == 2, words[0] == "READY", let port = UInt16(words[1]) else {
            throw PeerFailure("the peer isn't ready: it says \(words)")
        }
        return try await body(Peer(process: process, port: port))
    }
}

/// Runs a peer that connects to `endpoint` while `body` runs, and ends it in every case.
func withConnecting<R>(_ kind: PeerKind, to endpoint: Endpoint, _ arguments: [String], body: (Peer) async throws -> R) async throws -> R {
    try await run(kind, ["connect", String(endpoint.port ?? 0)] + arguments) { try await body(Peer(process: $0, port: 0)) }
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
    fileprivate func recordComplaints() {
        let complaints = complaints
        if !complaints.isEmpty { Issue.record("the peer complained: \(complaints)") }
    }
}
