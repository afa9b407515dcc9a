import Lifeline

/// What `serve` and `connect` were asked to do.
struct Settings: Sendable {
    let endpoint: Endpoint
    let framing: Framing
    var echoes = false
    var isVerbose = false
    /// The time for connecting.
    var limit = Duration.seconds(10)

    /// The settings that `arguments` ask for; nil if they ask for help.
    init?(_ arguments: some Sequence<String>, for command: Command) throws(UsageError) {
        var arguments = Arguments(arguments)
        var endpoint: Endpoint?
        var codec = "line"
        var maximum: Int?
        while let argument = try arguments.next() {
            switch argument {
            case .option("--help"), .option("-h"): return nil
            case .option("--verbose"), .option("-v"): isVerbose = true
            case .option("--codec"): codec = try arguments.value(of: "--codec")
            case .option("--max"): maximum = try Self.bytes(arguments.value(of: "--max"))
            case .option("--echo") where command == .serve: echoes = true
            case .option("--within") where command == .connect: limit = try Self.seconds(arguments.value(of: "--within"))
            case .option(let name): throw UsageError("unknown option \(name)")
            case .operand(let text):
                if endpoint != nil { throw UsageError("one endpoint is enough: \(text) is one too many") }
                endpoint = try Self.endpoint(text)
            }
        }
        if endpoint == nil, command == .serve { endpoint = .tcp("127.0.0.1", 7000) }
        guard let endpoint else { throw UsageError("no endpoint: name one, such as tcp://127.0.0.1:7000") }
        self.endpoint = endpoint
        framing = try Framing(codec: codec, maximum: maximum)
    }

    private static func endpoint(_ text: String) throws(UsageError) -> Endpoint {
        do {
            let endpoint = try Endpoint(text)
            if case .inMemory = endpoint { throw UsageError("\(text) exists within one process only: use tcp:// or unix://") }
            return endpoint
        } catch let error as SocketError {
            throw UsageError(error.message)
        } catch {
            throw error as? UsageError ?? UsageError("\(error)")
        }
    }

    private static func bytes(_ text: String) throws(UsageError) -> Int {
        guard let count = Int(text), count > 0 else { throw UsageError("--max takes a number of bytes, not \(text)") }
        return count
    }

    private static func seconds(_ text: String) throws(UsageError) -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds <= 1_000_000 else {
            throw UsageError("--within takes a number of seconds, not \(text)")
        }
        return .seconds(seconds)
    }
}
