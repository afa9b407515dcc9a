import Foundation
import Testing

/// Compiles `MinaPeer.java` into a temporary folder while a suite runs.
struct MinaClasses: SuiteTrait, TestScoping {
    /// Where the classes are that the peer consists of.
    @TaskLocal static var path: String?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        if let missing = PeerKind.mina.missing { throw PeerFailure(missing) }
        guard let javac = PeerKind.program("javac") else { throw PeerFailure("no javac") }
        let folder = FileManager.default.temporaryDirectory.appending(path: "lifeline-mina-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let jars = PeerKind.jars.joined(separator: ":")
        let source = PeerKind.folder.appending(path: "MinaPeer.java").path
        let compiler = try PeerProcess(javac, ["-cp", jars, "-d", folder.path, source])
        defer { compiler.kill() }
        guard try await compiler.status() == 0 else { throw PeerFailure("MinaPeer.java doesn't compile: \(compiler.complaints)") }
        try await Self.$path.withValue("\(folder.path):\(jars)") { try await function() }
    }
}

extension Trait where Self == MinaClasses {
    static var minaClasses: Self { Self() }
}
