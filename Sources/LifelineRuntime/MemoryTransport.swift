import LifelineCore

/// One end of a connection in memory.
///
/// The proof behind `@unchecked`: `handler` and `isClosed` are touched on `loop` only (`isClosed` also before the transport is handed
/// to it), the pending notices are guarded by `lock`.
final class MemoryTransport: Transport, LoopNotice, @unchecked Sendable {
    let loop: any EventLoop
    let localEndpoint: Endpoint?
    let remoteEndpoint: Endpoint?
    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe

    private var handler: (any TransportHandler)?
    private var isClosed = false

    private let lock = Lock()
    private var isStarted = false
    private var isPosted = false
    private var isReadableDue = false
    private var isWritableDue = false

    private init(loop: any EventLoop, incoming: MemoryPipe, outgoing: MemoryPipe, local: Endpoint, remote: Endpoint) {
        self.loop = loop
        self.incoming = incoming
        self.outgoing = outgoing
        localEndpoint = local
        remoteEndpoint = remote
        incoming.reader = self
        outgoing.writer = self
    }

    deinit {
        // Nobody has started it, or everybody has let go of it.
        if !isClosed { endPipes(reset: false) }
    }

    static func pair(
        on loops: (any EventLoop, any EventLoop), endpoints: (Endpoint, Endpoint), capacities: (Int, Int)
    ) -> (MemoryTransport, MemoryTransport) {
        let forth = MemoryPipe(capacity: capacities.0)
        let back = MemoryPipe(capacity: capacities.1)
        return (
            MemoryTransport(loop: loops.0, incoming: back, outgoing: forth, local: endpoints.0, remote: endpoints.1),
            MemoryTransport(loop: loops.1, incoming: forth, outgoing: back, local: endpoints.1, remote: endpoints.0)
        )
    }

    var tcpInfo: TCPInfo? { nil }

    func start(_ handler: any TransportHandler) {
        guard !isClosed else { return }
        self.handler = handler
        lock.lock()
        isStarted = true
        let mustPost = (isReadableDue || isWritableDue) && !isPosted
        if mustPost { isPosted = true }
        lock.unlock()
        if mustPost { loop.post(self) }
        askToRead()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult {
        if isClosed { throw SocketError(.closed, "the transport is closed") }
        return try incoming.read(into: buffer)
    }

    func askToRead() {
        if !isClosed, incoming.readerAsks() { signal(readable: true, writable: false) }
    }

    func write(_ regions: ArraySlice<Bytes>) throws(SocketError) -> Int {
        if isClosed { throw SocketError(.closed, "the transport is closed") }
        return try outgoing.write(regions)
    }

    func shutdownWrites() {
        if !isClosed { outgoing.end() }
    }

    func close(reset: Bool) {
        guard !isClosed else { return }
        isClosed = true
        endPipes(reset: reset)
        handler = nil
    }

    /// For a transport that was never started. From any thread.
    func closeFromAnywhere() { loop.run { self.close(reset: false) } }

    private func endPipes(reset: Bool) {
        // As a kernel does: closing with unread input tells the peer that something was lost.
        let hasUnread = incoming.readerLeaves()
        if reset || hasUnread { outgoing.breakOff() } else { outgoing.end() }
    }

    /// Notes that reading or writing may succeed and has the loop say so. From any thread.
    func signal(readable: Bool, writable: Bool) {
        lock.lock()
        isReadableDue = isReadableDue || readable
        isWritableDue = isWritableDue || writable
        let mustPost = isStarted && !isPosted
        if mustPost { isPosted = true }
        lock.unlock()
        if mustPost { loop.post(self) }
    }

    func deliver() {
        lock.lock()
        isPosted = false
        let readable = isReadableDue
        let writable = isWritableDue
        isReadableDue = false
        isWritableDue = false
        lock.unlock()
        if readable { handler?.transportIsReadable() }
        if writable { handler?.transportIsWritable() }
    }
}
