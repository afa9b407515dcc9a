/// One target of the package: on which floor it stands, what it may import and what its code never calls.
struct Floor: Sendable {
    /// Where the target's folder stands.
    enum Place: String, Sendable, CaseIterable {
        case sources = "Sources"
        case tests = "Tests"
        case plugins = "Plugins"
    }

    let place: Place
    /// `nil` for tests and plugins, which stand beside the house.
    let number: Int?
    let target: String
    let imports: [Allowed]
    let never: [BanList]
    /// An umbrella holds `@_exported import`s and nothing else.
    let isUmbrella: Bool

    init(_ number: Int, _ target: String, imports: [Allowed], never: [BanList] = [], isUmbrella: Bool = false) {
        self.place = .sources
        self.number = number
        self.target = target
        self.imports = imports
        self.never = never
        self.isUmbrella = isUmbrella
    }

    init(_ place: Place, _ target: String, imports: [Allowed]) {
        self.place = place
        self.number = nil
        self.target = target
        self.imports = imports
        self.never = []
        self.isUmbrella = false
    }
}

/// A module that a target may import, everywhere or in one file only.
struct Allowed: Sendable, ExpressibleByStringLiteral {
    let module: String
    let onlyIn: String?

    init(_ module: String, onlyIn: String? = nil) {
        self.module = module
        self.onlyIn = onlyIn
    }

    init(stringLiteral module: String) {
        self.init(module)
    }

    /// Stands for the C library under each of its names.
    static let cLibrary = Allowed("the C library")

    static func cLibrary(onlyIn file: String) -> Allowed {
        Allowed(cLibrary.module, onlyIn: file)
    }

    var description: String {
        guard let onlyIn else { return module }
        return "\(module) in \(onlyIn)"
    }
}

/// A file that may do what others may not, and the reason.
struct Exemption: Sendable {
    let target: String
    /// A file's name; a `*` at the end stands for anything.
    let file: String
    let reason: String

    func covers(target: String, file name: String) -> Bool {
        guard target == self.target, name.hasSuffix(".swift") else { return false }
        let stem = name.dropLast(".swift".count)
        return file.hasSuffix("*") ? stem.hasPrefix(file.dropLast()) : stem == file
    }
}

/// What the check found: `path:line: message`.
struct Finding: Sendable, CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}
