import LifelineCore
import LifelineRuntime
import LifelineSockets

/// Takes what a listener accepts.
final class Sink: ListenerSink {
    let transports = Mailbox<any Transport>()
    let failures = Mailbox<SocketError>()

    func accepted(_ transport: any Transport) { transports.put(transport) }
    func acceptFailed(_ error: SocketError) { failures.put(error) }
}

/// What happens on a stream core, as values.
enum StreamNews: Sendable {
    case bytes(Bytes)
    case ended(CloseReason)
}

/// A stream core with an owner that reports, and echoes if asked to.
///
/// The proof behind `@unchecked`: `core` and `isEcho` never change once it has started.
final class Stream: StreamOwner, @unchecked Sendable {
    let core: StreamCore
    let news = Mailbox<StreamNews>()
    private let outbound: Outbound<BytesEncoder>
    private let isEcho: Bool

    init(_ transport: any Transport, options: ConnectionOptions = ConnectionOptions(), echo: Bool = false) async throws {
        core = StreamCore(transport: transport, options: options)
        outbound = Outbound(outbox: core.outbox, encoder: BytesEncoder())
        isEcho = echo
        core.owner = self
        let core = core
        try await core.loop.perform { core.start() }
    }

    func streamHasInput() {
        guard let bytes = core.input.read(core.input.count) else { return }
        core.input.releaseIfEmpty()
        if isEcho { try? outbound.sendAtOnce(bytes) } else { news.put(.bytes(bytes)) }
    }

    func streamInputEnded(isCut: Bool) -> SocketError? { nil }

    var unfinishedFrame: PendingFrame? { nil }
    func streamReadingEnded(_ reason: CloseReason) { news.put(.ended(reason)) }

    func send(_ text: String) { try? outbound.sendAtOnce(Bytes(text)) }

    /// Everything up to the end of reading.
    func rest() async throws -> (bytes: [UInt8], reason: CloseReason) {
        var all: [UInt8] = []
        while true {
            switch try await news.next() {
            case .bytes(let bytes): all += bytes
            case .ended(let reason): return (all, reason)
            }
        }
    }

    /// So many bytes.
    func read(_ count: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            guard case .bytes(let bytes) = try await news.next() else { break }
            all += bytes
        }
        return all
    }

    func closeNow() async throws {
        let core = core
        try await core.loop.perform { core.closeNow() }
    }

    func finishSending() async throws {
        let core = core
        try await core.loop.perform { try core.finishSending() }
    }
}

/// Both ends of a connection through the system.
struct Pair {
    let client: any Transport
    let server: any Transport
    let listener: any Listener
    let sink: Sink

    init(_ endpoint: Endpoint = .tcp("127.0.0.1", 0), loops: EventLoops = .shared, options: SocketOptions = SocketOptions())
        async throws
    {
        let driver = SystemDriver(loops)
        sink = Sink()
        listener = try await driver.listen(
            endpoint, on: driver.nextLoop(), dealingTo: driver.loops, options: options, sink: sink)
        client = try await driver.dial(listener.endpoint, on: driver.nextLoop(), options: options, within: outerLimit)
        server = try await sink.transports.next()
    }

    func close() async {
        for transport in [client, server] { transport.loop.submit { transport.close(reset: false) } }
        await listener.close()
    }
}

extension Transport {
    func close() async throws { try await loop.perform { self.close(reset: false) } }
}
