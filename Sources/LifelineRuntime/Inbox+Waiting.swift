import LifelineCore

// Waiting in other ways.
extension Inbox {
    /// As ``next()``, for at most `limit`.
    package nonisolated(nonsending) func next(within limit: Duration, on loop: any EventLoop) async throws -> Frame? {
        switch take() {
        case .frame(let frame): return frame
        case .ended(let reason):
            if let error = reason.error { throw error }
            return nil
        case .busy: throw Self.secondReader
        case .nothing: break
        }
        let id = newWaiterID()
        let limiter = WaitLimiter { self.unpark(id, throwing: SocketError(timedOut: .read, after: limit)) }
        let timer = LoopTimer(limiter)
        loop.armFromAnywhere(timer, after: limit)
        defer {
            loop.disarmFromAnywhere(timer)
            withExtendedLifetime(limiter) {}
        }
        return try await wait(id)
    }

    /// All frames that are there, waiting for the first; nil after a clean end.
    package nonisolated(nonsending) func nextBatch() async throws -> [Frame]? {
        let (frames, taken) = takeAll()
        if !frames.isEmpty { return frames }
        switch taken {
        case .ended(let reason):
            if let error = reason.error { throw error }
            return nil
        case .busy: throw Self.secondReader
        case .nothing, .frame: break
        }
        let id = newWaiterID()
        try await pause(id)
        while true {
            let (arrived, taken) = takeAll(for: id)
            if !arrived.isEmpty { return arrived }
            switch taken {
            case .ended(let reason):
                if let error = reason.error { throw error }
                return nil
            case .busy: await Task.yield()
            case .nothing, .frame: throw Self.secondReader
            }
        }
    }
}

/// Ends a wait when a timer fires.
final class WaitLimiter: LoopTimerTarget {
    private let end: () -> Void

    init(_ end: @escaping () -> Void) { self.end = end }

    func timerFired(_ timer: LoopTimer) { end() }
}
