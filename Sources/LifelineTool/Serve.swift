import Lifeline
import LifelineTLS

/// `lifeline serve`: prints what clients send and sends them what is typed, or echoes.
struct Serve {
    let settings: Settings

    /// Serves until SIGINT or SIGTERM. Returns the exit status.
    func run() async throws -> Int32 {
        try await run(settings.framing.codec)
    }

    private func run(_ codec: some ShellCodec) async throws -> Int32 {
        let interrupts = try DescriptorReader(Signals.catchInterrupts())
        let isVerbose = settings.isVerbose
        var options = ServerOptions()
        options.connection = settings.connectionOptions
        let protection = try settings.tls.server()
        let network: any Network = protection.map { TLSNetwork(over: SystemNetwork(), server: $0) } ?? SystemNetwork()
        // What a handler throws is told where it ends; what comes here are clients that never had one.
        options.onHandlerError = { Console.note("refused: \($0)") }
        let hangups = try protection.map { _ in try DescriptorReader(Signals.catchHangups()) }
        let server = try await Server.bind(
            settings.endpoint, codec: codec, on: network, options: options, heartbeat: settings.beats.heartbeat(for: codec))
        Console.note("listening at \(server.endpoint)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve(server) }
            if !settings.echoes { group.addTask { try await broadcastInput(over: server) } }
            group.addTask {
                _ = try await interrupts.read()
                let isComplete = await server.shutdown(within: .seconds(3))
                if isVerbose { Console.note(isComplete ? "shut down" : "shut down, not everybody took part") }
                // Not by way of the group: a handler may stand in a write to a standard output that nobody reads.
                System.exit(0)
            }
            if let protection, let hangups { group.addTask { try await renew(protection, at: hangups) } }
            // The first that fails ends it all.
            while try await group.next() != nil {}
        }
        return 0
    }

    /// Has new clients see what stands in the certificates' files, at each SIGHUP.
    private func renew(_ protection: TLSServer, at hangups: DescriptorReader) async throws {
        while try await hangups.read() != nil {
            do {
                if let certificate = try settings.tls.renew(protection) { Console.note("new connections get \(certificate)") }
            } catch {
                Console.note("the certificates stay as they were: \(error)")
            }
        }
    }

    private func serve<C: ShellCodec>(_ server: Server<C>) async throws {
        let output = Output()
        try await server.run { connection in
            let info = await connection.info
            let name = info.remote?.short ?? "client"
            if settings.isVerbose { Console.note("connected: \(name)\(info.tls.map { "; \($0.words)" } ?? "")") }
            var failure: (any Error)?
            do {
                try await handle(connection, name, output)
            } catch {
                failure = error
            }
            if settings.isVerbose {
                let reason = connection.closeReason.map { "\($0)" } ?? failure.map { "\($0)" } ?? "closed here"
                Console.note("ended: \(name), \(reason); \(await connection.info.counts)")
            } else if let error = connection.closeReason?.error, error.code != .reset {
                Console.note("ended: \(name), \(error)")
            }
        }
    }

    private func handle(_ connection: Connection<some ShellCodec>, _ name: String, _ output: Output) async throws {
        if settings.echoes {
            while let frame = try await connection.next() { try await connection.send(frame) }
            try await connection.flush()
        } else {
            let lines = settings.framing.lines
            let prefix = lines.splitter == nil ? "" : "[\(name)] "
            for try await frames in connection.batches {
                try await output.write(frames, as: lines, behind: prefix)
                Console.noteFaults(of: frames, behind: prefix)
            }
        }
    }

    private func broadcastInput(over server: Server<some ShellCodec>) async throws {
        var frames = InputFrames(try DescriptorReader(System.standardInput), notation: settings.framing.lines)
        while let frame = try await nextFrame(of: &frames) {
            // A slow client holds up standard input for a moment, but not the others for good.
            do {
                let result = try await server.broadcast(frame, slow: .skipping(after: .seconds(1)))
                if settings.isVerbose { Console.note("sent to \(result.accepted), skipped \(result.skipped)") }
            } catch let error as SocketError where error.code == .unencodable || error.code == .frameTooLarge {
                Console.note("not sent: \(error.message)")
            }
        }
    }

    /// The next frame that can be sent. A line that isn't one is told of, and costs nobody a connection.
    private func nextFrame(of frames: inout InputFrames) async throws -> ShellFrame? {
        while true {
            do {
                return try await frames.next()
            } catch let error as SocketError where error.code == .unencodable {
                Console.note("not sent: \(error.message)")
            }
        }
    }
}
