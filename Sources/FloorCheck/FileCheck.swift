/// Checks one Swift file against the rules of the target that its path names.
struct FileCheck {
    private let path: String
    private let file: String
    private let source: Lexed
    private let imports: [Import]
    /// Where each name stands, outside imports.
    private let positions: [String: [Int]]
    private var findings: [Finding] = []

    /// Everything that the rules say about the file at `path`, which is relative to the package's root, in the order of its lines.
    static func findings(path: String, text: String) -> [Finding] {
        var check = FileCheck(path: path, text: text)
        check.run()
        return check.findings.sorted { $0.line < $1.line }
    }

    private init(path: String, text: String) {
        self.path = path
        self.file = path.split(separator: "/").last.map(String.init) ?? path
        self.source = Lexer.read(text)
        self.imports = Import.all(in: source.tokens)
        let inImports = Set(imports.flatMap { Array($0.range) })
        let indices = source.tokens.indices.filter { !inImports.contains($0) }
        self.positions = Dictionary(grouping: indices) { [tokens = source.tokens] in tokens[$0].text }
    }

    private mutating func report(_ line: Int, _ message: String) {
        findings.append(Finding(path: path, line: line, message: message))
    }

    private mutating func run() {
        let folders = path.split(separator: "/").map(String.init)
        guard folders.count > 1 else { return checkBans(Rules.neverInManifest, in: "the manifest") }
        let target = folders[1]
        guard let place = Floor.Place(rawValue: folders[0]),
            let floor = Rules.floors.first(where: { $0.place == place && $0.target == target })
        else {
            return report(1, "\(target) has no row in the floor table (FloorCheck/Rules.swift)")
        }
        checkImports(floor)
        if floor.isUmbrella { checkOnlyExports(floor) }
        switch place {
        case .sources, .plugins:
            checkBans(floor.never + Rules.neverInSources, in: target)
            checkTasks(target)
            checkProofs()
        case .tests:
            checkBans(Rules.neverInTests, in: target)
        }
    }

    private mutating func checkImports(_ floor: Floor) {
        for found in imports where found.module != floor.target {
            let isHouse = Rules.cTargets.contains(found.module) || Rules.floors.contains { $0.target == found.module }
            if floor.place == .tests, !isHouse { continue }
            let name = Rules.cLibraryNames.contains(found.module) ? Allowed.cLibrary.module : found.module
            let allowed = floor.imports.filter { $0.module == name }
            if allowed.contains(where: { $0.onlyIn == nil || $0.onlyIn == file }) { continue }
            report(found.line, "\(floor.target) may not import \(found.module)\(reason(floor, found.module, allowed))")
        }
    }

    private func reason(_ floor: Floor, _ module: String, _ allowed: [Allowed]) -> String {
        if let onlyIn = allowed.first?.onlyIn { return " here: only \(onlyIn) may" }
        if let other = Rules.floors.first(where: { $0.target == module })?.number, let own = floor.number {
            if other > own { return ": it stands above, on floor \(other)" }
            if other == own { return ": both stand on floor \(own), and sideways is not allowed" }
        }
        if floor.imports.isEmpty { return "" }
        return "; allowed: " + floor.imports.map(\.description).joined(separator: ", ")
    }

    /// An umbrella has `@_exported import`s, conditions around them and nothing else.
    private mutating func checkOnlyExports(_ floor: Floor) {
        for plain in imports where !plain.isExported {
            report(plain.line, "\(floor.target) only re-exports: write `@_exported public import \(plain.module)`")
        }
        let taken = Set(imports.flatMap { Array($0.range) })
        let conditions = Set(
            source.tokens.indices.dropLast().filter {
                source.tokens[$0].text == "#" && ["if", "elseif", "else", "endif"].contains(source.tokens[$0 + 1].text)
            }.map { source.tokens[$0].line })
        let code = source.tokens.indices.first { !taken.contains($0) && !conditions.contains(source.tokens[$0].line) }
        if let code { report(source.tokens[code].line, "\(floor.target) only re-exports: code belongs in a floor below") }
    }

    private mutating func checkBans(_ lists: [BanList], in place: String) {
        for list in lists {
            for ban in list.bans {
                for index in ban.candidates(in: positions) where ban.matches(source.tokens, at: index) {
                    report(source.tokens[index].line, "`\(ban.code)` doesn't belong in \(place): \(list.reason)")
                }
            }
        }
    }

    private mutating func checkTasks(_ target: String) {
        if Rules.mayStartTasks.contains(where: { $0.covers(target: target, file: file) }) { return }
        for line in UnstructuredTasks.lines(in: source.tokens) {
            report(line, "unstructured `Task`: use a child task, or add the file with a reason to FloorCheck/Rules.swift")
        }
    }

    private mutating func checkProofs() {
        for claim in UncheckedClaims.withoutComment(in: source) {
            report(claim.line, "`\(claim.text)` without a comment that says why it is safe")
        }
    }
}
