import Lifeline

/// `lifeline connect`: standard input becomes frames, frames become standard output.
struct Connect {
    let settings: Settings

    /// Returns the exit status: 0 when the peer has ended in good order.
    func run() async throws -> Int32 {
        try await run(settings.framing.codec)
    }

    private func run(_ codec: some ShellCodec) async throws -> Int32 {
        let network = try settings.tls.network()
        if let policy = settings.link.policy { return try await KeptLink(settings, codec: codec, on: network, policy: policy).run() }
        let connection = try await Connection.connect(
            to: settings.endpoint, codec: codec, on: network, within: settings.limit, heartbeat: settings.beats.heartbeat(for: codec),
            options: settings.connectionOptions)
        if settings.isVerbose { Console.note("connected: \(await connection.info.way)") }
        var failure: (any Error)?
        do {
            try await exchange(over: connection)
        } catch {
            failure = error
        }
        await connection.close(within: .seconds(2))
        if settings.isVerbose {
            Console.note("ended: \(connection.closeReason.map { "\($0)" } ?? "not at all"); \(await connection.info.counts)")
        }
        if await connection.info.tls?.peerEnd == .unannounced {
            Console.note("the peer hasn't said that this was its end: some may be missing")
        }
        if let failure { throw failure }
        return 0
    }

    private enum Half { case sending, receiving }

    /// Both directions, until the peer has ended its own or one has failed. The end of standard input ends only the sending.
    private func exchange(over connection: Connection<some ShellCodec>) async throws {
        let input = try DescriptorReader(System.standardInput)
        let lines = settings.framing.lines
        try await withThrowingTaskGroup(of: Half.self) { group in
            group.addTask {
                try await Self.send(InputFrames(input, notation: lines), over: connection)
                return .sending
            }
            group.addTask {
                let output = Output()
                for try await batch in connection.batches {
                    try await output.write(batch, as: lines)
                    Console.noteFaults(of: batch)
                }
                return .receiving
            }
            while let half = try await group.next() {
                if half == .receiving { group.cancelAll() }
            }
        }
    }

    private static func send(_ frames: InputFrames, over connection: Connection<some ShellCodec>) async throws {
        var frames = frames
        do {
            while let frame = try await frames.next() { try await connection.send(frame) }
            try await connection.finishSending()
        } catch let error as SocketError where error.code == .unsupported {
            // Ending both directions would lose what the peer still answers.
            try await connection.flush()
            Console.note("with TLS 1.2 the end of standard input can't be told to the peer; waiting for its own end")
        } catch let error as SocketError where error.code == .closed {
            // The connection has ended: the receiving side knows how.
        } catch is CancellationError {
            // It has ended, and standard input need not.
        }
    }
}
