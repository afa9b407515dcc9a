/// Does something when a timer fires. Kept alive by who waits.
final class TimerAction: LoopTimerTarget {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    func timerFired(_ timer: LoopTimer) { action() }
}
