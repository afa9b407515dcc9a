import CLifelineTLS
import COpenSSL
import LifelineCore
import LifelineRuntime

/// TLS over a transport.
///
/// ```
///             start         agreed            verdict
///   plain ──────────▶ handshaking ───▶ judging ───▶ open        (without a verifier at once)
///     └─────────────────────┴─────────────┴───────────┴──▶ failed, closed
/// ```
///
/// OpenSSL reads and writes a pipe (`llt_pipe`); this fills and empties it. What has arrived is lent to it, and what it has written goes to
/// the transport below at once, so between two calls there are bytes in the pipe only while that takes no more.
///
/// The proof behind `@unchecked`: everything that changes is touched on `loop` only; `agreed` and `expired` have locks of their own.
final class TLSTransport: Transport, TransportHandler, LoopNotice, LoopTimerTarget, @unchecked Sendable {
    enum State {
        /// So many bytes still go out in plain text; the handshake follows.
        case plain(left: Int)
        case handshaking
        /// The handshake is through, the verdict isn't.
        case judging
        case open
        case failed(SocketError)
        case closed
    }

    let base: any Transport
    let handle: TLSHandle
    let pipe: OpaquePointer
    var ssl: OpaquePointer { handle.ssl }

    @exclusivity(unchecked) var state: State
    /// The handshake is through, whatever came later.
    @exclusivity(unchecked) var hasAgreed = false
    @exclusivity(unchecked) private var handler: (any TransportHandler)?
    /// Whether reading from `base` may find something.
    @exclusivity(unchecked) var isBaseReadable = false
    @exclusivity(unchecked) var isBaseBlocked = false
    /// `base` has no more bytes.
    @exclusivity(unchecked) var hasBaseEnded = false
    /// Reading from `base` has failed, and what came before may still be there.
    @exclusivity(unchecked) var baseFailure: SocketError?
    /// Encrypted bytes that have arrived and that OpenSSL hasn't read.
    @exclusivity(unchecked) var held = Bytes()
    @exclusivity(unchecked) var peerEnd = TLSInfo.PeerEnd.none
    /// Whether this side's close_notify was written, or waits in the pipe.
    @exclusivity(unchecked) var hasShutDown = false
    /// This side's end is due once the handshake, or a message of TLS's own, is through.
    @exclusivity(unchecked) var isShutdownDue = false
    /// The handler was told that it can't write, or read, and waits for a notice.
    @exclusivity(unchecked) var isWriteWanted = false
    @exclusivity(unchecked) var isReadHeldUp = false
    /// Writing has to wait for something to be read.
    @exclusivity(unchecked) var isWriteHeldUp = false
    /// Writing to `base` has failed.
    @exclusivity(unchecked) var writeFailure: SocketError?
    /// When `base` has taken something last.
    @exclusivity(unchecked) var lastProgress: LoopTime?
    /// What was encrypted, and isn't reported as written.
    @exclusivity(unchecked) var records = WrittenRecords()

    @exclusivity(unchecked) private var isReadableDue = false
    @exclusivity(unchecked) private var isWritableDue = false
    @exclusivity(unchecked) private var isPosted = false
    @exclusivity(unchecked) private var timer: LoopTimer?
    @exclusivity(unchecked) private var limit: Duration?
    /// The peer was refused when TLS had no words for it any more.
    @exclusivity(unchecked) private var isRefused = false
    /// Closed, and what was written last is still on its way.
    @exclusivity(unchecked) private var isLeaving = false

    /// The handshake is through; with the facts, if somebody has to judge them.
    let agreed = OneShot<TLSInfo?>()
    /// Fails when the verdict comes too late.
    let expired = OneShot<Void>()

    /// - Parameter plain: so many bytes are written as they are before the handshake begins.
    init(over base: any Transport, _ handle: TLSHandle, behind plain: Int = 0) throws(SocketError) {
        guard let pipe = llt_pipe_attach(handle.ssl) else {
            throw SocketError(.resourcesExhausted, "no memory for a TLS connection")
        }
        self.base = base
        self.handle = handle
        self.pipe = pipe
        state = plain > 0 ? .plain(left: plain) : .handshaking
    }

    var loop: any EventLoop { base.loop }
    var localEndpoint: Endpoint? { base.localEndpoint }
    var remoteEndpoint: Endpoint? { base.remoteEndpoint }
    var tcpInfo: TCPInfo? { base.tcpInfo }
    var tlsInfo: TLSInfo? { hasAgreed ? handle.info(peerEnd: peerEnd) : nil }
    /// TLS 1.2 has no half of an end; before the handshake nobody knows.
    var canHalfClose: Bool { !hasAgreed || SSL_version(ssl) >= TLS1_3_VERSION }
    var handshake: (any TransportHandshake)? { self }

    /// Begins with the handshake, which has to be through, the verdict included, within `limit`.
    ///
    /// - Parameter told: the limit that the caller has set, for its error; `limit` may be what is left of it.
    func begin(within limit: Duration, told: Duration) {
        self.limit = told
        if limit.clampedNanoseconds < .max {
            let timer = LoopTimer(self)
            self.timer = timer
            loop.arm(timer, at: loop.now.advanced(by: limit))
        }
        base.start(self)
        if case .handshaking = state { advanceHandshake() }
    }

