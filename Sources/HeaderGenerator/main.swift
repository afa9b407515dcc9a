// Makes Swift of a C header; the plugin GenerateHeaders runs it.
//
//     HeaderGenerator MODULE INPUT.h OUTPUT.swift
//
// MODULE is what the Swift imports. The side file INPUT.lifeline.h is read if there is one. A fault is told as `file:line:column: error: …`
// with status 1.

import Foundation
import HeaderGeneration

func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 3 else { fail("usage: HeaderGenerator MODULE INPUT.h OUTPUT.swift", status: 2) }
let (module, input, output) = (arguments[1], arguments[2], arguments[3])

func read(_ path: String) throws -> Generation.Source {
    Generation.Source(path: path, text: String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self))
}

do {
    let side = URL(fileURLWithPath: input).deletingPathExtension().path + Generation.sideFileEnding
    let swift = try Generation.swift(
        for: read(input), sideFile: FileManager.default.fileExists(atPath: side) ? read(side) : nil, importing: module)
    try Data(swift.utf8).write(to: URL(fileURLWithPath: output))
} catch let error as HeaderError {
    fail("\(error)", status: 1)
} catch {
    fail("\(input):1:1: error: \(error)", status: 1)
}
