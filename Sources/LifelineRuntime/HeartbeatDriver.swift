package import LifelineCore

/// A heartbeat that was found good, in one block for all connections of a server.
package final class HeartbeatPlan<C: Codec>: Sendable {
    package let heartbeat: Heartbeat<C>
    /// What it makes of a frame; an answer is set beside. One closure, since the types of the heartbeat's parts would be looked up at run
    /// time with each frame.
    fileprivate let look: @Sendable (C.Decoder.Frame, inout C.Outgoing?) -> FrameMeaning

    /// Whether a few milliseconds more or less don't matter.
    fileprivate var isPatient: Bool {
        guard let schedule = heartbeat.schedule else { return false }
        return (schedule.kind == .answeredSends || schedule.every >= .seconds(1))
            && (schedule.kind == .oneWay || schedule.answerWithin >= .seconds(1))
    }

    /// Nil if there is nothing to do; throws ``SocketError/Code/invalidSetting``.
    package init?(_ heartbeat: Heartbeat<C>) throws(SocketError) {
        try heartbeat.validate()
        if heartbeat.isNone { return nil }
        self.heartbeat = heartbeat
        let (pong, answer, isDropped) = (heartbeat.pong, heartbeat.answer, heartbeat.isDropped)
        look = { frame, result in
            switch pong?(frame) {
            case .yes?: return .pong
            case .number(let number)?: return .numberedPong(number)
            case .no?, nil: break
            }
            if let answer, answer(frame, &result) { return .answered }
            return isDropped?(frame) == true ? .dropped : .users
        }
    }
}

/// What a frame is to a heartbeat.
private enum FrameMeaning {
    case users
    case pong
    case numberedPong(UInt32)
    case answered
    case dropped
}

/// Does for one connection what its heartbeat says: one timer, armed lazily, and a look at each frame.
///
/// It belongs to the connection, which must not be held by it. The proof behind `@unchecked`: it is used on the core's loop only.
package final class HeartbeatDriver<C: Codec>: @unchecked Sendable {
    private let plan: HeartbeatPlan<C>
    private let codec: C
    private let core: StreamCore
    private let outbound: Outbound<C.Encoder>
    private var machine: HeartbeatMachine?
    private var timer: LoopTimer?
    private var timerTime = LoopTime.never
    private var isOver = false

    /// The places in the stream behind what was sent and isn't in the kernel yet.
    private var beatPlace = UInt64.max
    private var answerPlace = UInt64.max
    /// The answer to the newest ping, while an older one's isn't in the kernel.
    private var heldAnswer: C.Encoder.Frame?
    /// What `look` has found to answer.
    @exclusivity(unchecked) private var foundAnswer: C.Outgoing?
    /// Frames that weren't the user's.
    private var ownFrames = 0
    /// The user's, as far as they have been seen, and the place behind them while the kernel hasn't got there.
    private var userFrames = 0
    private var userPlace = UInt64.max

    /// Told, on the loop, of each round trip that was measured.
    package var onRoundTrip: (@Sendable (Duration) -> Void)?

    package init(_ plan: HeartbeatPlan<C>, codec: C, core: StreamCore, outbound: Outbound<C.Encoder>) {
        self.plan = plan
        self.codec = codec
        self.core = core
        self.outbound = outbound
        machine = plan.heartbeat.schedule.map { HeartbeatMachine($0) }
    }

    /// Begins with beats of its own; the peer's pings are answered before, too. Once only.
    package func begin() {
        guard !isOver, machine != nil else { return }
        if machine?.schedule.kind == .answeredSends { userFrames = core.outbox.acceptedFrames - ownFrames }
        var dice = LoopDice(core.loop)
        perform(machine?.begin(now: core.loop.now.sinceOrigin, using: &dice))
        settle()
    }

    /// Goes on for `old`, whose connection this one's takes over: an answer that waits for the kernel isn't forgotten.
    package func succeed(_ old: HeartbeatDriver) {
        answerPlace = old.answerPlace
        heldAnswer = old.heldAnswer
        settle()
    }

    private func perform(_ action: HeartbeatMachine.Action?) {
        switch action {
        case .beat(let number)?:
            guard let beat = plan.heartbeat.beat, let place = send(beat(number)) else { return }
            beatPlace = place
        case .fail(let misses)?:
            let limit = plan.heartbeat.schedule?.answerWithin ?? .zero
            core.end(SocketError(.heartbeatMissed, "the peer didn't answer within \(limit)\(misses > 1 ? ", \(misses) times" : "")"))
        case .nothing?, nil:
            break
        }
    }

    /// The place behind the frame; nil if nothing can be sent any more. What can't be encoded ends the connection: in silence the peer
    /// would find this side dead.
    private func send(_ message: C.Outgoing) -> UInt64? {
        do {
            return try send(frame: codec.frame(for: message))
        } catch {
            endSoon(SocketError(encoding: error))
            return nil
        }
    }

    private func send(frame: C.Encoder.Frame) -> UInt64? {
        do {
            let place = try outbound.sendControl(frame)
            ownFrames += 1
            return place
        } catch let error as SocketError where error.code == .closed || error.code == .misuse {
            // This side has finished sending.
            machine?.end()
            return nil
        } catch {
            endSoon(SocketError(encoding: error))
            return nil
        }
    }

    /// Behind the frames that are just being looked at.
    private func endSoon(_ error: SocketError) { core.loop.submit { [core] in core.end(error) } }

    /// Arms the timer and the watch on the kernel for what is next.
    private func settle() {
        guard !isOver else { return }
        var place = min(beatPlace, answerPlace)
        if let machine, machine.schedule.kind == .answeredSends, machine.state != .held, machine.state != .over {
            place = min(place, userPlace < .max ? userPlace : core.counters.bytesOut + 1)
        }
        if place < .max || core.watcher == nil { core.watcher = self }
        core.watchedPlace = place
        guard let time = machine?.deadline.map({ LoopTime(sinceOrigin: $0) }) else { return }
        // One that is armed for an earlier time finds out when it fires.
        if time < timerTime || timer?.isArmed != true {
            let timer = self.timer ?? LoopTimer(self, isPatient: plan.isPatient)
            self.timer = timer
            timerTime = time
            core.loop.arm(timer, at: time)
        }
    }

    private func answer(_ message: C.Outgoing) {
        let frame: C.Encoder.Frame
        do {
            frame = try codec.frame(for: message)
        } catch {
            endSoon(SocketError(encoding: error))
            return
        }
        if answerPlace < .max {
            heldAnswer = frame
        } else if let place = send(frame: frame) {
            answerPlace = place
            settle()
        }
    }
}

