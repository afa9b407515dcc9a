import Lifeline
import Testing

@testable import HeaderGeneration

/// Makes Swift of C text, or gives the error that it meets.
func generate(_ text: String, side: String? = nil) throws -> String {
    try Generation.swift(
        for: .init(path: "/team/chat.h", text: text), sideFile: side.map { .init(path: "/team/chat.lifeline.h", text: $0) },
        importing: "Lifeline")
}

/// The error of C text that no header can be made of, as SwiftPM prints it; nil if one can.
func refusal(_ text: String, side: String? = nil) -> String? {
    do {
        _ = try generate(text, side: side)
        return nil
    } catch {
        return "\(error)"
    }
}

/// The headers of C text.
func models(_ text: String) throws -> [HeaderModel] {
    let source = try Preprocessor.run(try Lexer.elements(of: text, file: "chat.h"))
    return try CParser.parse(source, besides: [:]).structs.map { try HeaderResolver.resolve($0) }
}

/// The one header of C text.
func model(_ text: String) throws -> HeaderModel {
    let all = try models(text)
    #expect(all.count == 1)
    return all[0]
}

/// The bytes that a header writes.
func bytes(_ header: some FixedHeader) -> [UInt8] {
    var output = ByteOutput()
    header.write(to: &output)
    return Array(output.finish())
}
