import Lifeline

/// `lifeline connect --reconnect`: standard input and output over a link that is kept up, until an interrupt or the end of its policy.
struct KeptLink<C: ShellCodec>: Sendable {
    private let settings: Settings
    private let link: Supervisor<C>

    init(_ settings: Settings, codec: C, on network: some Network, policy: ReconnectPolicy) {
        self.settings = settings
        var options = SupervisorOptions()
        options.connection = settings.connectionOptions
        options.connectLimit = settings.limit
        link = Supervisor(
            endpoint: settings.endpoint, codec: codec, on: network, heartbeat: settings.beats.heartbeat(for: codec), reconnect: policy,
            offline: settings.link.offline.rule, options: options)
    }

    private enum Part: Sendable {
        case told, printed(isKicked: Bool), interrupted
        case typed(unsent: Int)
    }

    /// Returns the exit status: 0 after an interrupt, if everything that was typed is sent.
    func run() async throws -> Int32 {
        let interrupts = try DescriptorReader(Signals.catchInterrupts())
        let input = try DescriptorReader(System.standardInput)
        let updates = link.statusUpdates
        await link.start()
        var isKicked = false
        var unsent = 0
        try await withThrowingTaskGroup(of: Part.self) { group in
            group.addTask {
                await tell(updates)
                return .told
            }
            group.addTask { .printed(isKicked: try await print()) }
            group.addTask {
                let lines = InputFrames(input, notation: settings.framing.lines)
                return .typed(unsent: await TypedLines(link: link, settings: settings).send(lines))
            }
            group.addTask {
                if (try? await interrupts.read()) != nil { await link.stop() }
                return .interrupted
            }
            // The two that end with the link.
            var left = 2
            do {
                while let part = try await group.next() {
                    switch part {
                    case .told: left -= 1
                    case .printed(let wasKicked):
                        isKicked = wasKicked
                        left -= 1
                    case .typed(let count): unsent = count
                    case .interrupted: break
                    }
                    if left == 0 { group.cancelAll() }
                }
            } catch {
                await link.stop(because: "standard output can't be written")
                throw error
            }
        }
        return status(isKicked: isKicked, unsent: unsent)
    }

    private func status(isKicked: Bool, unsent: Int) -> Int32 {
        if isKicked { return 4 }
        switch link.status {
        case .stopped(why: .kicked): return 4
        case .stopped(why: .gaveUp): return 3
        case .stopped(why: .byUser), .stopped(why: .byServer): return unsent == 0 ? 0 : 1
        default: return 1
        }
    }

    /// Each status on a line of standard error.
    private func tell(_ updates: AsyncStream<LinkStatus>) async {
        for await status in updates where status != .idle {
            Console.note("\(System.timeOfDay)  \(status.words)")
            if status == .connected, settings.isVerbose, let info = await link.info {
                Console.note("connected: \(info.way)")
            }
            if status.isStopped { break }
        }
        if settings.isVerbose, let time = link.roundTrip { Console.note("the last ping was answered after \(time.words)") }
    }

    /// Prints what arrives until the link has stopped. Returns whether the server wanted that.
    private func print() async throws -> Bool {
        let output = Output()
        let lines = settings.framing.lines
        var isKicked = false
        while true {
            do {
                guard let frame = try await link.next() else { return isKicked }
                try await output.write([frame], as: lines)
                Console.noteFaults(of: [frame])
                if let kick = settings.kicked, settings.beats.isAlike(frame, kick), !isKicked {
                    isKicked = true
                    await link.stop(because: "the server doesn't want this client any more")
                }
            } catch let error as SocketError {
                // What it has stopped for, as the last status tells; or a frame that is no message.
                if link.status.isStopped { return isKicked }
                Console.note("\(error)")
            }
        }
    }
}
