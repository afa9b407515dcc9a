import Foundation
import PackagePlugin

/// Makes a Swift header of each C header in the target's folder: `chat.h` gives `chat.h.swift`, and `team/chat.h` gives `team-chat.h.swift`,
/// or `team-chat.h-2.swift` if there is a `team-chat.h`, too.
///
/// Every `.h` file of a Swift target is taken, apart from side files, `NAME.lifeline.h`. The folder `include` is left out: that is where
/// C targets have their own.
@main
struct GenerateHeaders: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = target.directoryURL
        let generator = try context.tool(named: "HeaderGenerator").url
        let headers = try Self.headers(in: folder)
        if headers.isEmpty { Diagnostics.warning("GenerateHeaders found no C header in \(folder.path)") }
        return zip(headers, Self.outputs(for: headers)).map { path, name in
            let input = folder.appendingPathComponent(path)
            let output = context.pluginWorkDirectoryURL.appendingPathComponent(name)
            let side = input.deletingPathExtension().appendingPathExtension("lifeline.h")
            let hasSide = FileManager.default.fileExists(atPath: side.path)
            return .buildCommand(
                displayName: "Making Swift of \(path)", executable: generator,
                arguments: [Self.module(for: target), input.path, output.path],
                inputFiles: hasSide ? [input, side] : [input], outputFiles: [output])
        }
    }

    /// The paths of the C headers below a folder, sorted.
    private static func headers(in folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".h") && !$0.hasSuffix(".lifeline.h") && !$0.hasPrefix("include/") }
    }

    /// A file name for each header. All differ, also where case doesn't count: a module can't have two files of one name.
    private static func outputs(for headers: [String]) -> [String] {
        var used: [String: Int] = [:]
        return headers.map { path in
            let name = path.replacingOccurrences(of: "/", with: "-")
            let number = used[name.lowercased(), default: 0] + 1
            used[name.lowercased()] = number
            return number == 1 ? "\(name).swift" : "\(name)-\(number).swift"
        }
    }

    /// What the target gets the names from: this package's own targets may know the ground floor only.
    private static func module(for target: any Target) -> String {
        let names = target.dependencies.map { dependency in
            switch dependency {
            case .target(let target): target.name
            case .product(let product): product.name
            @unknown default: ""
            }
        }
        return names.contains("Lifeline") || !names.contains("LifelineCore") ? "Lifeline" : "LifelineCore"
    }
}
