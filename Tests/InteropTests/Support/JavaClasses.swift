import Foundation
import Testing

/// Compiles a peer that is written in Java into a temporary folder while a suite runs.
struct JavaClasses: SuiteTrait, TestScoping {
    /// Where the classes are that the suite's peer consists of.
    @TaskLocal static var path: String?

    let kind: PeerKind

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        if let missing = kind.missing { throw PeerFailure(missing) }
        guard let javac = PeerKind.program("javac") else { throw PeerFailure("no javac") }
        let folder = FileManager.default.temporaryDirectory.appending(path: "lifeline-java-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let jars = kind.jars.joined(separator: ":")
        let compiler = try PeerProcess(javac, ["-cp", jars, "-d", folder.path, kind.source.path])
        defer { compiler.kill() }
        guard try await compiler.status() == 0 else { throw PeerFailure("\(kind) doesn't compile: \(compiler.complaints)") }
        try await Self.$path.withValue("\(folder.path):\(jars)") { try await function() }
    }
}

extension Trait where Self == JavaClasses {
    static func javaClasses(_ kind: PeerKind) -> Self { Self(kind: kind) }
}
