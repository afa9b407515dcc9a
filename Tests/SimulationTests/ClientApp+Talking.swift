import LifelineCore
import LifelineRuntime
import LifelineTesting

// Chatting and asking.
extension ClientApp {
    func chat() async throws {
        var dice = world.random
        while !isOver {
            try await pause(upTo: plan.chatEvery * 2)
            for _ in 0..<(chance(0.1) ? 25 : Int.random(in: 1...3, using: &dice)) { try await say() }
            let waiting = link.waitingMessages
            ledger.check(waiting <= plan.mostWaiting, "client \(index): \(waiting) messages wait, and \(plan.mostWaiting) may")
        }
    }

    /// Says something as soon as the link is up: what waits already goes first.
    func chatHastily() async throws {
        for await status in link.statusUpdates where status.isConnected && !isSaying && chance(0.5) {
            let number = ledger.clients[index].newChat(expires: nil)
            let receipt = try link.post(Note(kind: .chat, number: number, client: Int32(index)))
            ledger.clients[index].tell(number, .followed(receipt))
        }
    }

    /// One chat note, in one of the ways.
    private func say() async throws {
        isSaying = true
        defer { isSaying = false }
        var dice = world.random
        let timeToLive: Duration? = chance(0.3) ? .milliseconds(Int.random(in: 1...10_000, using: &dice)) : nil
        let number = ledger.clients[index].newChat(expires: timeToLive.map { world.now + $0 })
        let note = Note(
            kind: chance(0.02) ? .unspeakable : .chat, number: number, client: Int32(index),
            size: Int.random(in: 0...plan.largest, using: &dice))
        ledger.count("chats")
        if Bool.random(using: &dice) {
            let receipt = try link.post(note, timeToLive: timeToLive)
            ledger.clients[index].tell(number, .followed(receipt))
            if receipt.settled == .written { fault("chat \(number) was told to be written before the kernel could have it") }
            if plan.cancels, chance(0.2) {
                if chance(0.5) { try await pause(upTo: .seconds(1)) }
                if receipt.cancel() {
                    ledger.count("withdrawn")
                    if case .neverSent? = receipt.settled {
                    } else {
                        fault("chat \(number) was withdrawn, and it is \(receipt.settled as Any)")
                    }
                }
            }
        } else {
            do {
                if plan.cancels, chance(0.2) {
                    let patience = Duration.milliseconds(Int.random(in: 1...4_000, using: &dice))
                    try await cancelling(after: patience) { try await self.link.send(note, timeToLive: timeToLive) }
                } else {
                    try await link.send(note, timeToLive: timeToLive)
                }
                ledger.clients[index].tell(number, .accepted)
            } catch {
                ledger.clients[index].tell(number, .refused("\(error)"))
                let codes: [SocketError.Code] = [.offline, .queueFull, .expired, .superseded, .closed, .unencodable]
                if let error = error as? SocketError { ledger.check(codes.contains(error.code), "client \(index): send threw \(error)") }
                ledger.count("refused")
            }
        }
    }

    func ask() async throws {
        while !isOver {
            try await pause(upTo: plan.askEvery * 2)
            try await askOnce()
        }
    }

    private func askOnce() async throws {
        var dice = world.random
        questionsSoFar += 1
        let number = questionsSoFar
        let question = Note(kind: .question, number: number, client: Int32(index), size: Int.random(in: 0...plan.largest, using: &dice))
        let limit: Duration? = chance(0.3) ? nil : .milliseconds(Int.random(in: 200...8_000, using: &dice))
        let before = world.now
        let status = link.status
        ledger.clients[index].requestsDue.insert(number)
        defer {
            ledger.clients[index].requestsDue.remove(number)
            let time = world.now - before
            if let limit { ledger.check(time <= limit, "client \(index): a request took \(time) of \(limit)") }
        }
        do {
            let answer: Letter
            if plan.cancels, chance(0.1) {
                let patience = Duration.milliseconds(Int.random(in: 1...4_000, using: &dice))
                answer = try await cancelling(after: patience) { try await self.link.request(question, within: limit) }
            } else {
                answer = try await link.request(question, within: limit)
            }
            let note = answer.note
            ledger.check(
                note.kind == .answer && note.number == number && note.client == Int32(index),
                "client \(index): question \(number) was answered by \(note)")
            ledger.count("answered")
        } catch let error as SocketError {
            ledger.count(error.code.description)
            switch error.code {
            case .closed:
                if case .waiting = status, status == link.status, world.now == before {
                    fault("a request without a connection threw \(error)")
                }
            case .offline, .tooManyRequests: break
            case .timedOut:
                ledger.check(
                    world.now - before == limit, "client \(index): a request ended after \(world.now - before), not \(limit as Any)")
            default: fault("a request threw \(error)")
            }
        } catch is CancellationError {
            ledger.count("cancelled")
            try Task.checkCancellation()
        }
    }

    /// Runs `body`, and cancels it after a while.
    private func cancelling<R: Sendable>(after patience: Duration, _ body: @escaping @Sendable () async throws -> R) async throws -> R {
        let world = world
        return try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try? await world.advance(by: patience)
                return nil
            }
            let first = try await group.next()
            group.cancelAll()
            if case .some(.some(let result)) = first { return result }
            guard case .some(.some(let result)) = try await group.next() else { throw CancellationError() }
            return result
        }
    }

    /// That the link is up by `deadline`, and that a question is answered over it.
    func checkIsUp(by deadline: Duration) async throws {
        while true {
            if link.status.isConnected {
                let question = Note(kind: .question, number: -1, client: Int32(index))
                if (try? await link.request(question, within: .seconds(2)))?.note.number == -1 { return }
            }
            guard world.now < deadline else {
                fault("it isn't up at \(deadline), but \(link.status)")
                return
            }
            try await world.advance(by: .milliseconds(500))
        }
    }
}
