public import LifelineCore
import Synchronization

/// The bytes that were accepted and that the kernel hasn't taken, the senders that wait for room, and those that wait for the kernel.
///
/// Senders encode into ``buffer`` under ``lock``, from any thread. The loop only tries the lock, so it never waits for an encoder: when
/// it fails it leaves `isWanted` behind, and the sender schedules the flush as it lets go.
///
/// The proof behind `@unchecked`: all state that changes is guarded by `lock`; `core` is set before the object is shared.
@usableFromInline
package final class Outbox: @unchecked Sendable {
    @usableFromInline let lock = Lock()
    @exclusivity(unchecked) @usableFromInline var buffer = ByteOutput()
    /// Taken by the loop and not written yet.
    @exclusivity(unchecked) @usableFromInline var inFlight = 0
    /// Senders that wait, and one that was woken and hasn't encoded yet: a newcomer queues behind them.
    @exclusivity(unchecked) @usableFromInline var isQueued = false
    /// A flush is on its way, so nobody need schedule one.
    @exclusivity(unchecked) @usableFromInline var isScheduled = false
    @exclusivity(unchecked) @usableFromInline var end: SocketError?
    @usableFromInline let highMark: Int
    @exclusivity(unchecked) @usableFromInline package var framesAccepted = 0

    private let lowMark: Int
    private let isWanted = Atomic<Bool>(false)
    @exclusivity(unchecked) private var bytesAccepted: UInt64 = 0
    @exclusivity(unchecked) private var bytesWritten: UInt64 = 0
    @exclusivity(unchecked) private var senders: [OneShot<Void>] = []
    @exclusivity(unchecked) private var isAdmitting = false
    @exclusivity(unchecked) private var flushers: [(target: UInt64, done: any FlushObserver)] = []
    @exclusivity(unchecked) private var lagging = false
    /// What was accepted will not be written any more.
    @exclusivity(unchecked) private var isVoid = false
    /// Set once, before anything is sent. Who uses the outbox holds the connection, and so this. (A weak reference costs a block.)
    @exclusivity(unchecked) package unowned var core: StreamCore?

    package init(marks: Marks) {
        highMark = marks.high
        lowMark = marks.low
    }

    @usableFromInline var level: Int { buffer.count &+ inFlight }

    /// The place behind all that was accepted, in bytes from the start of the stream. Under the lock.
    var place: UInt64 { bytesAccepted &+ UInt64(buffer.count) }

    /// Whether a newcomer may encode. Under the lock.
    @inlinable var hasRoom: Bool { !isQueued && buffer.count &+ inFlight < highMark }

    /// Lets go of the lock, and asks for a flush if the loop was turned away meanwhile or if `needsFlush`.
    @usableFromInline
    func unlock(needsFlush: Bool) {
        lock.unlock()
        if isWanted.load(ordering: .sequentiallyConsistent), isWanted.exchange(false, ordering: .sequentiallyConsistent) || needsFlush {
            core?.scheduleFlush()
        } else if needsFlush {
            core?.scheduleFlush()
        }
    }

    /// Fetches the block that ``buffer`` wants. Lets go of the lock meanwhile, and anything may have happened then.
    @usableFromInline
    func provideBlock() {
        let size = buffer.wantedSize
        unlock(needsFlush: false)
        let block = core?.loop.blocks.block(size) ?? SpareBlock(size: size)
        lock.lock()
        buffer.begin(in: block)
    }

    /// Notes that bytes were appended; true if a flush must be scheduled. Under the lock.
    @inlinable
    func noteAppended() -> Bool {
        framesAccepted &+= 1
        if isScheduled { return false }
        isScheduled = true
        return true
    }

    /// Frames that were accepted so far.
    package var acceptedFrames: Int {
        lock.lock()
        defer { unlock(needsFlush: false) }
        return framesAccepted
    }

    /// Frames that were accepted so far, and the place behind them.
    var accepted: (frames: Int, place: UInt64) {
        lock.lock()
        defer { unlock(needsFlush: false) }
        return (framesAccepted, place)
    }

    /// How many senders wait for their turn.
    package var waitingSenders: Int {
        lock.lock()
        defer { unlock(needsFlush: false) }
        return senders.count
    }

    /// Bytes accepted and not in the kernel.
    package var waitingBytes: Int {
        lock.lock()
        defer { unlock(needsFlush: false) }
        return level
    }
}

