import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

extension Connection {
    /// The next frame, within the test's limit.
    func frame() async throws -> Message? { try await next(within: outerLimit) }

    /// The next frames, so many; less at the end.
    func frames(_ count: Int) async throws -> [Message] {
        var frames: [Message] = []
        while frames.count < count, let frame = try await frame() { frames.append(frame) }
        return frames
    }

    /// All frames to the end, and the error if there was one.
    func rest() async -> (frames: [Message], error: (any Error)?) {
        var frames: [Message] = []
        do {
            while let frame = try await frame() { frames.append(frame) }
            return (frames, nil)
        } catch {
            return (frames, error)
        }
    }
}

extension Connection where Message: Equatable, Outgoing == Message {
    /// Sends all `messages` while as many are read, and records where what comes back is different.
    func expectEcho(of messages: [Message]) async throws {
        async let answers = frames(messages.count)
        for message in messages { try await send(message) }
        let back = try await answers
        #expect(back.count == messages.count)
        if let index = zip(messages, back).enumerated().first(where: { $1.0 != $1.1 })?.offset {
            Issue.record("message \(index) is different: \("\(back[index])".prefix(300))")
        }
    }
}

/// Binds to a free port of loopback.
func bind<C: Codec>(_ codec: C, options: ServerOptions = ServerOptions(), tooBusy: C.Outgoing? = nil) async throws -> Server<C> {
    try await Server.bind(.tcp("127.0.0.1", 0), codec: codec, options: options, tooBusy: tooBusy)
}

/// Serves with `handler` while `body` runs, then shuts the server down and waits for its end.
func serving<C: Codec, R: Sendable>(
    _ server: Server<C>, _ handler: @escaping @Sendable (Connection<C>) async throws -> Void, while body: () async throws -> R
) async throws -> R {
    try await serving([server], handler, while: body)
}

/// The same with several servers.
func serving<C: Codec, R: Sendable>(
    _ servers: [Server<C>], _ handler: @escaping @Sendable (Connection<C>) async throws -> Void, while body: () async throws -> R
) async throws -> R {
    try await withThrowingTaskGroup { group in
        for server in servers { group.addTask { try await server.run(handler) } }
        let result = try await body()
        for server in servers { #expect(await server.shutdown(within: outerLimit), "a handler or a connection had to be ended") }
        try await group.waitForAll()
        return result
    }
}

/// Sends back what comes.
@Sendable func echo<C: Codec>(_ connection: Connection<C>) async throws where C.Message == C.Outgoing {
    while let frame = try await connection.frame() { try await connection.send(frame) }
}

/// What a handler saw of one connection.
struct Sight: Sendable {
    let lines: [String]
    let error: (any Error)?
    let reason: CloseReason?
}