    func timerFired(_ timer: LoopTimer) {
        if isLeaving { return leave(reset: false) }
        fail(SocketError(timedOut: .handshake, after: limit ?? .zero))
    }

    func disarm() {
        if let timer { loop.disarm(timer) }
        timer = nil
    }

    func start(_ handler: any TransportHandler) {
        if case .closed = state { return }
        self.handler = handler
        switch state {
        case .open, .failed: tell(readable: true, writable: true)
        default: break
        }
    }

    /// It is of no use any more; whoever reads or waits gets `error`.
    ///
    /// - Parameter isRefusal: TLS has no alert for it behind the handshake, so that only a reset tells the peer that this is no ordinary end.
    func fail(_ error: SocketError, isRefusal: Bool = false) {
        switch state {
        case .failed, .closed: return
        default: break
        }
        disarm()
        // The last thing in the pipe is the alert that tells the peer.
        flushPipe()
        state = .failed(error)
        isRefused = isRefusal
        agreed.fail(error)
        expired.fail(error)
        if handler == nil {
            // Nobody will read the error and close it; who waits for a verdict may wait on.
            discardInput()
            base.close(reset: isRefusal)
        }
        tell(readable: true, writable: true)
    }

    func close(reset: Bool) {
        if case .closed = state { return }
        disarm()
        flushPipe()
        let isInGoodOrder = hasShutDown
        switch state {
        // Without a verdict, too: the peer may have begun, and has to know that nothing was cut off.
        case .open, .judging: if !reset, !isBaseBlocked { shutDown() }
        default: break
        }
        state = .closed
        agreed.fail(Self.closedHere)
        expired.fail(Self.closedHere)
        handler = nil
        held = Bytes()
        if !reset, isInGoodOrder, isBaseBlocked, writeFailure == nil, pendingInPipe > 0 {
            // A kernel, too, sends what it has taken behind a close.
            isLeaving = true
            let timer = LoopTimer(self)
            self.timer = timer
            loop.arm(timer, at: loop.now.advanced(by: Self.leavingLimit))
        } else {
            leave(reset: reset || isRefused)
        }
    }

    private func leave(reset: Bool) {
        isLeaving = false
        disarm()
        llt_pipe_consume(pipe, pendingInPipe)
        // A kernel that has something unread resets, and what was written last, such as an alert, might not be seen.
        if !reset { discardInput() }
        base.close(reset: reset)
    }

    private func discardInput() {
        guard isBaseReadable, !hasBaseEnded, baseFailure == nil else { return }
        withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 16) { buffer in
            for _ in 0..<16 {
                guard case .bytes(_, more: true)? = try? base.read(into: buffer) else { return }
            }
        }
    }

    static var closedHere: SocketError { SocketError(.closed, "the connection has been closed here") }

    /// How long what was written last may take behind a close.
    private static let leavingLimit = Duration.seconds(1)

    /// As much as is read of encrypted bytes where the caller's buffer isn't large enough to be shared.
    static let portion = 16 * 1024
}

// Notices, from below and to above.
extension TLSTransport {
    func transportIsReadable() {
        isBaseReadable = true
        switch state {
        case .handshaking: advanceHandshake()
        case .open, .failed: handler?.transportIsReadable()
        case .plain, .judging, .closed: break
        }
    }

    func transportIsWritable() {
        isBaseBlocked = false
        switch state {
        case .plain: tellWritable()
        case .handshaking:
            flushPipe()
            advanceHandshake()
        case .judging: flushPipe()
        case .open:
            flushPipe()
            // Of what was taken the writer hears at once: it may have a limit for it, or end.
            if !isBaseBlocked || records.unreported > 0 { tellWritable() }
            guard !isBaseBlocked else { return }
            if isReadHeldUp {
                isReadHeldUp = false
                handler?.transportIsReadable()
            }
        case .failed: tellWritable()
        case .closed:
            guard isLeaving else { return }
            flushPipe()
            if !isBaseBlocked { leave(reset: false) }
        }
    }

    private func tellWritable() {
        guard isWriteWanted else { return }
        isWriteWanted = false
        handler?.transportIsWritable()
    }

    /// Posts a notice, at most one at a time.
    func tell(readable: Bool = false, writable: Bool = false) {
        isReadableDue = isReadableDue || readable
        isWritableDue = isWritableDue || writable
        guard handler != nil, !isPosted else { return }
        isPosted = true
        loop.post(self)
    }

    func deliver() {
        isPosted = false
        let readable = isReadableDue
        let writable = isWritableDue
        isReadableDue = false
        isWritableDue = false
        if readable { handler?.transportIsReadable() }
        if writable {
            isWriteWanted = false
            handler?.transportIsWritable()
        }
    }

    func askToRead() {
        switch state {
        case .open:
            if isBaseReadable || !held.isEmpty || SSL_pending(ssl) > 0 || peerEnd != .none || baseFailure != nil {
                tell(readable: true)
            } else {
                base.askToRead()
            }
        case .failed: tell(readable: true)
        default: break
        }
    }
}
