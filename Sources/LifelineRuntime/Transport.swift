package import LifelineCore

/// What a read found.
package enum ReadResult: Equatable {
    /// So many bytes. With `more` false the next read would block, and a notice will follow when that changes.
    case bytes(Int, more: Bool)
    /// No layer holds a byte. A notice will follow.
    case wouldBlock
    /// The peer has ended its side.
    case end
    /// The peer's side has ended without the word that the protocol has for it: nothing proves that all has arrived.
    case cut
}

/// Where a transport's notices go. Called on the transport's loop, never from inside a call made on the transport.
package protocol TransportHandler: AnyObject {
    /// Reading may find bytes, the end or a failure.
    func transportIsReadable()
    /// Writing may succeed again.
    func transportIsWritable()
}

/// A non-blocking byte pipe with readiness.
///
/// Confined to its loop: every member is called there. It is handed over before ``start(_:)``. Notices are posted to the loop, at most
/// one of each kind pending; a failure is found by reading or writing. The contract is proved on every transport by the conformance
/// suite in LifelineTesting.
package protocol Transport: AnyObject, Sendable {
    var loop: any EventLoop { get }
    var localEndpoint: Endpoint? { get }
    var remoteEndpoint: Endpoint? { get }
    /// What the kernel knows about the path, if it is a TCP connection and still open.
    var tcpInfo: TCPInfo? { get }
    /// What was agreed on with the peer, where the transport protects what it carries; also after the end.
    var tlsInfo: TLSInfo? { get }
    /// What has to come first, if anything; see ``TransportHandshake``.
    var handshake: (any TransportHandshake)? { get }
    /// Whether ``shutdownWrites()`` leaves the peer free to send on.
    var canHalfClose: Bool { get }

    /// Begins to send notices; `handler` is held until ``close(reset:)``, or until another one takes its place in the same way. A notice
    /// that was due before comes now.
    func start(_ handler: any TransportHandler)
    /// Reads what is there, at most `buffer`. Throws once the connection has failed and nothing is left to read.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> ReadResult
    /// Asks for a notice if a read wouldn't block, after reading was left off early.
    func askToRead()
    /// Writes the front of `regions` and returns how many bytes were taken: fewer than there are means that the next would block, and a
    /// notice will follow. Bytes that were offered and not taken are what the next call begins with.
    func write(_ regions: ArraySlice<Bytes>) throws(SocketError) -> Int
    /// As ``write(_:)-(ArraySlice<Bytes>)``, for one region.
    func write(_ region: Bytes) throws(SocketError) -> Int
    /// As ``write(_:)-(ArraySlice<Bytes>)``, for memory that is the caller's again when this returns.
    func write(borrowing memory: UnsafeRawBufferPointer) throws(SocketError) -> Int
    /// When something has gone out last that wasn't reported as written: a transport may have to write more than it was given before that
    /// counts. Nil where all is reported.
    var lastProgress: LoopTime? { get }
    /// Ends this side. The peer sees the end behind all bytes written.
    func shutdownWrites()
    /// Gives everything back. With `reset` the peer is told that data was lost. Harmless when repeated.
    func close(reset: Bool)
}

extension Transport {
    package var tlsInfo: TLSInfo? { nil }
    package var handshake: (any TransportHandshake)? { nil }
    package var canHalfClose: Bool { true }
    package var lastProgress: LoopTime? { nil }

    package func write(_ region: Bytes) throws(SocketError) -> Int { try write([region][...]) }
    package func write(borrowing memory: UnsafeRawBufferPointer) throws(SocketError) -> Int { try write(Bytes(copying: memory)) }
}

/// What a transport agrees on with its peer before it carries data. It goes on by itself once the transport is on its loop; until it is
/// through, the transport reads nothing and takes nothing.
package protocol TransportHandshake: Sendable {
    /// Waits for it, and gives this side's own verdict on the peer, which may take its time. To be called once, by the task that dials or
    /// serves; without it a handshake that needs a verdict never comes to an end.
    ///
    /// - Throws: why there is none, and the transport is of no use then; `CancellationError`.
    nonisolated(nonsending) func complete() async throws
    /// Whether nothing can be read or written yet. On the transport's loop.
    var isUnderWay: Bool { get }
}

/// What the system tells about a TCP connection.
public struct TCPInfo: Sendable, Hashable {
    /// The smoothed round-trip time.
    public let roundTrip: Duration
    /// Its variation.
    public let roundTripVariation: Duration
    /// Segments sent again so far.
    public let retransmits: Int
    /// Bytes that the peer hasn't acknowledged, as segments in flight.
    public let unacknowledgedSegments: Int

    package init(roundTrip: Duration, roundTripVariation: Duration, retransmits: Int, unacknowledgedSegments: Int) {
        self.roundTrip = roundTrip
        self.roundTripVariation = roundTripVariation
        self.retransmits = retransmits
        self.unacknowledgedSegments = unacknowledgedSegments
    }
}
