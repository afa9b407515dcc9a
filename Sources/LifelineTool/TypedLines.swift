import Lifeline

/// Lines of standard input on their way over a link. Of each one that is never sent it is told, and why.
struct TypedLines<C: ShellCodec>: Sendable {
    let link: Supervisor<C>
    let settings: Settings

    /// Sends lines until their end, or until the task is cancelled. Returns how many weren't sent.
    func send(_ lines: InputFrames) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            var lines = lines
            var unsent = 0
            var open = 0
            while !Task.isCancelled, let frame = await next(&lines, unsent: &unsent) {
                while open >= settings.link.offline.room(isConnected: link.status.isConnected), let wasSent = await group.next() {
                    open -= 1
                    unsent += wasSent ? 0 : 1
                }
                do {
                    let receipt = try link.post(frame)
                    open += 1
                    group.addTask { await follow(receipt, of: frame) }
                } catch {
                    complain(frame, error)
                    unsent += 1
                }
            }
            for await wasSent in group where !wasSent { unsent += 1 }
            let rest = lines.countRest()
            if rest > 0 { Console.note("not sent: \(count(rest, "more line")) that had been read") }
            return unsent + rest
        }
    }

    /// The next line that is a frame; nil at the end, and when the task is cancelled.
    private func next(_ lines: inout InputFrames, unsent: inout Int) async -> ShellFrame? {
        while true {
            do {
                return try await lines.next()
            } catch let error as SocketError where error.code == .unencodable {
                Console.note("not sent: \(error.message)")
                unsent += 1
            } catch is CancellationError {
                return nil
            } catch {
                Console.note("nothing more is sent: \(error)")
                unsent += 1
                return nil
            }
        }
    }

    /// Waits for what becomes of a line. Returns whether it was sent.
    private func follow(_ receipt: SendReceipt, of frame: ShellFrame) async -> Bool {
        // Where the task is cancelled the link has stopped, and everything is settled.
        let outcome = (try? await receipt.outcome) ?? receipt.settled
        switch outcome {
        case .written: return true
        case .neverSent(let error): complain(frame, error)
        case nil: complain(frame, SocketError(.closed, "the link has gone"))
        }
        return false
    }

    private func complain(_ frame: ShellFrame, _ error: any Error) {
        var words = "\(error)"
        if let error = error as? SocketError {
            // Why the link has stopped is told once, by its status.
            words = (error.cause as? SocketError).map { "\($0.code)" } ?? "\(error.code): \(error.message)"
        }
        Console.note("not sent: \(settings.framing.lines.excerpt(frame)): \(words)")
    }
}
