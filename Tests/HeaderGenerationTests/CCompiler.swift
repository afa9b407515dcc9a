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
    static func output(of program: String, including folders: [String] = []) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lifeline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("program.c")
        let binary = folder.appendingPathComponent("program").path
        try Data(program.utf8).write(to: source)
        let flags = ["-std=gnu11", "-Wall", "-Wno-unused-function"] + folders.flatMap { ["-I", $0] }
        let compiled = try run([try #require(path)] + flags + ["-o", binary, source.path])
        try #require(compiled.status == 0, "\(compiled.text)")
        let ran = try run([binary])
        try #require(ran.status == 0, "\(ran.text)")
        return ran.text.split(separator: "\n").map(String.init)
    }

    /// Runs a program to its end and gives what it prints. Foundation's `Process` leaks, and leaks count.
    private static func run(_ words: [String]) throws -> (status: Int32, text: String) {
        let quoted = words.map { "'\($0.replacingOccurrences(of: "'", with: "'\\''"))'" }
        let stream = try #require(popen("\(quoted.joined(separator: " ")) 2>&1 </dev/null", "r"))
        var printed: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, stream)
            if count == 0 { break }
            printed += buffer[..<count]
        }
        return (pclose(stream), String(decoding: printed, as: UTF8.self))
    }
}
