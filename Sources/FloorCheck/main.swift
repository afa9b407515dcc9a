// Checks that every target imports only lower floors and calls only what its floor may.
//
//     FloorCheck [package root]     findings as `path:line: message`; status 1 if there are any
//     FloorCheck --self-test        runs the check over embedded snippets, good and bad

import Foundation

let arguments = CommandLine.arguments.dropFirst()

func fail(_ message: String, status: Int32) -> Never {
    // The findings come first, also where output is a pipe.
    fflush(nil)
    FileHandle.standardError.write(Data("FloorCheck: \(message)\n".utf8))
    exit(status)
}

if arguments.first == "--self-test" {
    let failures = SelfTest.failures()
    for failure in failures { print(failure) }
    if !failures.isEmpty { fail("\(failures.count) of \(SelfTest.count) self-tests failed", status: 1) }
    print("FloorCheck: \(SelfTest.count) self-tests passed")
    exit(0)
}
guard arguments.count < 2, arguments.first?.hasPrefix("-") != true else {
    fail("usage: FloorCheck [package root] | --self-test", status: 2)
}

do {
    let tree = Tree(root: URL(fileURLWithPath: arguments.first ?? FileManager.default.currentDirectoryPath))
    let paths = try tree.paths()
    let checked = paths.filter(Tree.isChecked)
    guard checked.contains(where: { $0.hasPrefix("Sources/") }) else { fail("no Swift file under \(tree.root.path)/Sources", status: 2) }
    let findings = try Tree.collisions(in: paths) + checked.flatMap { FileCheck.findings(path: $0, text: try tree.text(of: $0)) }
    for finding in findings { print(finding) }
    if !findings.isEmpty { fail("\(findings.count) findings in \(checked.count) files", status: 1) }
    print("FloorCheck: \(checked.count) files checked, no findings")
} catch {
    fail("\(error)", status: 2)
}
