internal import LifelineCore
internal import LifelineRuntime

/// One end of a simulated connection, as its owner sees it.
///
/// The proof behind `@unchecked`: `handler` and `isClosed` are touched on `loop` only (`isClosed` also before the transport is handed
/// to it); the socket's state is the fabric's.
final class SimulatedTransport: Transport, LoopNotice, @unchecked Sendable {
    let loop: any EventLoop
    private let fabric: SimulatedFabric
    /// Keeps the socket alive.
    private let connection: SimulatedConnection
    private let socket: SimulatedSocket
    private var handler: (any TransportHandler)?
    private var isClosed = false

    init(_ socket: SimulatedSocket, of connection: SimulatedConnection, on loop: any EventLoop, _ fabric: SimulatedFabric) {
        self.loop = loop
        self.fabric = fabric
        self.connection = connection
        self.socket = socket
        fabric.perform { _ in socket.transport = self }
    }

    deinit {
        // Nobody has started it, or everybody has let go of it.
        if !isClosed { fabric.perform { $0.close(socket, reset: false) } }
    }

    var localEndpoint: Endpoint? { socket.local }
    var remoteEndpoint: Endpoint? { socket.remote }
    var tcpInfo: TCPInfo? { fabric.perform { $0.facts(of: socket) } }

    func start(_ handler: any TransportHandler) {
        guard !isClosed else { return }
        self.handler = handler
        fabric.perform { state in
            socket.notices.isStarted = true
            state.postNotices(of: socket)
            state.askToRead(socket)
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult {
        try fabric.perform { state throws(SocketError) in try state.read(socket, into: buffer) }
    }

    func askToRead() {
        if !isClosed { fabric.perform { $0.askToRead(socket) } }
    }

    func write(_ regions: ArraySlice<Bytes>) throws(SocketError) -> Int {
        try fabric.perform { state throws(SocketError) in try state.write(regions, to: socket) }
    }

    func shutdownWrites() {
        if !isClosed { fabric.perform { $0.shutdownWrites(socket) } }
    }

    func close(reset: Bool) {
        guard !isClosed else { return }
        isClosed = true
        handler = nil
        fabric.perform { state in
            socket.transport = nil
            state.close(socket, reset: reset)
        }
    }

    func deliver() {
        let notices = fabric.perform { _ in
            defer { socket.notices = SimulatedSocket.Notices(isStarted: true) }
            return socket.notices
        }
        if notices.isReadable { handler?.transportIsReadable() }
        // The handler may have closed this meanwhile.
        if notices.isWritable { handler?.transportIsWritable() }
    }
}
