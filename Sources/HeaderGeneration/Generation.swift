/// Makes Swift headers of the C structs that a server team hands over.
///
/// What a struct doesn't say stands in annotations behind `lifeline:`, in comments above the struct and at its fields, or in a side file
/// that leaves the C file as it was handed over. Structs without annotations are passed over. See ``ClauseParser`` for what can be said.
package enum Generation {
    /// A file and its contents.
    package struct Source: Sendable {
        package var path: String
        package var text: String

        package init(path: String, text: String) {
            self.path = path
            self.text = text
        }

        var name: String { String(path.split(separator: "/").last ?? "") }
    }

    /// What the name of a side file ends in: that of `chat.h` is `chat.lifeline.h`.
    package static let sideFileEnding = ".lifeline.h"

    /// The Swift for the structs of `header`.
    ///
    /// - Parameters:
    ///   - sideFile: more annotations, each behind the name of its struct, as in `// lifeline: chat_header: big-endian`.
    ///   - module: what the Swift imports, `Lifeline` or `LifelineCore`.
    /// - Throws: the first thing that can't be understood, with its place.
    package static func swift(for header: Source, sideFile: Source? = nil, importing module: String) throws(HeaderError) -> String {
        let source = try Preprocessor.run(try Lexer.elements(of: header.text, file: header.path))
        let side = try sideFile.map { (file) throws(HeaderError) in try SideFile(file, constants: source.constants) }
        let file = try CParser.parse(source, besides: side?.clauses ?? [:])
        try side?.checkAllUsed(file.structs)
        guard !file.structs.isEmpty else {
            throw HeaderError(
                Position(file: header.path, line: 1, column: 1),
                "no struct here has an annotation: write one above it, such as `// lifeline: big-endian; FIELD counts body`")
        }
        var models: [HeaderModel] = []
        for found in file.structs {
            let model = try HeaderResolver.resolve(found)
            if models.contains(where: { $0.name == model.name }) {
                throw HeaderError(found.position, "there is a header `\(model.name)` already: choose another name with `lifeline: as NAME`")
            }
            models.append(model)
        }
        let isPublic = models.contains(where: \.isPublic)
        var lines = [
            "// Made of \(HeaderEmitter.printable(header.name)) by the plugin GenerateHeaders: change that file, not this one.", "",
            "\(isPublic ? "public " : "")import \(module)",
        ]
        for model in models { lines += [""] + HeaderEmitter.lines(for: model, fileName: header.name) }
        return lines.joined(separator: "\n") + "\n"
    }
}
