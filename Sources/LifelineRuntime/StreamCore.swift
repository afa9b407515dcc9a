package import LifelineCore

/// Whose bytes a stream's are. Called on the loop; held weakly.
package protocol StreamOwner: AnyObject, Sendable {
    /// Bytes were added to ``StreamCore/input``.
    func streamHasInput()
    /// The peer's stream is over. What is left in the input is unfinished; an error says that it must not be.
    ///
    /// - Parameter isCut: the peer should have said so and hasn't. An error says that it matters: nothing proves then that all has arrived.
    func streamInputEnded(isCut: Bool) -> SocketError?
    /// What has arrived of a frame that isn't complete.
    var unfinishedFrame: PendingFrame? { get }
    /// No more bytes will come, for `reason`. What the input holds is the owner's to keep or to drop.
    func streamReadingEnded(_ reason: CloseReason)
}

/// Told of a stream's progress, on the loop. Held weakly.
package protocol StreamWatcher: AnyObject {
    /// The kernel has taken all up to ``StreamCore/watchedPlace``, which is to be set anew.
    func streamHasWritten()
    /// The owner has room again, and reading goes on.
    func streamIsReadOn()
}

/// A live stream, whatever is made of its bytes: drives the transport, the outbox, the time limits and ``StreamMachine``.
///
/// It belongs to the actor that it feeds, and to the transport until that is closed. The proof behind `@unchecked`: everything that
/// changes is touched on `loop` only; what other threads call goes there first.
package final class StreamCore: @unchecked Sendable {
    package let loop: any EventLoop
    /// The loop's; asking for them with each read would take a while.
    let storages: StorageCache
    @exclusivity(unchecked) package internal(set) var transport: any Transport
    /// The transport that it began with has something to agree on before it carries data.
    let isHandshakeDue: Bool
    package let outbox: Outbox
    /// Shared by all connections of a server.
    private let settings: Settings
    package var options: ConnectionOptions { settings.options }

    package weak var owner: (any StreamOwner)?
    /// What has arrived and no decoder has taken.
    @exclusivity(unchecked) package var input = ByteInput()
    @exclusivity(unchecked) package var counters = Counters()

    @exclusivity(unchecked) var machine = StreamMachine()
    /// False while the owner has no room.
    @exclusivity(unchecked) var isReading = true
    /// The transport was readable when reading was left off.
    @exclusivity(unchecked) var isReadDue = false
    @exclusivity(unchecked) var isReadPosted = false
    /// Taken from the outbox and not written.
    @exclusivity(unchecked) var unwritten = WriteQueue()
    /// Written and not reported to the outbox yet.
    @exclusivity(unchecked) var unreported = 0
    @exclusivity(unchecked) var isWriteBlocked = false
    @exclusivity(unchecked) var writeError: SocketError?
    @exclusivity(unchecked) var deadlines = Deadlines()
    @exclusivity(unchecked) var timer: LoopTimer?
    @exclusivity(unchecked) var timerTime = LoopTime.never
    /// Who is told when the kernel has taken so much, and when reading goes on.
    @exclusivity(unchecked) weak var watcher: (any StreamWatcher)?
    /// In bytes from the start of the stream.
    @exclusivity(unchecked) var watchedPlace = UInt64.max
    @exclusivity(unchecked) var closeWaiters: [OneShot<Bool>] = []
    /// Called once, when the transport has been given back. On the loop.
    @exclusivity(unchecked) var onClosed: (@Sendable () -> Void)?
    let opened: LoopTime
    @exclusivity(unchecked) var lastHeard: LoopTime
    @exclusivity(unchecked) var finalTCPInfo: TCPInfo?

    /// What has passed so far.
    package struct Counters {
        package var bytesIn: UInt64 = 0
        package var bytesOut: UInt64 = 0
        package var framesIn: UInt64 = 0
        package var findings: UInt64 = 0
        /// The latest that the heartbeat has measured.
        package var roundTrip: Duration?
    }

    /// At most this much is read from one connection before the others have their turn.
    static let readBudget = 256 * 1024

    /// Options in one block, for they are larger than all else that a connection keeps.
    package final class Settings: Sendable {
        let options: ConnectionOptions
        package init(_ options: ConnectionOptions) { self.options = options }
    }

    package init(transport: any Transport, settings: Settings) {
        let options = settings.options
        loop = transport.loop
        storages = transport.loop.storages
        self.transport = transport
        isHandshakeDue = transport.handshake != nil
        self.settings = settings
        outbox = Outbox(marks: options.outbox)
        opened = transport.loop.now
        lastHeard = opened
        outbox.core = self
    }

    package convenience init(transport: any Transport, options: ConnectionOptions) {
        self.init(transport: transport, settings: Settings(options))
    }

    /// Begins to read. On the loop, once ``owner`` is set.
    package func start() {
        lastHeard = loop.now
        if let limit = options.idleLimit { deadlines[.idle] = lastHeard.advanced(by: limit) }
        if let limit = options.firstFrameLimit { deadlines[.firstFrame] = lastHeard.advanced(by: limit) }
        rearm()
        transport.start(self)
    }

    /// Does what the machine says.
    func perform(_ actions: StreamMachine.Actions, lingerLimit: Duration? = nil) {
        if actions.isEmpty { return }
        if actions.contains(.endReading), let reason = machine.reason {
            deadlines[.firstFrame] = .never
            deadlines[.idle] = .never
            deadlines[.frame] = .never
            owner?.streamReadingEnded(reason)
        }
        if actions.contains(.refuseSends) {
            outbox.end(sendError, dropping: actions.contains(.dropOutbox), written: unreported)
            unreported = 0
        }
        if actions.contains(.dropOutbox) {
            unwritten = WriteQueue()
            deadlines[.write] = .never
        }
        if actions.contains(.armHalfOpen), let limit = options.halfOpenLimit {
            deadlines[.halfOpen] = loop.now.advanced(by: limit)
        }
        if actions.contains(.armLinger) {
            // A limit that runs already may only become shorter.
            deadlines[.linger] = min(deadlines[.linger], loop.now.advanced(by: lingerLimit ?? options.lingerLimit))
        }
        if actions.contains(.discardInput) {
            input.removeAll()
            isReading = true
            readSoon()
        }
        if actions.contains(.shutdownWrites) { transport.shutdownWrites() }
        if actions.contains(.close) || actions.contains(.reset) {
            tearDown(reset: actions.contains(.reset))
        } else {
            rearm()
            if actions.contains(.flush) { flush() }
        }
    }

    /// What a send throws now.
    private var sendError: SocketError {
        if let reason = machine.reason, machine.phase != .live {
            return SocketError(.closed, "the connection has ended: \(reason)", cause: reason.error)
        }
        if let writeError { return SocketError(.closed, "the connection can't be written to", cause: writeError) }
        return SocketError(.closed, "this side has finished sending")
    }

    private func tearDown(reset: Bool) {
        deadlines = Deadlines()
        rearm()
        timer = nil
        switch machine.reason {
        case .closedByPeer, .failed: break  // What arrived before the end is still there for a late reader.
        default: input.removeAll()
        }
        finalTCPInfo = transport.tcpInfo
        transport.close(reset: reset)
        let waiters = closeWaiters
        closeWaiters = []
        for waiter in waiters { waiter.succeed(machine.isComplete) }
        onClosed?()
        onClosed = nil
    }
}

