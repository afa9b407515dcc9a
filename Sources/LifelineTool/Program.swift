import Lifeline

/// The tool's commands.
enum Command: String, CaseIterable {
    case demo, serve, connect, decode
}

/// `lifeline`: shows the framework at work, and speaks its codecs from a shell.
@main
struct Program {
    static let version = "0.1.0"

    static func main() async {
        System.ignoreBrokenPipes()
        let words = CommandLine.arguments.dropFirst()
        guard let first = words.first else {
            Console.note(Help.overview)
            System.exit(2)
        }
        switch first {
        case "--help", "-h", "help": Console.say(words.dropFirst().first.flatMap(Command.init).map(Help.text) ?? Help.overview)
        case "--version": Console.say("lifeline \(version)")
        default:
            guard let command = Command(rawValue: first) else {
                Console.note("lifeline: unknown \(first.hasPrefix("-") ? "option" : "command") \(first); see lifeline --help")
                System.exit(2)
            }
            System.exit(await run(command, words.dropFirst()))
        }
    }

    /// Runs a command and returns the exit status.
    private static func run(_ command: Command, _ words: ArraySlice<String>) async -> Int32 {
        do {
            switch command {
            case .demo:
                var arguments = Arguments(words)
                switch try arguments.next() {
                case nil: return try await Demo.run()
                case .option("--help"), .option("-h"): break
                case .option(let word), .operand(let word): throw UsageError("demo takes no \(word)")
                }
            case .serve:
                if let settings = try Settings(words, for: .serve) { return try await Serve(settings: settings).run() }
            case .connect:
                if let settings = try Settings(words, for: .connect) { return try await Connect(settings: settings).run() }
            case .decode:
                if let settings = try DecodeSettings(words) { return try Decode(settings: settings).run() }
            }
            Console.say(Help.text(of: command))
            return 0
        } catch let error as UsageError {
            Console.note("lifeline: \(error.message); see lifeline \(command.rawValue) --help")
            return 2
        } catch {
            Console.note("lifeline: \(error)")
            return 1
        }
    }
}
