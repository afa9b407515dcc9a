/// Code in which the check must find something.
extension SelfTest {
    static let bad: [Sample] = [
        Sample("Foundation in Core", in: "Sources/LifelineCore/A.swift", findings: [1], "import Foundation"),
        Sample("Foundation in a main", in: "Sources/LifelineTool/A.swift", findings: [1], "import Foundation"),
        Sample("C library in the wrong file of Core", in: "Sources/LifelineCore/Bytes.swift", findings: [1], "import Glibc"),
        Sample(
            "C library in the wrong file of Runtime", in: "Sources/LifelineRuntime/Loop.swift", findings: [1],
            "private import Darwin"),
        Sample("upwards", in: "Sources/LifelineCore/A.swift", findings: [2], "\npublic import LifelineRuntime"),
        Sample("sideways to Testing", in: "Sources/LifelineSockets/A.swift", findings: [1], "import LifelineTesting"),
        Sample("sideways to Sockets", in: "Sources/LifelineTesting/A.swift", findings: [1], "@testable import LifelineSockets"),
        Sample("one declaration", in: "Sources/LifelineRuntime/A.swift", findings: [1], "import struct Foundation.Data"),
        Sample("another target's shim", in: "Sources/LifelineTesting/A.swift", findings: [1], "import CLifelineSystem"),
        Sample(
            "import under a condition", in: "Sources/LifelineJSON/A.swift", findings: [2],
            """
            #if os(Linux)
            import Foundation
            #endif
            """),
        Sample(
            "two imports on a line", in: "Sources/LifelineRuntime/A.swift", findings: [1],
            "import LifelineCore; import Dispatch"),
        Sample(
            "test above its floor", in: "Tests/LifelineCoreTests/A.swift", findings: [2],
            """
            import Testing
            import LifelineRuntime
            """),
        Sample("target without a row", in: "Sources/LifelineNew/A.swift", findings: [1], "let a = 1"),
        Sample(
            "code in the umbrella", in: "Sources/Lifeline/A.swift", findings: [2],
            """
            @_exported public import LifelineCore
            let a = 1
            """),
        Sample("plain import in the umbrella", in: "Sources/Lifeline/A.swift", findings: [1], "public import LifelineCore"),

        Sample(
            "call over two lines", in: "Sources/LifelineSockets/A.swift", findings: [1],
            """
            try await Task // why
                .sleep(for: .seconds(1))
            """),
        Sample(
            "call in an interpolation", in: "Sources/LifelineCore/A.swift", findings: [1],
            #"let a = "n: \(Int.random(in: 0..<2))""#),
        Sample("after a string", in: "Sources/LifelineCore/A.swift", findings: [1], #"let a = "\\"; let b = await c"#),
        Sample("after a raw string", in: "Sources/LifelineCore/A.swift", findings: [1], ##"let a = #"\"#; let b = await c"##),
        Sample(
            "after a multi-line string", in: "Sources/LifelineCore/A.swift", findings: [4],
            #"""
            let a = """
                "await
                """
            await b()
            """#),
        Sample("after a nested comment", in: "Sources/LifelineCore/A.swift", findings: [1], "/* /* */ await */ await b()"),
        Sample("after a regex", in: "Sources/LifelineCore/A.swift", findings: [1], #"let a = /["]/; await b()"#),
        Sample("division is no regex", in: "Sources/LifelineCore/A.swift", findings: [1], "let a = b / await(c) / d"),
        Sample(
            "seed for another call", in: "Tests/LifelineCoreTests/A.swift", findings: [1],
            "f(Int.random(in: h(using: r)), using: r)"),
        Sample("qualified call", in: "Sources/LifelineRuntime/A.swift", findings: [1], "let a = Glibc.connect(b, c, d)"),
        Sample("qualified sleep", in: "Tests/InteropTests/A.swift", findings: [1], "_ = Glibc.sleep(1)"),

        Sample("task", in: "Sources/LifelineRuntime/Server.swift", findings: [1], "Task { await a() }"),
        Sample(
            "task with arguments", in: "Sources/LifelineSockets/A.swift", findings: [1],
            "let a = Task(priority: .high) { }"),
        Sample("task with types", in: "Sources/LifelineSockets/A.swift", findings: [1], "return Task<Void, any Error> { }"),
        Sample("task after a label", in: "Sources/LifelineSockets/A.swift", findings: [2], "switch a {\ndefault: Task { }\n}"),
        Sample(
            "task by its initialiser", in: "Sources/LifelineSockets/A.swift", findings: [1],
            "let a = Task<Int, Never>.init { 1 }"),
        Sample("task at once", in: "Sources/LifelineSockets/A.swift", findings: [1], "Task.immediate { }"),
        Sample("exempt name in another target", in: "Sources/LifelineSockets/Simulation.swift", findings: [1], "Task { }"),

        Sample(
            "unchecked", in: "Sources/LifelineRuntime/A.swift", findings: [3],
            """
            // Far away.

            final class A: @unchecked Sendable {}
            """),
        Sample("unsafe", in: "Sources/LifelineRuntime/A.swift", findings: [2], "let a = 1\nnonisolated(unsafe) var b = 1"),
    ]
}
