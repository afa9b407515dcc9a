import Foundation
import Testing

/// The C compiler of this machine: the one that knows how structs are laid out here.
enum CCompiler {
    /// What `CC` names, or else the first of clang, cc and gcc; nil if there is none.
    static let path: String? = {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        for name in [environment["CC"], "clang", "cc", "gcc"].compactMap({ $0 }) {
            for candidate in name.hasPrefix("/") ? [name] : folders.map({ "\($0)/\(name)" })
            where FileManager.default.isExecutableFile(atPath: candidate) {
                return candidate
            }
        }
        return nil
    }()

    /// Compiles a program, with the headers of `folders` in reach, runs it and gives what it prints, line by line.
    static func output(of program: String, including folders: [String] = []) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("program.c")
        let binary = folder.appendingPathComponent("program").path
        try Data(program.utf8).write(to: source)
        let compiler = try #require(path)
        let flags = ["-std=gnu11", "-Wall", "-Wno-unused-function"] + folders.flatMap { ["-I", $0] }
        let compiled = try await run(compiler, flags + ["-o", binary, source.path], in: folder)
        try #require(compiled.status == 0, "\(compiled.text)")
        let ran = try await run(binary, [], in: folder)
        try #require(ran.status == 0, "\(ran.text)")
        return ran.text.split(separator: "\n").map(String.init)
    }

    /// What a program prints goes to a file: pipes would need a reader.
    private static func run(_ path: String, _ arguments: [String], in folder: URL) async throws -> (status: Int32, text: String) {
        let file = folder.appendingPathComponent("printed")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        try handle.close()
        return (process.terminationStatus, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}
