/// Code in which the check must find nothing.
extension SelfTest {
    static let good: [Sample] = [
        Sample(
            "imports of Core", in: "Sources/LifelineCore/CLibrary.swift",
            """
            #if canImport(Glibc)
            import Glibc
            #else
            import Darwin
            #endif
            """),
        Sample(
            "imports of Runtime", in: "Sources/LifelineRuntime/Lock.swift",
            """
            public import LifelineCore
            import Synchronization
            import Darwin.os.lock
            """),
        Sample(
            "imports of Sockets", in: "Sources/LifelineSockets/A.swift",
            """
            package import LifelineRuntime
            import CLifelineSystem
            import Glibc
            """),
        Sample(
            "imports of tests", in: "Tests/LifelineCoreTests/A.swift",
            """
            import Foundation
            import Testing
            @testable import LifelineCore
            """),
        Sample(
            "umbrella", in: "Sources/Lifeline/Lifeline.swift",
            """
            // Why.
            @_exported public import LifelineCore
            #if os(Linux)
            @_exported public import LifelineSockets
            #endif
            """),
        Sample(
            "words in comments", in: "Sources/LifelineCore/A.swift",
            """
            /// await Task.sleep
            // ContinuousClock
            /* Mutex
             epoll_wait */ let a = 1
            """),
        Sample(
            "words in literals", in: "Sources/LifelineCore/A.swift",
            #"""
            let a = "await \(b) async", c = #"Task.sleep \(await)"#, d = """
                Mutex ""
                """
            """#),
        Sample("raw names", in: "Tests/LifelineCoreTests/A.swift", "@Test func `C01 \"sleep(1)\" and Task.sleep`() {}"),
        Sample(
            "seeded choices", in: "Sources/LifelineCore/A.swift",
            "let a = Int.random(in: 0..<f(1, [2]), using: &generator), b = c.shuffled(using: &generator)"),
        Sample("sleep on a clock", in: "Tests/LifelineTestingTests/A.swift", "try await world.clock.sleep(for: .seconds(1))"),
        Sample(
            "methods with a system call's name", in: "Sources/LifelineRuntime/A.swift",
            "Connection.connect(to: a); Server.bind(b); close(within: c)"),
        Sample(
            "types of tasks", in: "Sources/LifelineRuntime/A.swift",
            """
            var a: Task<Void, Never>?
            var b: Task<Int, Never> { c }
            func d() -> Task<Int, Never> { c }
            extension Task {}
            """),
        Sample(
            "task groups", in: "Sources/LifelineRuntime/A.swift",
            "if Task.isCancelled { group.addTask { await withTaskGroup(of: Void.self) { _ in } } }"),
        Sample("exempt tasks", in: "Sources/LifelineRuntime/Supervisor+Start.swift", "task = Task { await run() }"),
        Sample(
            "unchecked with a reason", in: "Sources/LifelineRuntime/A.swift",
            """
            // Only the lock's holder touches it.
            @usableFromInline
            final class A<B>:
                C, @unchecked Sendable {}
            """),
        Sample(
            "unsafe with a reason", in: "Sources/LifelineRuntime/A.swift",
            "nonisolated(unsafe) var a = 1 // Written before the thread starts."),
        Sample(
            "manifest", in: "Package.swift",
            """
            import PackageDescription
            // no unsafeFlags
            let package = Package(name: "lifeline")
            """),
    ]
}
