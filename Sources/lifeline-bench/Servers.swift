import Lifeline

/// The servers that are compared. All echo frames: a 4-byte big-endian length, then the payload.
enum ServerKind: String, CaseIterable, Sendable {
    /// Raw epoll in C, the measure of all others.
    case raw
    /// `next()` in handlers on the event loop.
    case next
    /// `messages` in plain tasks on the default pool.
    case messages
    /// `next()`, with the framing that comes with Lifeline.
    case nextBuiltin = "next-builtin"
    /// `next()` on connections with a heartbeat, which looks at each frame and beats every 30 s.
    case nextHeartbeat = "next-heartbeat"
}

/// A user's own codec, in the user's module: what is measured is how it specialises there.
struct BenchCodec: FrameCodec {
    static var isStateless: Bool { true }

    func decode(from input: inout ByteInput) throws -> Bytes? {
        guard let length: UInt32 = input.peek() else { return nil }
        guard length <= 1 << 20 else { throw SocketError(frameOf: length, exceeds: 1 << 20) }
        let end = 4 + Int(length)
        guard input.count >= end else { return nil }
        input.skip(4)
        return input.read(Int(length))
    }

    func encode(_ frame: Bytes, into output: inout ByteOutput) throws {
        output.append(UInt32(truncatingIfNeeded: frame.count), .big)
        output.append(frame)
    }
}

/// Serves on 127.0.0.1 until the process ends, with one event loop thread.
///
/// `report` is called once, with the port, when clients can connect. The process has been pinned to
/// the server's core and may open as many files as the system allows. `raw` does not come here.
func serve(kind: ServerKind, report: (UInt16) -> Void) async throws {
    switch kind {
    case .raw: throw Trouble("the raw server isn't one of these")
    case .next: try await echo(BenchCodec(), report) { try await echoByNext($0) }
    case .nextBuiltin: try await echo(.lengthPrefixed(UInt32.self, .big), report) { try await echoByNext($0) }
    case .nextHeartbeat:
        let heartbeat = Heartbeat<BenchCodec>.pingPong(
            every: .seconds(30), answerWithin: .seconds(30), ping: Bytes("ping"), isPong: { $0.count == 4 && $0 == Bytes("pong") }
        ).and(.answering({ $0.count == 4 && $0 == Bytes("ping") }, with: Bytes("pong")))
        try await echo(BenchCodec(), heartbeat: heartbeat, report) { try await echoByNext($0) }
    case .messages:
        try await echo(BenchCodec(), handlers: .pool, report) { connection in
            for try await frame in connection.messages { try await connection.send(frame) }
        }
    }
}

private func echoByNext<C: Codec>(_ connection: Connection<C>) async throws where C.Message == C.Outgoing {
    while let frame = try await connection.next() { try await connection.send(frame) }
}

private func echo<C: Codec>(
    _ codec: C, handlers: ServerOptions.Handlers = .loop, heartbeat: Heartbeat<C> = .none, _ report: (UInt16) -> Void,
    _ handler: @escaping @Sendable (Connection<C>) async throws -> Void
) async throws {
    var options = ServerOptions()
    options.handlers = handlers
    options.onHandlerError = { _ in }
    let network = SystemNetwork(loops: EventLoops(count: 1))
    let server = try await Server.bind(.tcp("127.0.0.1", 0), codec: codec, on: network, options: options, heartbeat: heartbeat)
    guard let port = server.endpoint.port else { throw Trouble("no port") }
    report(port)
    try await server.run(handler)
}