// Senders that wait.
extension Outbox {
    /// Waits for a turn to encode; ``admittedIsThrough()`` has to follow. A wait that is cancelled, or that ends at its limit, leaves no
    /// place behind. Throws if the outbox has ended.
    nonisolated(nonsending) func waitForTurn(within limit: Duration? = nil, on loop: (any EventLoop)? = nil) async throws {
        let ticket = try takeTicket(timeOut: limit.map { SocketError(timedOut: .write, after: $0) })
        do {
            if let limit, let loop { try await ticket.value(within: limit, on: loop) } else { try await ticket.value() }
        } catch {
            giveBack(ticket)
            throw error
        }
    }

    /// A place in the queue of senders. Who gives up has to give it back.
    func takeTicket(timeOut: SocketError?) throws -> OneShot<Void> {
        let ticket = OneShot<Void>(timeOut: timeOut)
        lock.lock()
        if let end {
            unlock(needsFlush: false)
            throw end
        }
        senders.append(ticket)
        isQueued = true
        unlock(needsFlush: false)
        admitNext()
        return ticket
    }

    func giveBack(_ ticket: OneShot<Void>) {
        lock.lock()
        if let place = senders.firstIndex(where: { $0 === ticket }) { senders.remove(at: place) }
        isQueued = isAdmitting || !senders.isEmpty
        unlock(needsFlush: false)
    }

    /// The sender that was admitted is through (or gave up): the next one's turn, if there is room.
    @usableFromInline
    func admittedIsThrough() {
        lock.lock()
        isAdmitting = false
        isQueued = !senders.isEmpty
        unlock(needsFlush: false)
        admitNext()
    }

    /// Wakes the first sender that still waits, if nobody is between being woken and encoding.
    func admitNext() {
        while true {
            lock.lock()
            guard !isAdmitting, !senders.isEmpty, level < highMark, end == nil else {
                unlock(needsFlush: false)
                return
            }
            let ticket = senders.removeFirst()
            isAdmitting = true
            unlock(needsFlush: false)
            if ticket.succeed(()) { return }
            // It was cancelled or its time had run out.
            lock.lock()
            isAdmitting = false
            isQueued = !senders.isEmpty
            unlock(needsFlush: false)
        }
    }

    /// Waits until the kernel has taken everything accepted so far.
    package nonisolated(nonsending) func flushed(within limit: Duration?, on loop: any EventLoop) async throws {
        let done = OneShot<Void>(timeOut: limit.map { SocketError(timedOut: .write, after: $0) })
        lock.lock()
        let target = place
        if bytesWritten >= target {
            unlock(needsFlush: false)
            return
        }
        if isVoid, let end {
            unlock(needsFlush: false)
            throw end
        }
        flushers.append((target, done))
        unlock(needsFlush: false)
        do {
            try await done.value(within: limit, on: loop)
        } catch {
            forget(done)
            throw error
        }
    }

    private func forget(_ flusher: OneShot<Void>) {
        lock.lock()
        flushers.removeAll { $0.done === flusher }
        unlock(needsFlush: false)
    }

    /// Tells `observer` when the kernel has taken everything accepted so far. Under the lock.
    func observe(_ observer: any FlushObserver) {
        flushers.append((bytesAccepted &+ UInt64(buffer.count), observer))
    }

