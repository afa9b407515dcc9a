import LifelineCore
import LifelineRuntime
import Testing

/// Serves with `handler` while `body` runs, then shuts the server down and waits for `run`.
func serving<C: Codec, R: Sendable>(
    _ server: Server<C>, _ handler: @escaping @Sendable (Connection<C>) async throws -> Void, while body: () async throws -> R
) async throws -> R {
    try await withThrowingTaskGroup { group in
        group.addTask { try await server.run(handler) }
        let result = try await body()
        await server.shutdown(within: .seconds(1))
        try await group.waitForAll()
        return result
    }
}

/// Sends back what comes.
@Sendable func echo(_ connection: Connection<LineCodec>) async throws {
    while let line = try await connection.next() { try await connection.send(line) }
}

/// What several tasks note, in order.
final class Log<Entry: Sendable>: @unchecked Sendable {  // `list` is guarded by `lock`.
    private let lock = Lock()
    private var list: [Entry] = []

    var entries: [Entry] { lock.withLock { list } }
    var count: Int { lock.withLock { list.count } }
    func add(_ entry: Entry) { lock.withLock { list.append(entry) } }
}

extension ServerOptions {
    /// Options of a server whose handlers' errors go to `log`.
    static func noting(_ log: Log<SocketError>) -> ServerOptions {
        var options = ServerOptions()
        options.onHandlerError = { log.add($0 as? SocketError ?? SocketError(.misuse, "\($0)")) }
        return options
    }
}
