/// What is read of a C file: the structs that have annotations.
struct CFile: Sendable {
    var structs: [CStruct] = []
    var constants = Constants()
}

/// Finds the structs of a file that have annotations and reads them; all else is passed over, whatever C it is.
struct CParser {
    let source: Preprocessed
    /// The annotations of the side file, by the name of their struct.
    let besides: [String: [Clause]]
    var constants: Constants
    var index = 0
    /// What `typedef`s of integers stand for.
    var aliases: [String: Decided<CInteger>] = [:]
    private var structs: [CStruct] = []
    /// The comments whose annotations belong to something.
    private var used: Set<Int> = []

    static func parse(_ source: Preprocessed, besides: [String: [Clause]]) throws(HeaderError) -> CFile {
        var parser = CParser(source: source, besides: besides, constants: source.constants)
        try parser.run()
        return CFile(structs: parser.structs, constants: parser.constants)
    }

    private init(source: Preprocessed, besides: [String: [Clause]], constants: Constants) {
        self.source = source
        self.besides = besides
        self.constants = constants
    }

    var tokens: [Token] { source.tokens }

    private mutating func run() throws(HeaderError) {
        while index < tokens.count { try readDeclaration() }
        for (number, entry) in source.comments.enumerated() where entry.comment.isAnnotated && !used.contains(number) {
            let reason =
                entry.comment.isLeftOut
                ? "stands where the preprocessor leaves the text out" : "belongs to no struct: it stands above one, or inside at a field"
            throw HeaderError(entry.comment.annotations[0].position, "this annotation \(reason)")
        }
    }

    private mutating func readDeclaration() throws(HeaderError) {
        let start = index
        if tokens[index].isName("extern"), token(index + 1)?.kind == .string, token(index + 2)?.isPunctuator("{") == true {
            // The closing brace is passed over by itself.
            index += 3
            return
        }
        let isTypedef = tokens[index].isName("typedef")
        if isTypedef { index += 1 }
        if token(index)?.isName("enum") == true { readEnum() }
        if token(index)?.isName("struct") == true, let body = structBody() {
            index = start
            return try readStruct(from: start, body: body, isTypedef: isTypedef)
        }
        if isTypedef { readAlias(from: start) }
        index = start
        skipDeclaration()
    }

    func token(_ index: Int) -> Token? { index >= 0 && index < tokens.count ? tokens[index] : nil }

    /// Passes over a declaration or a function with its body.
    private mutating func skipDeclaration() {
        var depth = 0
        while index < tokens.count {
            let token = tokens[index]
            index += 1
            if token.isPunctuator("{") { depth += 1 }
            if token.isPunctuator("}") {
                depth -= 1
                if depth <= 0 { return }
            }
            if token.isPunctuator(";"), depth <= 0 { return }
        }
    }

    /// The places of the braces of the struct whose keyword stands here; nil if this isn't a definition.
    private func structBody() -> Range<Int>? {
        var open = index + 1
        var nesting = 0
        while let token = token(open), !token.isPunctuator("{") || nesting > 0 {
            if token.isPunctuator("(") { nesting += 1 }
            if token.isPunctuator(")") { nesting -= 1 }
            if token.isPunctuator(";") { return nil }
            open += 1
        }
        var depth = 0
        for place in open..<max(open, tokens.count) {
            if tokens[place].isPunctuator("{") { depth += 1 }
            if tokens[place].isPunctuator("}") { depth -= 1 }
            if depth == 0 { return open..<place }
        }
        return nil
    }

    private mutating func readStruct(from start: Int, body: Range<Int>, isTypedef: Bool) throws(HeaderError) {
        var end = body.upperBound
        while let token = token(end), !token.isPunctuator(";") { end += 1 }
        let comments = StructComments(source, start: start, body: body, end: end)
        let head = try readStructHead(from: start, body: body, end: end, isTypedef: isTypedef)
        var found = head.value
        let names = [found.alias, found.tag].compactMap { $0 }
        let beside = names.flatMap { besides[$0] ?? [] }
        guard !beside.isEmpty || comments.isAnnotated else {
            index = min(end + 1, tokens.count)
            return
        }
        // Only here: what nobody asks for may be any C.
        if let error = head.error { throw error }
        try checkSurroundings(of: found, start...min(end, tokens.count - 1))
        index = body.lowerBound + 1
        var declared: [DeclaredField] = []
        while index < body.upperBound { declared += try readFields() }
        found.fields = declared.map(\.field)
        try attach(comments, to: &found, declared)
        found.annotations += beside
        used.formUnion(comments.numbers)
        structs.append(found)
        index = min(end + 1, tokens.count)
    }

    private func checkSurroundings(of found: CStruct, _ range: ClosedRange<Int>) throws(HeaderError) {
        let packing = tokens[range.lowerBound].packing
        for token in tokens[range] {
            if let condition = token.condition { throw HeaderError(undecided: condition, for: token.quoted, at: token.position) }
            if token.packing != packing {
                throw HeaderError(token.position, "`#pragma pack` inside a struct isn't supported; put it above the struct")
            }
        }
        // A packed struct is packed, whatever the pragma says.
        if found.packing != 1 { _ = try packing.value(for: "the packing of `\(found.cName)`", at: found.position) }
        for include in source.includes where include.next > range.lowerBound && include.next <= range.upperBound {
            throw HeaderError(include.position, "`#include` inside a struct isn't supported; write here what the file holds")
        }
    }

    private func attach(_ comments: StructComments, to found: inout CStruct, _ declared: [DeclaredField]) throws(HeaderError) {
        found.prose = comments.prose
        for comment in comments.above { found.annotations += try clauses(of: comment) }
        for (comment, place) in comments.inside {
            let fields = declared.indices.filter { place.belongs(to: declared[$0]) }
            if fields.isEmpty, comment.isAnnotated {
                throw HeaderError(
                    comment.annotations[0].position, "this annotation belongs to no field: it stands above one, or behind on its line")
            }
            for field in fields {
                let prose = [found.fields[field].prose, comment.prose].filter { !$0.isEmpty }
                found.fields[field].prose = prose.joined(separator: " ")
                found.fields[field].annotations += try clauses(of: comment)
            }
        }
    }

    private func clauses(of comment: CComment) throws(HeaderError) -> [Clause] {
        var clauses: [Clause] = []
        for (text, position) in comment.annotations {
            clauses += try ClauseParser.clauses(in: text, at: position, constants: constants)
        }
        return clauses
    }
}
