import LifelineCore
import LifelineRuntime

/// A network without a system: every connect succeeds at once, every write is taken, and each "ping" gets its "pong" in the next turn.
struct AnsweringNetwork: Network {
    let _driver: _NetworkDriver
    let writes = Writes()

    init(loop: any EventLoop) { _driver = _NetworkDriver(Driver(loop: loop, writes: writes)) }

    /// How many there were. The proof behind `@unchecked`: it is used on the loop only.
    final class Writes: @unchecked Sendable {
        var count: UInt64 = 0
    }

    private struct Driver: NetworkDriver {
        let loop: any EventLoop
        let writes: Writes
        var loops: [any EventLoop] { [loop] }
        func nextLoop() -> any EventLoop { loop }

        func dial(
            _ endpoint: Endpoint, on loop: any EventLoop, options: SocketOptions, within limit: Duration
        ) async throws -> any Transport { AnsweringTransport(loop, writes) }

        func listen(
            _ endpoint: Endpoint, on loop: any EventLoop, dealingTo loops: [any EventLoop], options: SocketOptions,
            sink: any ListenerSink
        ) async throws -> any Listener { throw SocketError(.misuse, "nobody can listen here") }
    }
}

/// The proof behind `@unchecked`: everything that changes is used on the loop only.
private final class AnsweringTransport: Transport, LoopNotice, @unchecked Sendable {
    let loop: any EventLoop
    private let writes: AnsweringNetwork.Writes
    private var handler: (any TransportHandler)?
    private var hasAnswer = false

    private static let ping = Bytes("ping\n")
    private static let pong: StaticString = "pong\n"

    init(_ loop: any EventLoop, _ writes: AnsweringNetwork.Writes) {
        self.loop = loop
        self.writes = writes
    }

    var localEndpoint: Endpoint? { nil }
    var remoteEndpoint: Endpoint? { nil }
    var tcpInfo: TCPInfo? { nil }

    func start(_ handler: any TransportHandler) { self.handler = handler }
    func askToRead() {}
    func shutdownWrites() {}
    func close(reset: Bool) { handler = nil }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult {
        guard hasAnswer else { return .wouldBlock }
        hasAnswer = false
        buffer.copyMemory(from: UnsafeRawBufferPointer(start: Self.pong.utf8Start, count: Self.pong.utf8CodeUnitCount))
        return .bytes(Self.pong.utf8CodeUnitCount, more: false)
    }

    func write(_ regions: ArraySlice<Bytes>) throws(SocketError) -> Int {
        var count = 0
        for region in regions { count += try write(region) }
        return count
    }

    func write(_ region: Bytes) throws(SocketError) -> Int {
        writes.count += 1
        if region == Self.ping {
            hasAnswer = true
            loop.post(self)
        }
        return region.count
    }

    func deliver() { handler?.transportIsReadable() }
}
