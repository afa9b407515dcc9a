internal import CLifelineTesting
internal import LifelineCore
internal import LifelineRuntime

extension VirtualScheduler {
    /// How far the clock may go while a failed body unwinds: for closing in good order.
    private static let unwindingTime = Duration.seconds(120)
    private static let unwindingTurns = 100_000
    /// In real milliseconds: so long a failed body is waited for that awaits a job which has left.
    private static let unwindingPatience: Int64 = 200

    /// Starts the thread. `cancel` cancels the body and `end` takes the failure, both called on the thread; false if there is none to have.
    func start(cancel: @escaping @Sendable () -> Void, end: @escaping @Sendable (SimulationError?) -> Void) -> Bool {
        lock.withLock { phase = .running }
        let run = Unmanaged.passRetained(Run(scheduler: self, cancel: cancel, end: end))
        let didStart = lifeline_thread_start(
            { Unmanaged<Run>.fromOpaque($0).takeRetainedValue().main() }, run.toOpaque())
        if !didStart { run.release() }
        return didStart
    }

    /// One run, on its thread.
    private final class Run {
        private let scheduler: VirtualScheduler
        private var cancel: (@Sendable () -> Void)?
        private let end: @Sendable (SimulationError?) -> Void

        init(
            scheduler: VirtualScheduler, cancel: @escaping @Sendable () -> Void, end: @escaping @Sendable (SimulationError?) -> Void
        ) {
            self.scheduler = scheduler
            self.cancel = cancel
            self.end = end
        }

        func main() {
            scheduler.own {
                if !scheduler.runBody(cancel: cancel) {
                    cancel?()
                    scheduler.unwind()
                }
                // The body's task goes with it.
                cancel = nil
                scheduler.finish()
            }
            // The thread is nobody's now, so the caller's executor may be told.
            end(scheduler.error())
        }
    }

    private func own(_ body: () -> Void) {
        lifeline_thread_set_owner(Unmanaged.passUnretained(self).toOpaque())
        body()
        current = nil
        lifeline_thread_set_owner(nil)
    }

    /// Turns until the body is done; false if the simulation failed before.
    private func runBody(cancel: (() -> Void)?) -> Bool {
        while true {
            let (hasFailed, isDone, mustCancelNow) = takeNews()
            if hasFailed { return false }
            if isDone { return true }
            if mustCancelNow {
                cancel?()
                continue
            }
            if turn() {
                if turnsAtMoment > bounds.turnsPerMoment {
                    fail(.livelock, "livelock: \(turnsAtMoment) turns and the clock hasn't moved")
                }
            } else if settleOne() {
                continue
            } else if let next = nextTimer() {
                if next.sinceStart > bounds.limit {
                    fail(.timeLimit, "the body isn't done at the limit of \(bounds.limit)")
                } else {
                    moveTime(to: next)
                }
            } else if !lifeline_gate_wait(gate, bounds.patience.clampedNanoseconds / 1_000_000) {
                fail(.stuck, Self.stuckText)
            }
        }
    }

    private static let stuckText =
        "stuck: nothing is queued, no timer is armed and the body isn't done; what waits for something real (a thread, a queue) "
        + "never ends here, and sleeping is for world.clock"

    /// After a failure: gives the cancelled body a bounded chance to end.
    private func unwind() {
        let end = now.advanced(by: Self.unwindingTime)
        let isAwaitingForeigners = lock.withLock { failure?.kind == .foreignJob }
        for _ in 0..<Self.unwindingTurns {
            if takeNews().isDone { return }
            if turn() || settleOne() { continue }
            if let next = nextTimer(), next <= end {
                moveTime(to: next)
            } else if !isAwaitingForeigners || !lifeline_gate_wait(gate, Self.unwindingPatience) {
                return
            }
        }
    }

    /// Runs what is left without moving time, and closes the door.
    private func finish() {
        var turns = 0
        var dropped: [Arrival] = []
        while true {
            _ = takeNews()
            if turn() {
                turns += 1
                if turns <= Self.unwindingTurns { continue }
                fail(.livelock, "tasks go on and on after the body has ended")
            }
            if turns <= Self.unwindingTurns, settleOne() || endSleepers() { continue }
            let isOver = lock.withLock {
                guard arrivals.isEmpty || turns > Self.unwindingTurns else { return false }
                swap(&dropped, &arrivals)
                phase = .ended
                return true
            }
            if isOver { break }
        }
        if turns > Self.unwindingTurns {
            for seat in seats { seat.dropWork() }
        }
        device?.end()
    }

    /// Takes what other threads have brought.
    private func takeNews() -> (hasFailed: Bool, isDone: Bool, mustCancel: Bool) {
        lock.lock()
        let news = (failure != nil, isBodyDone, mustCancel)
        mustCancel = false
        var taken: [Arrival] = []
        if !arrivals.isEmpty { swap(&taken, &arrivals) }
        lock.unlock()
        for arrival in taken { arrival.seat.queues.add(arrival.entry) }
        return news
    }

    /// Lets the network do what is due, or gives one of the loops that have something to do its turn; false if there is nothing.
    private func turn() -> Bool {
        let now = now
        if let device, device.act(at: now) {
            turnsAtMoment += 1
            return true
        }
        candidates.removeAll(keepingCapacity: true)
        for seat in seats where seat.queues.hasWork || seat.queues.timers.nextTime.map({ $0 <= now }) == true {
            candidates.append(seat)
        }
        guard !candidates.isEmpty else { return false }
        let seat = candidates.count == 1 ? candidates[0] : candidates[Int(dice.next(upperBound: UInt(candidates.count)))]
        current = seat
        let jobs = seat.turn(at: now)
        current = nil
        trace.addTurn(now, loop: seat.index, jobs: jobs)
        turnsAtMoment += 1
        return true
    }

    private func nextTimer() -> LoopTime? {
        let next = seats.compactMap(\.queues.timers.nextTime).min()
        guard let other = device?.nextTime else { return next }
        return next.map { min($0, other) } ?? other
    }

    /// Tells the first that waits for a quiet moment; false if nobody does.
    private func settleOne() -> Bool {
        guard let settler = lock.withLock({ settlers.isEmpty ? nil : settlers.removeFirst() }) else { return false }
        settler.succeed(())
        return true
    }

    /// Those who still sleep when the body has ended will never see their time: they end, in the order in which they fell asleep.
    private func endSleepers() -> Bool {
        let left = lock.withLock {
            defer { sleepers = [:] }
            return sleepers.sorted { $0.key < $1.key }
        }
        for (_, sleeper) in left { sleeper.fail(CancellationError()) }
        return !left.isEmpty
    }
}

// After the end.
extension VirtualScheduler {
    /// Jobs that come after the thread's end, such as the deinit of an actor that the body has returned, get a thread for the time that
    /// they take. The clock stands.
    func startLateThread() {
        let scheduler = Unmanaged.passRetained(self)
        let didStart = lifeline_thread_start(
            { context in
                let scheduler = Unmanaged<VirtualScheduler>.fromOpaque(context).takeRetainedValue()
                scheduler.own { scheduler.drainLate() }
            }, scheduler.toOpaque())
        if !didStart {
            scheduler.release()
            lock.withLock { isDrainingLate = false }
        }
    }

    private func drainLate() {
        while true {
            let isDone = lock.withLock {
                if arrivals.isEmpty { isDrainingLate = false }
                return arrivals.isEmpty
            }
            if isDone { return }
            _ = takeNews()
            while turn() {}
        }
    }
}