extension HeartbeatDriver: FrameTaker {
    package func take(_ frame: C.Decoder.Frame) -> Bool {
        switch plan.look(frame, &foundAnswer) {
        case .users: return false
        case .pong: answered(nil)
        case .numberedPong(let number): answered(number)
        case .answered: sendAnswer()
        case .dropped: break
        }
        return true
    }

    private func sendAnswer() {
        guard let message = foundAnswer else { return }
        foundAnswer = nil
        answer(message)
    }

    private func answered(_ number: UInt32?) {
        guard let roundTrip = machine?.answered(number: number, now: core.loop.now.sinceOrigin) else { return }
        core.counters.roundTrip = roundTrip
        settle()
        onRoundTrip?(roundTrip)
    }

    package func noMoreFrames(_ reason: CloseReason) {
        isOver = true
        machine?.end()
        heldAnswer = nil
        onRoundTrip = nil
        if let timer, timer.isArmed { core.loop.disarm(timer) }
        timer = nil
        if core.watcher === self {
            core.watcher = nil
            core.watchedPlace = .max
        }
    }
}

extension HeartbeatDriver: LoopTimerTarget {
    package func timerFired(_ timer: LoopTimer) {
        timerTime = .never
        var dice = LoopDice(core.loop)
        let hearing: HeartbeatMachine.Hearing = !core.isReading ? .paused : core.isReadDue ? .behind : .open
        perform(
            machine?.fired(now: core.loop.now.sinceOrigin, heard: core.counters.bytesIn, hearing: hearing, using: &dice))
        settle()
    }
}

extension HeartbeatDriver: StreamWatcher {
    package func streamHasWritten() {
        let written = core.counters.bytesOut
        let now = core.loop.now.sinceOrigin
        if beatPlace <= written {
            beatPlace = .max
            machine?.taken(now: now, heard: core.counters.bytesIn)
        } else if machine?.schedule.kind == .answeredSends {
            noteSends(written, now)
        }
        if answerPlace <= written {
            answerPlace = .max
            if let held = heldAnswer, let place = send(frame: held) { answerPlace = place }
            heldAnswer = nil
        }
        settle()
    }

    /// The peer can answer a message that the kernel has all of.
    private func noteSends(_ written: UInt64, _ now: Duration) {
        if userPlace <= written {
            userPlace = .max
            machine?.taken(now: now, heard: core.counters.bytesIn)
        }
        let (frames, place) = core.outbox.accepted
        // Answers to the peer's pings expect nothing.
        guard userPlace == .max, frames - ownFrames > userFrames else { return }
        userFrames = frames - ownFrames
        if place <= written {
            machine?.taken(now: now, heard: core.counters.bytesIn)
        } else {
            userPlace = place
        }
    }

    package func streamIsReadOn() {
        machine?.resumed(now: core.loop.now.sinceOrigin)
    }
}
