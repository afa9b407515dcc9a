import LifelineCore

/// Looks at each frame of one stream, before anybody else, for the server's wish that the client goes, and bounds the time that the
/// stream lives on behind it. The registration's connection and the link's share it.
///
/// The proof behind `@unchecked`: it is used on the core's loop only.
final class GoAwayWatch<Frame: Sendable>: @unchecked Sendable {
    private let find: @Sendable (Frame) -> GoAway?
    private let core: StreamCore
    private let limit: Duration?
    private var timer: LoopTimer?
    private var isOver = false

    /// The newest.
    private(set) var found: GoAway?

    init(_ core: StreamCore, within limit: Duration?, find: @escaping @Sendable (Frame) -> GoAway?) {
        self.find = find
        self.core = core
        self.limit = limit
    }

    /// The stream is over.
    func end() {
        isOver = true
        if let timer { core.loop.disarm(timer) }
        timer = nil
    }
}

extension GoAwayWatch: FrameTaker {
    func take(_ frame: Frame) -> Bool {
        guard let goAway = find(frame) else { return false }
        found = goAway
        if let limit, timer == nil, !isOver {
            let timer = LoopTimer(self)
            self.timer = timer
            core.loop.arm(timer, at: core.loop.now.advanced(by: limit))
        }
        return false
    }

    /// It was shown to this one.
    func retake(_ frame: Frame) -> Bool { false }

    /// Another connection may go on with the stream.
    func noMoreFrames(_ reason: CloseReason) {}
}

extension GoAwayWatch: LoopTimerTarget {
    /// The server doesn't end the stream.
    func timerFired(_ timer: LoopTimer) {
        if core.machine.phase == .live { core.endAtOnce() }
    }
}