// Time limits: one timer for all of them, armed for the next.
extension StreamCore: LoopTimerTarget {
    enum Limit: Int, CaseIterable { case idle, firstFrame, frame, write, halfOpen, linger }

    struct Deadlines {
        private var times = (LoopTime.never, LoopTime.never, LoopTime.never, LoopTime.never, LoopTime.never, LoopTime.never)

        subscript(limit: Limit) -> LoopTime {
            get {
                switch limit {
                case .idle: times.0
                case .firstFrame: times.1
                case .write: times.2
                case .halfOpen: times.3
                case .linger: times.4
                case .frame: times.5
                }
            }
            set {
                switch limit {
                case .idle: times.0 = newValue
                case .firstFrame: times.1 = newValue
                case .write: times.2 = newValue
                case .halfOpen: times.3 = newValue
                case .linger: times.4 = newValue
                case .frame: times.5 = newValue
                }
            }
        }

        var first: LoopTime { min(min(times.0, times.1, times.2), min(times.3, times.4, times.5)) }
    }

    /// Arms the timer for the first deadline. A deadline that has moved away is found out when the timer fires.
    func rearm() {
        let first = deadlines.first
        if first == .never {
            if let timer, timer.isArmed {
                loop.disarm(timer)
                timerTime = .never
            }
        } else if first < timerTime || timer?.isArmed != true {
            let timer = self.timer ?? LoopTimer(self)
            self.timer = timer
            timerTime = first
            loop.arm(timer, at: first)
        }
    }

    package func timerFired(_ timer: LoopTimer) {
        timerTime = .never
        let now = loop.now
        for limit in Limit.allCases where deadlines[limit] <= now {
            deadlines[limit] = .never
            fire(limit, now)
            if machine.phase == .closed { return }
        }
        rearm()
    }

    /// A handshake has a limit of its own: the others begin behind it.
    var isInHandshake: Bool { transport.handshake?.isUnderWay == true }

    private func fire(_ limit: Limit, _ now: LoopTime) {
        switch limit {
        case .idle:
            guard let idle = options.idleLimit else { return }
            let due = lastHeard.advanced(by: idle)
            if due > now || !isReading || isInHandshake {
                // Heard since, or not listening because the reader is slow: lazily on.
                deadlines[.idle] = max(due, isReading && !isInHandshake ? due : now.advanced(by: idle))
            } else {
                end(SocketError(timedOut: .idle, after: idle))
            }
        case .firstFrame:
            guard counters.framesIn == 0, let limit = options.firstFrameLimit else { return }
            if isInHandshake {
                deadlines[.firstFrame] = now.advanced(by: limit)
            } else {
                end(SocketError(timedOut: .firstFrame, after: limit))
            }
        case .frame:
            if let limit = options.unfinishedFrameLimit, let pending = owner?.unfinishedFrame {
                end(SocketError(timedOut: .frame, after: limit, detail: pending.description, pending: pending))
            }
        case .write:
            guard let limit = options.writeLimit else { return }
            let due = isInHandshake ? now.advanced(by: limit) : transport.lastProgress?.advanced(by: limit) ?? now
            if due > now {
                deadlines[.write] = due
            } else {
                end(SocketError(timedOut: .write, after: limit, detail: "the peer takes nothing of \(outbox.waitingBytes) bytes"))
            }
        case .halfOpen:
            perform(machine.halfOpenLimit())
        case .linger:
            perform(
                machine.lingerLimit(
                    error: writeError ?? SocketError(timedOut: .close, after: options.lingerLimit),
                    losing: outbox.waitingBytes > 0))
        }
    }

    /// Ends the stream at once with `error`.
    package func end(_ error: SocketError) {
        perform(machine.closeNow(because: .failed(error), losing: outbox.waitingBytes > 0))
    }
}
