import Lifeline

/// What `serve` and `connect` were asked to do.
struct Settings: Sendable {
    let endpoint: Endpoint
    let framing: Framing
    var echoes = false
    var isVerbose = false
    /// The time for connecting.
    var limit = Duration.seconds(10)
    /// The time for the rest of a frame; nil for ever.
    var unfinishedLimit: Duration?
    private(set) var link = LinkOptions()
    private(set) var tls = TLSOptions()
    let beats: Beats
    /// The frame by which a server says that it doesn't want this client any more.
    let kicked: ShellFrame?

    /// The settings that `arguments` ask for; nil if they ask for help.
    init?(_ arguments: some Sequence<String>, for command: Command) throws(UsageError) {
        var arguments = Arguments(arguments)
        var endpoint: Endpoint?
        var codec = "line"
        var options = FramingOptions()
        while let argument = try arguments.next() {
            switch argument {
            case .option("--help"), .option("-h"): return nil
            case .option("--verbose"), .option("-v"): isVerbose = true
            case .option("--codec"): codec = try arguments.value(of: "--codec")
            case .option("--echo") where command == .serve: echoes = true
            case .option("--within") where command == .connect: limit = try Self.seconds("--within", &arguments)
            case .option("--unfinished"): unfinishedLimit = try Self.seconds("--unfinished", &arguments)
            case .option(let name):
                var isKnown = try options.take(name, from: &arguments)
                if !isKnown { isKnown = try link.take(name, from: &arguments, for: command) }
                if !isKnown { isKnown = try tls.take(name, from: &arguments, for: command) }
                if !isKnown { throw UsageError("unknown option \(name)") }
            case .operand(let text):
                if link.policy != nil, (try? ReconnectPolicy.parsing(text)) != nil { throw UsageError("write it --reconnect=\(text)") }
                if endpoint != nil { throw UsageError("one endpoint is enough: \(text) is one too many") }
                endpoint = try Self.endpoint(text)
            }
        }
        if endpoint == nil, command == .serve { endpoint = .tcp("127.0.0.1", 7000) }
        guard let endpoint else { throw UsageError("no endpoint: name one, such as tcp://127.0.0.1:7000") }
        self.endpoint = try tls.finish(endpoint, for: command)
        framing = try Framing(codec: codec, options: options)
        try link.finish(codec: codec)
        beats = try Beats(link, framing)
        kicked = try link.kicked.map { [framing] text throws(UsageError) in
            try FrameReader(framing: framing).frame(text, of: "--kicked")
        }
    }

    /// How connections behave, and that what their decoders report is told.
    var connectionOptions: ConnectionOptions {
        var options = ConnectionOptions()
        options.unfinishedFrameLimit = unfinishedLimit
        options.idleLimit = link.idleLimit
        // On the event loop: if nobody reads standard error the network waits, and nothing piles up.
        options.onFinding = { Console.note($0.words) }
        return options
    }

    private static func endpoint(_ text: String) throws(UsageError) -> Endpoint {
        do {
            let endpoint = try Endpoint(text)
            if case .inMemory = endpoint { throw UsageError("\(text) exists within one process only: use tcp://, tls:// or unix://") }
            return endpoint
        } catch let error as SocketError {
            throw UsageError(error.message)
        } catch {
            throw error as? UsageError ?? UsageError("\(error)")
        }
    }

    private static func seconds(_ name: String, _ arguments: inout Arguments) throws(UsageError) -> Duration {
        let text = try arguments.value(of: name)
        guard let time = Duration(seconds: text), time > .zero else { throw UsageError("\(name) takes a number of seconds, not \(text)") }
        return time
    }
}
