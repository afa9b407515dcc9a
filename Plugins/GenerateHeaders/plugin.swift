import Foundation
import PackagePlugin

/// Makes a Swift header of each C header in the target's folder: `chat.h` gives `chat.h.swift`.
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
        return headers.map { path in
            let input = folder.appendingPathComponent(path)
            let output = context.pluginWorkDirectoryURL
                .appendingPathComponent(path.replacingOccurrences(of: "/", with: "-") + ".swift")
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
