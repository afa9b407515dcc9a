import LifelineCore
import LifelineTesting
import Testing

@testable import LifelineRuntime

typealias RequestPacket = Packet<RequestHeader, Bytes>

/// A client that sends requests, and the server at the other end, which does what the test's script says.
struct Requesting<C: Codec>: Sendable {
    let client: Connection<C>
    let server: Connection<C>
}

extension World {
    func requesting<C: Codec>(
        _ codec: C, _ pairing: Pairing<C>, options: ConnectionOptions = ConnectionOptions(),
        server serverOptions: ConnectionOptions = ConnectionOptions()
    ) async throws -> Requesting<C> {
        let (stream, peer) = try await streams(options: options, peer: serverOptions)
        return Requesting(client: try await stream.framed(with: codec, pairing: pairing), server: try await peer.framed(with: codec))
    }

    /// With the header of requests and responses, paired by serial.
    func requesting(
        options: ConnectionOptions = ConnectionOptions(), server: ConnectionOptions = ConnectionOptions()
    ) async throws -> Requesting<RequestHeaderCodec> {
        try await requesting(.requestHeader, .serial(), options: options, server: server)
    }
}

extension Connection<RequestHeaderCodec> {
    /// The text of the answer to the request with this text.
    func ask(_ text: String, command: Int32 = 7, within limit: Duration? = .seconds(3)) async throws -> String {
        String(try await request(RequestPacket(header: RequestHeader(command: command), body: Bytes(text)), within: limit).body)
    }

    /// The next request.
    func asked() async throws -> RequestPacket { try #require(try await next()) }

    /// Answers with the request's text and an exclamation mark.
    func answer(_ request: RequestPacket) async throws {
        try await send(RequestPacket(header: request.header, body: Bytes(String(request.body) + "!")))
    }

    func push(_ text: String) async throws {
        try await send(RequestPacket(header: RequestHeader(command: 100), body: Bytes(text)))
    }
}

extension Connection {
    /// Nothing is due and nothing given up.
    var hasNoRequests: Bool {
        let counts = info.requests
        return counts?.due == 0 && counts?.givenUp == 0
    }
}

/// What became of `body`, which runs in a task of its own that is cancelled once `stop` has its result.
func outcome<R: Sendable>(
    cancelledBy stop: OneShot<Void> = OneShot(), of body: @escaping @Sendable () async throws -> R
) async -> Result<R, any Error> {
    await withTaskGroup(of: Result<R, any Error>?.self) { group in
        group.addTask {
            do {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
        group.addTask {
            try? await stop.value()
            return nil
        }
        var outcome: Result<R, any Error>?
        for await result in group {
            outcome = outcome ?? result
            group.cancelAll()
        }
        return outcome ?? .failure(CancellationError())
    }
}

extension Result {
    var value: Success? { try? get() }
    var isCancelled: Bool {
        if case .failure(let error) = self { error is CancellationError } else { false }
    }
    var socketError: SocketError? {
        if case .failure(let error) = self { error as? SocketError } else { nil }
    }
}
