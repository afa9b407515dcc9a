import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// Runs `body` while an echo server serves at port 7000 of `host`.
func withEchoServer(on host: SimulatedHost, options: ServerOptions = ServerOptions(), _ body: () async throws -> Void) async throws {
    let server = try await Server.bind(.tcp(host.name, 7000), codec: .lines, on: host, options: options)
    async let running: Void = server.run { connection in
        while let line = try await connection.next() { try await connection.send(line) }
    }
    do {
        try await body()
    } catch {
        await server.shutdown(within: .zero)
        throw error
    }
    await server.shutdown(within: .zero)
    try await running
}

@discardableResult
func connect(
    from host: SimulatedHost, to endpoint: Endpoint = .tcp("server", 7000), within limit: Duration = .seconds(1_000),
    options: ConnectionOptions = ConnectionOptions()
) async throws -> Connection<LineCodec> {
    try await Connection.connect(to: endpoint, codec: .lines, on: host, within: limit, options: options)
}

/// Expects that `body` fails with `code`, which is returned with its facts.
@discardableResult
func expect(
    _ code: SocketError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> SocketError? {
    do {
        try await body()
        Issue.record("no error, and \(code) was due", sourceLocation: sourceLocation)
    } catch let error as SocketError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error), and \(code) was due", sourceLocation: sourceLocation)
    }
    return nil
}

func expectNothingLeft(_ network: SimulatedNetwork, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(network.liveConnections == 0, sourceLocation: sourceLocation)
    #expect(network.openTransports == 0, sourceLocation: sourceLocation)
    #expect(network.openListeners == 0, sourceLocation: sourceLocation)
}

/// Reads all that comes, on its transport's loop.
final class Drain: TransportHandler, @unchecked Sendable {  // Touched in one simulation, whose loops share a thread.
    private let transport: any Transport
    private(set) var count = 0

    init(_ transport: any Transport) { self.transport = transport }

    func begin() { transport.start(self) }

    func transportIsReadable() {
        withUnsafeTemporaryAllocation(byteCount: 10_000, alignment: 1) { buffer in
            while case .bytes(let taken, _)? = try? transport.read(into: buffer) { count += taken }
        }
    }

    func transportIsWritable() {}
}