    /// Whether nothing more can be sent.
    package var hasEnded: Bool {
        lock.lock()
        defer { unlock(needsFlush: false) }
        return end != nil
    }

    /// A broadcast has waited for it in vain, and it hasn't drained to the low mark since.
    package var isLagging: Bool {
        lock.lock()
        defer { unlock(needsFlush: false) }
        return lagging
    }

    package func beginLagging() {
        lock.lock()
        lagging = level > lowMark
        unlock(needsFlush: false)
    }
}

// The loop's side.
extension Outbox {
    /// Reports `written` bytes and moves what has been appended since to `queue`. False if a sender holds the lock: it will schedule a
    /// flush.
    ///
    /// An empty queue then means that all is written; the next append schedules a flush.
    func exchange(written: Int, into queue: inout WriteQueue) -> Bool {
        if !lock.tryLock() {
            isWanted.store(true, ordering: .sequentiallyConsistent)
            // The sender may have let go in between, without seeing that it is wanted.
            guard lock.tryLock() else { return false }
            isWanted.store(false, ordering: .sequentiallyConsistent)
        }
        inFlight -= written
        bytesWritten &+= UInt64(written)
        let size = buffer.count
        if size > 0 {
            moveBuffer(to: &queue)
            inFlight += size
            bytesAccepted &+= UInt64(size)
        } else if inFlight == 0 {
            isScheduled = false
        }
        let mustAdmit = written > 0 && !senders.isEmpty && !isAdmitting && level <= lowMark
        var doneFlushers: [any FlushObserver] = []
        // What is empty is written with nothing.
        if let first = flushers.first, first.target <= bytesWritten { doneFlushers = takeDoneFlushers() }
        if level <= lowMark { lagging = false }
        lock.unlock()
        if isWanted.exchange(false, ordering: .sequentiallyConsistent) { core?.scheduleFlush() }
        for done in doneFlushers { done.kernelHasAll() }
        if mustAdmit { admitNext() }
        return true
    }

    /// Their places rise. Under the lock.
    private func takeDoneFlushers() -> [any FlushObserver] {
        let reached = bytesWritten
        let count = flushers.firstIndex { $0.target > reached } ?? flushers.count
        let done = flushers[..<count].map(\.done)
        if count == flushers.count { flushers = [] } else { flushers.removeFirst(count) }
        return done
    }

    /// Under the lock.
    private func moveBuffer(to queue: inout WriteQueue) {
        var output = ByteOutput(expecting: min(buffer.blockCount, 64 * 1024))
        swap(&output, &buffer)
        queue.append(output)
    }

    /// Sends fail from now on, and those that wait. What was accepted stays unless `dropping`. The first error stays.
    ///
    /// - Parameter written: bytes that were written and not reported yet.
    func end(_ error: SocketError, dropping: Bool, written: Int = 0) {
        lock.lock()
        if end == nil { end = error }
        inFlight -= written
        bytesWritten &+= UInt64(written)
        let waiting = senders
        senders = []
        isQueued = false
        var done: [any FlushObserver] = []
        var lost: [any FlushObserver] = []
        var dropped = ByteOutput()
        if dropping {
            isVoid = true
            done = takeDoneFlushers()
            lost = flushers.map(\.done)
            flushers = []
            swap(&dropped, &buffer)
        }
        lock.unlock()
        _ = dropped.finish()
        for ticket in waiting { ticket.fail(error) }
        for flusher in done { flusher.kernelHasAll() }
        for flusher in lost { flusher.isLost(error) }
    }
}

/// Waits for the kernel to take what was accepted. Called on any thread.
package protocol FlushObserver: AnyObject, Sendable {
    func kernelHasAll()
    /// The kernel hasn't taken all of it, and never will.
    func isLost(_ error: SocketError)
}

extension OneShot: FlushObserver where Value == Void {
    package func kernelHasAll() { succeed(()) }
    package func isLost(_ error: SocketError) { fail(error) }
}
