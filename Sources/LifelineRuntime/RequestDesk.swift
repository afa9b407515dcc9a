package import LifelineCore

/// What a connection asks of its ``PairedRequests``, without the type of the ids.
package protocol RequestDesk<C>: AnyObject, Sendable {
    associatedtype C: Codec

    /// Sends `message` with an id of its own, or in its place, and waits for the frame that answers it.
    nonisolated(nonsending) func request(
        _ message: C.Outgoing, within limit: Duration?, on connection: Connection<C>
    ) async throws -> C.Decoder.Frame

    /// How things stand. On the loop.
    var counts: RequestCounts { get }

    /// Goes on with the ids of `old`, whose requesters get `error`: no request of one gets an answer to one of the other. On the loop.
    func succeed(_ old: any RequestDesk<C>, _ error: SocketError)
}

extension PairingRule {
    /// A desk that pairs by this rule, which sees the frames of `inbound` from now on.
    func makeDesk(_ inbound: Inbound<C.Decoder>, _ outbound: Outbound<C.Encoder>) -> any RequestDesk<C> {
        let desk = PairedRequests(self, inbound, outbound)
        inbound.add(desk)
        return desk
    }
}

/// The requests of one connection: begins them, sends them, and finds their answers among the frames that arrive.
///
/// The proof behind `@unchecked`: everything that changes is touched on the loop only; what other threads call goes there first.
final class PairedRequests<Rule: PairingRule>: RequestDesk, FrameTaker, LoopTimerTarget, @unchecked Sendable {
    typealias C = Rule.C
    typealias Frame = C.Decoder.Frame
    typealias Ticket = RequestTable<Rule.ID, Requester>.Ticket

    /// Who waits for an answer.
    struct Requester: Sendable {
        let answer = OneShot<Frame>()
        let limit: Duration?
        let deadline: LoopTime?

        /// What is left of the time.
        func rest(_ now: LoopTime) -> Duration? { deadline.map { now.duration(to: $0) } }
    }

    private let rule: Rule
    private let loop: any EventLoop
    private let inbox: Inbox<Frame>
    private let outbound: Outbound<C.Encoder>
    @exclusivity(unchecked) private var table: RequestTable<Rule.ID, Requester>
    /// One for all of them. Answers don't disarm it: it finds out when it fires.
    @exclusivity(unchecked) private var timer: LoopTimer?
    @exclusivity(unchecked) private var timerTime = LoopTime.never

    init(_ rule: Rule, _ inbound: Inbound<C.Decoder>, _ outbound: Outbound<C.Encoder>) {
        self.rule = rule
        self.outbound = outbound
        loop = inbound.core.loop
        inbox = inbound.inbox
        table = rule.makeTable(for: Requester.self)
    }

    var counts: RequestCounts { table.counts }

    func succeed(_ old: any RequestDesk<C>, _ error: SocketError) {
        guard let old = old as? Self else { return }
        for requester in old.table.giveUpAll() { requester.answer.fail(error) }
        table = old.table
    }

    nonisolated(nonsending) func request(
        _ message: C.Outgoing, within limit: Duration?, on connection: Connection<C>
    ) async throws -> Frame {
        if let limit, limit <= .zero { throw SocketError(timedOut: .write, after: limit, detail: "nothing was sent") }
        try Task.checkCancellation()
        let requester = Requester(limit: limit, deadline: limit.map { loop.now.advanced(by: $0) })
        let ticket: Ticket
        if rule.isOrdered {
            ticket = try await sendInOrder(connection.frame(for: message), requester, on: connection)
        } else {
            ticket = try await sendWithID(message, requester, on: connection)
        }
        do {
            return try await requester.answer.value()
        } catch let error as CancellationError {
            loop.run { self.table.cancel(ticket) }
            throw error
        }
    }
}

