internal import CLifelineTesting
internal import LifelineRuntime

// Jobs that leave the loops and jobs that come from elsewhere.
extension VirtualScheduler {
    /// Called by the runtime's hooks on the thread, on the way into a global queue: nothing but noting is allowed.
    func jobLeft(_ way: Int32, _ frames: UnsafeBufferPointer<UnsafeMutableRawPointer?>) {
        let target =
            switch Int(way) {
            case Int(LIFELINE_LEFT_FOR_MAIN): "the main actor"
            case Int(LIFELINE_LEFT_FOR_TIMER): "the default pool, after a real delay (Task.sleep?)"
            default: "the default pool (Task { }, Task.detached, or a task without this executor preference?)"
            }
        let loop = current.map { "loop \($0.index)" } ?? "the simulation"
        fail(.foreignJob, "a job has left \(loop) for \(target)", frames: frames.map { UInt(bitPattern: $0) })
    }

    static func arrivalText(_ entry: LoopQueues.Entry, at seat: VirtualSeat) -> String {
        let what =
            switch entry {
            case .actorJob: "a job of an actor"
            case .taskJob: "a job of a task"
            case .work, .notice: "work"
            }
        return "\(what) has come to loop \(seat.index) from a foreign thread: something waited outside of the simulation "
            + "(Task.sleep, a thread, a queue)"
    }

    /// Where what has come was waiting, or else where the calling thread stands.
    static func origin(of entry: LoopQueues.Entry) -> [UInt] {
        withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 48) { frames in
            frames.initialize(repeating: nil)
            let count =
                switch entry {
                case .actorJob(let job), .taskJob(let job):
                    lifeline_task_backtrace(unsafeBitCast(job, to: UnsafeRawPointer.self), frames.baseAddress!, Int32(frames.count))
                case .work, .notice:
                    lifeline_backtrace(frames.baseAddress!, Int32(frames.count))
                }
            return frames[..<Int(count)].map { UInt(bitPattern: $0) }
        }
    }

    /// The failure as an error, if there is one; called once the simulation has ended.
    func error() -> SimulationError? {
        guard let failure = lock.withLock({ failure }) else { return nil }
        let places = Self.names(of: failure.frames)
        return SimulationError(
            kind: failure.kind,
            message: failure.message + (places.isEmpty ? "" : ", from: " + places.joined(separator: " < ")),
            seed: seed, time: failure.time.sinceStart, place: place)
    }

    /// The innermost frames that belong neither to the language nor to the scheduler.
    private static func names(of frames: [UInt]) -> [String] {
        var names: [String] = []
        for frame in frames where frame != 0 {
            // A return address may already be the next function's. (So may a suspended function's, which starts at its address.)
            guard let symbol = UnsafeRawPointer(bitPattern: frame).flatMap({ lifeline_symbol($0) }) else { continue }
            defer { lifeline_symbol_free(symbol) }
            let name = plain(String(cString: symbol))
            if names.last == name || Self.hiddenNames.contains(where: { name.contains($0) }) { continue }
            names.append(name)
            if names.count == 4 { break }
        }
        return names
    }

    private static let hiddenNames = [
        "LifelineTesting.Virtual", "in LifelineTesting.(startBody", "(extension in Swift)", "Swift.Task<", "reabstraction thunk",
    ]

    /// The name without what the compiler puts before it.
    private static func plain(_ name: String) -> String {
        var rest = Substring(name)
        if rest.hasPrefix("("), let end = rest.firstIndex(of: ")") { rest = rest[end...].dropFirst(2) }
        for prefix in ["await resume partial function for ", "suspend resume partial function for ", "partial apply forwarder for "]
        where rest.hasPrefix(prefix) {
            rest = rest.dropFirst(prefix.count)
        }
        return String(rest)
    }
}
