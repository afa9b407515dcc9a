internal import LifelineCore
internal import LifelineRuntime

/// Where a pair of transports is tried: an actor on their loop, so that a check's steps are calls on the loop.
final actor ConformanceBench {
    nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    nonisolated let tellsResets: Bool
    nonisolated let travelTime: Duration
    let near: ConformanceEnd
    let far: ConformanceEnd

    init(_ near: any Transport, _ far: any Transport, on loop: any EventLoop, tellsResets: Bool, travelTime: Duration) {
        self.loop = loop
        self.tellsResets = tellsResets
        self.travelTime = travelTime
        let calls = ConformanceEnd.Calls()
        self.near = ConformanceEnd("the near end", near, calls)
        self.far = ConformanceEnd("the far end", far, calls)
        loop.join()
    }

    deinit { loop.leave() }

    /// Runs `check` and closes both ends, whatever came of it.
    func run(_ check: TransportConformance.Check) async throws {
        do {
            try await check.body(self)
            near.close()
            far.close()
            try await turns(2)
        } catch {
            near.close()
            far.close()
            throw error
        }
        try near.expectNoViolation()
        try far.expectNoViolation()
    }

    /// Starts both ends and lets their first notices pass.
    func start() async throws {
        near.start()
        far.start()
        try await turns(3)
        near.forgetNotices()
        far.forgetNotices()
    }

    /// Lets the loop take so many turns, and what is under way arrive in each.
    func turns(_ count: Int) async throws {
        for _ in 0..<count {
            let turned = OneShot<Void>()
            loop.submit { turned.succeed(()) }
            try await turned.value()
            if travelTime > .zero { try await pass(travelTime) }
        }
    }

    private func pass(_ time: Duration) async throws {
        let passed = OneShot<Void>(timeOut: SocketError(.timedOut, "as it should"))
        do {
            try await passed.value(within: time, on: loop)
        } catch is SocketError {}
    }
}

/// What a check found.
struct ConformanceProblem: Error, CustomStringConvertible {
    let description: String
}

/// Ends a check unless `condition` holds.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw ConformanceProblem(description: message()) }
}
