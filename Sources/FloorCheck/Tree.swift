import Foundation

/// The package's files on disk.
struct Tree {
    let root: URL

    /// All paths below the root, sorted, without what builds and version control leave there.
    func paths() throws -> [String] {
        var found: [String] = []
        var folders = [""]
        while let folder = folders.popLast() {
            for name in try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path) {
                if name == ".git" || name.hasPrefix(".build") || name == ".swiftpm" { continue }
                let path = folder.isEmpty ? name : folder + "/" + name
                found.append(path)
                if isFolder(path) { folders.append(path) }
            }
        }
        return found.sorted()
    }

    /// A link to a folder isn't followed.
    private func isFolder(_ path: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: root.appendingPathComponent(path).path)
        return attributes?[.type] as? FileAttributeType == .typeDirectory
    }

    func text(of path: String) throws -> String {
        String(decoding: try Data(contentsOf: root.appendingPathComponent(path)), as: UTF8.self)
    }

    /// The files that the rules are about: the manifest and all Swift in the three folders of targets.
    static func isChecked(_ path: String) -> Bool {
        guard path.hasSuffix(".swift") else { return false }
        let folders = path.split(separator: "/")
        if folders.count == 1 { return path.hasPrefix("Package") }
        return folders.count > 2 && Floor.Place(rawValue: String(folders[0])) != nil
    }

    /// Two paths that differ only in case are one file on some machines.
    static func collisions(in paths: [String]) -> [Finding] {
        var seen: [String: String] = [:]
        return paths.compactMap { path in
            guard let other = seen.updateValue(path, forKey: path.lowercased()) else { return nil }
            return Finding(path: path, line: 1, message: "differs only in case from \(other)")
        }
    }
}
