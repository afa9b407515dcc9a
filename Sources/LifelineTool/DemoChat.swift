import Lifeline

/// The demo's server: who comes says a name first, and everybody is told what anybody says. It reports what it sees.
struct DemoChat: Sendable {
    /// What the server has seen, and when.
    struct Event: Sendable {
        enum Kind: Sendable {
            case came(name: String, address: String)
            case heard(name: String, text: String)
            case told(text: String, BroadcastResult)
            case left(name: String, CloseReason)
        }

        let kind: Kind
        let time: Duration
    }

    /// For the one task that shows them. There are a few dozen in all.
    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let log: DemoLog

    init(log: DemoLog) {
        self.log = log
        (events, continuation) = AsyncStream.makeStream()
    }

    /// The handler of one connection, in a task of its own on the connection's event loop.
    func serve(_ connection: Connection<LineCodec>, on server: Server<LineCodec>) async throws {
        let address = await connection.info.remote?.short ?? ""
        guard let name = try await connection.next() else { return }
        report(.came(name: name, address: address))
        try await tellAll("\(name) joins", server)
        var count = 0
        do {
            while let text = try await connection.next() {
                count += 1
                report(.heard(name: name, text: text))
                try await tellAll("\(name): \(text)", server)
            }
        } catch is SocketError {
            // Its end was not a clean one; the reason says how.
        }
        let reason = connection.closeReason ?? .closedHere
        report(.left(name: name, reason))
        // A peer that has ended its own side may still listen.
        if reason.isClean { try? await connection.send("bye \(name), \(count) of your lines were read") }
        await connection.close()
        let words = reason.error.map { "\($0.code)" } ?? "\(reason)"
        if reason != .shuttingDown { try await tellAll("\(name) leaves: \(words)", server) }
    }

    private func tellAll(_ text: String, _ server: Server<LineCodec>) async throws {
        let result = try await server.broadcast(text)
        report(.told(text: text, result))
    }

    private func report(_ kind: Event.Kind) {
        continuation.yield(Event(kind: kind, time: log.now))
    }
}
