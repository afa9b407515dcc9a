import Foundation
import PackagePlugin

/// `swift package check-floors`: runs FloorCheck over the package.
@main
struct CheckFloors: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let check = Process()
        check.executableURL = try context.tool(named: "FloorCheck").url
        check.arguments = arguments.isEmpty ? [context.package.directoryURL.path] : arguments
        try check.run()
        check.waitUntilExit()
        // What FloorCheck printed says why.
        if check.terminationStatus != 0 { exit(check.terminationStatus) }
    }
}
