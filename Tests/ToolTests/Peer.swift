import Lifeline

/// A server of lines in the test's own process, for the tool to connect to.
struct Peer: Sendable {
    let server: Server<LineCodec>
    private let lines: AsyncStream<String>

    var endpoint: Endpoint { server.endpoint }
    var address: String { "\(server.endpoint)" }

    /// The next line that a client has sent.
    func line() async -> String? {
        for await line in lines { return line }
        return nil
    }

    /// Sends a line to all clients.
    func say(_ line: String) async throws { try await server.broadcast(line) }

    fileprivate init(_ server: Server<LineCodec>, _ lines: AsyncStream<String>) {
        self.server = server
        self.lines = lines
    }
}

/// Has a peer listen while `body` runs. Behind that it is gone as if it had been killed.
func withPeer<Result: Sendable>(
    at endpoint: Endpoint = .tcp("127.0.0.1", 0), heartbeat: Heartbeat<LineCodec> = .none, _ body: (Peer) async throws -> Result
) async throws -> Result {
    let server = try await bind(endpoint, heartbeat)
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    async let running: Void = server.run { connection in
        while let text = try? await connection.next() { line.yield(text) }
    }
    let result: Result
    do {
        result = try await body(Peer(server, lines))
    } catch {
        await server.shutdown(within: .zero)
        throw error
    }
    await server.shutdown(within: .zero)
    try await running
    return result
}

/// Listens at `endpoint` as soon as it is free: a process that this one starts has its descriptors for a moment, that of a peer that was
/// here before among them.
private func bind(_ endpoint: Endpoint, _ heartbeat: Heartbeat<LineCodec>) async throws -> Server<LineCodec> {
    let end = ContinuousClock.now + .seconds(30)
    while true {
        do {
            return try await Server.bind(endpoint, codec: .lines, heartbeat: heartbeat)
        } catch let error as SocketError where error.code == .addressInUse && ContinuousClock.now < end {
            await Task.yield()
        }
    }
}