// Sending. A request is in the table before its bytes can leave: the answer may be there before `send` has returned.
extension PairedRequests {
    private nonisolated(nonsending) func sendWithID(
        _ message: C.Outgoing, _ requester: Requester, on connection: Connection<C>
    ) async throws -> Ticket {
        let ticket = try await loop.isCurrent ? begin(requester) : begin(requester, on: connection)
        do {
            var message = message
            rule.assign(ticket.id, to: &message)
            let frame = try connection.frame(for: message)
            if let rest = requester.rest(loop.now) {
                try await outbound.send(frame, within: rest, on: loop)
            } else {
                try await outbound.send(frame)
            }
        } catch {
            loop.run { self.table.withdraw(ticket) }
            throw error
        }
        return ticket
    }

    /// Takes a place in the table and one on the wire in one turn of the loop.
    private nonisolated(nonsending) func sendInOrder(
        _ frame: C.Encoder.Frame, _ requester: Requester, on connection: Connection<C>
    ) async throws -> Ticket {
        if loop.isCurrent, let ticket = try trySendInOrder(frame, requester) { return ticket }
        return try await sendInOrder(frame, requester, in: connection)
    }

    private func sendInOrder(
        _ frame: C.Encoder.Frame, _ requester: Requester, in connection: isolated Connection<C>
    ) async throws -> Ticket {
        if let ticket = try trySendInOrder(frame, requester) { return ticket }
        try await outbound.outbox.waitForTurn(within: requester.rest(loop.now), on: loop)
        let ticket: Ticket
        do {
            ticket = try begin(requester)
        } catch {
            outbound.outbox.admittedIsThrough()
            throw error
        }
        do {
            try outbound.sendAdmitted(frame)
        } catch {
            table.withdraw(ticket)
            throw error
        }
        return ticket
    }

    /// Nil if there is no room. On the loop.
    private func trySendInOrder(_ frame: C.Encoder.Frame, _ requester: Requester) throws -> Ticket? {
        let ticket = try begin(requester)
        do {
            if try outbound.trySend(frame) { return ticket }
        } catch {
            table.withdraw(ticket)
            throw error
        }
        table.withdraw(ticket)
        return nil
    }

    private func begin(_ requester: Requester, on connection: isolated Connection<C>) throws -> Ticket { try begin(requester) }

    /// On the loop.
    private func begin(_ requester: Requester) throws -> Ticket {
        let ticket = try table.begin(requester, until: requester.deadline?.sinceOrigin)
        rearm()
        return ticket
    }
}

// The loop's side.
extension PairedRequests {
    func take(_ frame: Frame) -> Bool {
        guard let answer = rule.answer(frame, in: &table) else { return false }
        if case .due(let requester) = answer, !requester.answer.succeed(frame) { table.answerWasLate() }
        return true
    }

    func noMoreFrames(_ reason: CloseReason) {
        if let timer { loop.disarm(timer) }
        timer = nil
        let error: SocketError
        if let misuse = reason.error, misuse.code == .misuse {
            error = misuse
        } else {
            error = SocketError(.closed, "no answer can come any more: \(reason)", cause: reason.error)
        }
        for requester in table.end(error) { requester.answer.fail(error) }
    }

    func timerFired(_ timer: LoopTimer) {
        timerTime = .never
        let late = table.expire(loop.now.sinceOrigin)
        rearm()
        if late.isEmpty { return }
        let detail = inbox.isPaused ? "reading is paused, for nobody takes the messages that arrived before it" : ""
        for requester in late {
            requester.answer.fail(SocketError(timedOut: .answer, after: requester.limit ?? .zero, detail: detail))
        }
    }

    private func rearm() {
        guard let next = table.nextDeadline else { return }
        let time = LoopTime(sinceOrigin: next)
        guard time < timerTime else { return }
        let timer = self.timer ?? LoopTimer(self)
        self.timer = timer
        timerTime = time
        loop.arm(timer, at: time)
    }
}
