import Testing

@testable import HeaderGeneration

struct LexerTests {
    private func tokens(_ text: String) throws -> [String] {
        try Lexer.elements(of: text, file: "a.h").compactMap { element in
            guard case .token(let token) = element else { return nil }
            return "\(token.text)@\(token.position.line):\(token.position.column)"
        }
    }

    private func comments(_ text: String) throws -> [CComment] {
        try Lexer.elements(of: text, file: "a.h").compactMap { element in
            guard case .comment(let comment) = element else { return nil }
            return comment
        }
    }

    @Test func tokensHaveTheirPlaces() throws {
        #expect(
            try tokens("int a[16];\n  char\tb;") == [
                "int@1:1", "a@1:5", "[@1:6", "16@1:7", "]@1:9", ";@1:10", "char@2:3", "b@2:8", ";@2:9",
            ])
    }

    @Test func lineEndsOfEachKindCount() throws {
        #expect(try tokens("a\r\nb\n\nc") == ["a@1:1", "b@2:1", "c@4:1"])
        #expect(try tokens("\u{FEFF}a") == ["a@1:1"], "a byte order mark takes no column")
    }

    @Test func rangesAreThreeTokens() throws {
        #expect(try tokens("9...999") == ["9@1:1", "...@1:2", "999@1:5"])
        #expect(try tokens("1.5") == ["1.5@1:1"])
    }

    @Test func commentsOfBothKindsAreNoTokens() throws {
        let text = "a // one \\\n still one\nb /* two\n * lines */ c"
        #expect(try tokens(text) == ["a@1:1", "b@3:1", "c@4:13"])
        let found = try comments(text)
        #expect(found.map(\.lines) == [[" one ", " still one"], [" two", " * lines "]])
        #expect(found.map(\.position.line) == [1, 3])
        #expect(found[1].lastLine == 4)
    }

    @Test func marksInLiteralsAreNoComments() throws {
        #expect(try tokens(#"a "/* // \" " b '"' c"#) == ["a@1:1", #"/* // \" @1:3"#, "b@1:15", #""@1:17"#, "c@1:21"])
    }

    @Test func directivesTakeTheirLineAndTheNextOfASplice() throws {
        let elements = try Lexer.elements(of: "#define N \\\n 16 // size\n#error don't\nint", file: "a.h")
        guard case .directive("define", let tokens, let position) = elements[1] else {
            Issue.record("\(elements)")
            return
        }
        #expect(tokens.map(\.text) == ["N", "16"])
        #expect(position.line == 1)
        guard case .token(let last) = try #require(elements.last) else {
            Issue.record("\(elements)")
            return
        }
        #expect(last.text == "int" && last.position.line == 4)
    }

    @Test(arguments: ["/* open", "\"open", "'a\n'"])
    func whatDoesntEndIsAnError(text: String) {
        #expect(refusal("int a;\n" + text)?.hasPrefix("/team/chat.h:2:1: error: this ") == true)
    }

    @Test func proseAndAnnotationsAreToldApart() throws {
        let comment = try comments("/**< what it is; lifeline: == 1\n *   goes on */")[0]
        #expect(comment.prose == "what it is; goes on")
        #expect(comment.annotations.map(\.text) == [" == 1"])
        #expect(comment.annotations[0].position == Position(file: "a.h", line: 1, column: 27))
    }
}
