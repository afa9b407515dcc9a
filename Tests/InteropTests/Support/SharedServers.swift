import LifelineCore
import Testing

/// Runs one peer for a whole suite, with a server for each name: some take long to start.
struct SharedServers: SuiteTrait, TestScoping {
    /// Where the servers of the suite's peer listen.
    @TaskLocal private static var endpoints: [String: Endpoint] = [:]

    let kind: PeerKind
    let names: [String]

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withServing(kind, names) { peer in
            let endpoints = Dictionary(uniqueKeysWithValues: zip(names, peer.endpoints))
            try await Self.$endpoints.withValue(endpoints) { try await function() }
        }
    }

    /// Where the server with this name listens.
    static func endpoint(_ name: String) throws -> Endpoint {
        guard let endpoint = endpoints[name] else { throw PeerFailure("the suite's peer doesn't serve \(name)") }
        return endpoint
    }
}

extension Trait where Self == SharedServers {
    static func servers(_ kind: PeerKind, _ names: [String]) -> Self { Self(kind: kind, names: names) }
}
