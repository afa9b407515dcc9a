/// Proves that the check finds what it is for: over written samples, and over every ban of every row of the table.
enum SelfTest {
    /// A file that doesn't exist, and the lines on which the check must find something; none for good code.
    struct Sample: Sendable {
        let name: String
        let path: String
        let findings: [Int]
        /// What one of the findings must name.
        let naming: String?
        let code: String

        init(_ name: String, in path: String, findings: [Int] = [], naming: String? = nil, _ code: String) {
            self.name = name
            self.path = path
            self.findings = findings
            self.naming = naming
            self.code = code
        }
    }

    static let all: [Sample] = bad + good + generated
    static var count: Int { all.count + collisions.count }

    static func failures() -> [String] {
        let wrong = all.compactMap { sample -> String? in
            let found = FileCheck.findings(path: sample.path, text: sample.code)
            let names = sample.naming.map { name in found.contains { $0.message.contains("`\(name)`") } } ?? true
            if names, Set(found.map(\.line)) == Set(sample.findings) { return nil }
            let seen = found.isEmpty ? "nothing" : found.map(\.description).joined(separator: "\n    ")
            return "self-test `\(sample.name)` expects findings on lines \(sample.findings), found:\n    \(seen)"
        }
        return wrong
            + collisions.filter { Tree.collisions(in: $0.paths).count != $0.findings }.map { "self-test of colliding paths \($0.paths)" }
    }

    /// One sample for each ban of each row, so that no line of the table is without effect.
    private static var generated: [Sample] {
        let floors = Rules.floors.flatMap { floor in
            let path = "\(floor.place.rawValue)/\(floor.target)/Sample.swift"
            let lists = floor.never + (floor.place == .tests ? Rules.neverInTests : Rules.neverInSources)
            return lists.flatMap(\.bans).map {
                Sample("\(floor.target): \($0.code)", in: path, findings: [2], naming: $0.code, "\n" + $0.sample)
            }
        }
        let manifest = Rules.neverInManifest.flatMap(\.bans).map {
            Sample("manifest: \($0.code)", in: "Package.swift", findings: [2], naming: $0.code, "\n" + $0.sample)
        }
        return floors + manifest
    }

    private static let collisions: [(paths: [String], findings: Int)] = [
        (["Sources/a.swift", "Sources/b.swift"], 0),
        (["Sources/Lifeline", "Sources/lifeline"], 1),
        (["Tests/Ab.swift", "Tests/aB.swift", "Tests/ab.swift"], 2),
    ]
}
