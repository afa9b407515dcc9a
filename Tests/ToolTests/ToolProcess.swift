import Foundation

/// The tool as a process of its own. Its standard error comes as lines while it runs; its standard output is read when it is over.
///
/// A cancelled test, such as one whose time is up, kills the process.
final class ToolProcess: Sendable {
    /// What a process has left.
    struct Outcome: Sendable {
        /// The exit status, or the negative number of the signal that ended it.
        let status: Int32
        let output: Data
        let errors: [String]

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Where standard input comes from.
    enum Input {
        case none
        /// All of it at once, from a file.
        case file(URL)
        /// What ``ToolProcess/type(_:)`` is given, until ``ToolProcess/endInput()``.
        case typed
    }

    private let child: ChildProcess
    private let input: FileHandle?
    private let outputFile: URL

    /// Starts the tool with `arguments`, or what a shell makes of `script`, in which `$0` is the tool.
    init(_ arguments: [String] = [], script: String? = nil, input source: Input = .none) throws {
        // Writing to a process that is gone is an error of the test, not its end.
        signal(SIGPIPE, SIG_IGN)
        outputFile = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        let output = open(outputFile.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(output) }
        let standardInput: Int32
        switch source {
        case .none:
            standardInput = open("/dev/null", O_RDONLY | O_CLOEXEC)
            input = nil
        case .file(let file):
            standardInput = open(file.path, O_RDONLY | O_CLOEXEC)
            input = nil
        case .typed:
            let ends = try ChildProcess.makePipe()
            standardInput = ends.reading
            input = FileHandle(fileDescriptor: ends.writing, closeOnDealloc: true)
        }
        defer { close(standardInput) }
        let words = script.map { ["/bin/sh", "-c", $0, Self.tool] + arguments } ?? [Self.tool] + arguments
        child = try ChildProcess(words, input: standardInput, output: output)
    }

    deinit { try? FileManager.default.removeItem(at: outputFile) }

    /// The program, which is built beside the tests.
    private static let tool = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appendingPathComponent("lifeline").path

    /// Runs the tool to its end.
    static func run(_ arguments: [String], script: String? = nil, input: Input = .none) async throws -> Outcome {
        try await ToolProcess(arguments, script: script, input: input).outcome()
    }

    /// The next line on standard error that begins with `start`, without it; nil if none comes before the end.
    func note(_ start: String) async -> String? {
        await withTaskCancellationHandler {
            for await line in child.errorLines where line.hasPrefix(start) { return String(line.dropFirst(start.count)) }
            return nil
        } onCancel: {
            child.send(SIGKILL)
        }
    }

    /// The next line on standard error with `words` in it; nil if none comes before the end.
    func note(with words: String) async -> String? {
        await withTaskCancellationHandler {
            for await line in child.errorLines where line.contains(words) { return line }
            return nil
        } onCancel: {
            child.send(SIGKILL)
        }
    }

    /// Writes `text` to the standard input of a process that has it typed.
    func type(_ text: String) throws { try input?.write(contentsOf: Data(text.utf8)) }

    func endInput() throws { try input?.close() }

    /// SIGINT, as Ctrl-C sends it.
    func interrupt() { child.send(SIGINT) }

    /// SIGKILL: nothing is said to anybody.
    func kill() { child.send(SIGKILL) }

    /// SIGHUP.
    func hangUp() { child.send(SIGHUP) }

    /// Waits for the end. Lines of standard error that were read before are not among those returned.
    func outcome() async throws -> Outcome {
        try await withTaskCancellationHandler {
            var errors: [String] = []
            // A crowded machine holds event loops up; what they say of that is nothing about the tool.
            for await line in child.errorLines where !line.contains("a job held an event loop") { errors.append(line) }
            for await status in child.terminations {
                return Outcome(status: status, output: try Data(contentsOf: outputFile), errors: errors)
            }
            throw CancellationError()
        } onCancel: {
            child.send(SIGKILL)
        }
    }
}
