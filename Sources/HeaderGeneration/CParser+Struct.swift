/// A field, and the tokens of its declaration.
struct DeclaredField {
    var field: CField
    /// The whole declaration, up to its semicolon.
    var declaration: ClosedRange<Int>
    /// The line on which its part of the declaration ends.
    var lastLine: Int
}

// The names of a struct, and its fields.
extension CParser {
    /// What stands around the braces. An error in it counts only if the struct is wanted.
    mutating func readStructHead(
        from start: Int, body: Range<Int>, end: Int, isTypedef: Bool
    ) throws(HeaderError) -> (value: CStruct, error: HeaderError?) {
        var found = CStruct(position: tokens[start].position)
        if case .known(let packing) = tokens[start].packing { found.packing = packing }
        var problem: HeaderError?
        var place = isTypedef ? start + 2 : start + 1
        var names: [Token] = []
        do throws(HeaderError) {
            for limit in [body.lowerBound, end] {
                while place < limit {
                    if tokens[place].isName("__attribute__") || tokens[place].isName("__attribute") {
                        if try readAttribute(&place, limit: limit) { found.packing = 1 }
                    } else {
                        names.append(tokens[place])
                        place += 1
                    }
                }
                if limit == body.lowerBound {
                    found.tag = names.first?.text
                    if names.count > 1 { throw unexpected(names[1], in: "the struct's name") }
                    names = []
                    place = body.upperBound + 1
                }
            }
            if isTypedef { found.alias = names.first?.text }
            if let extra = names.dropFirst(isTypedef ? 1 : 0).first {
                throw HeaderError(
                    extra.position, "\(extra.quoted) behind the struct isn't supported; declare variables and pointers apart from it")
            }
            if let name = names.first, name.kind != .name { throw unexpected(name, in: "the struct's name") }
            if found.name.isEmpty { throw HeaderError(found.position, "this struct needs a name, such as `struct chat_header { … };`") }
            if token(end) == nil { throw HeaderError(tokens[body.upperBound].position, "a `;` is missing behind this brace") }
        } catch {
            problem = error
        }
        return (found, problem)
    }

    private func unexpected(_ token: Token, in place: String) -> HeaderError {
        HeaderError(token.position, "\(token.quoted) in \(place) isn't supported; take it out")
    }

    /// Reads `__attribute__((…))`, moves `place` behind it and says whether it packs.
    private func readAttribute(_ place: inout Int, limit: Int) throws(HeaderError) -> Bool {
        let start = tokens[place].position
        var words: [Token] = []
        var depth = 0
        place += 1
        while place < limit {
            let token = tokens[place]
            place += 1
            if token.isPunctuator("(") {
                depth += 1
            } else if token.isPunctuator(")") {
                depth -= 1
                if depth == 0 { break }
            } else {
                words.append(token)
            }
        }
        if depth != 0 { throw HeaderError(start, "this attribute doesn't end") }
        let harmless = ["unused", "__unused__", "may_alias", "__may_alias__", "deprecated", "__deprecated__"]
        var isPacked = false
        for word in words where !word.isPunctuator(",") {
            if word.text == "packed" || word.text == "__packed__" {
                isPacked = true
            } else if !harmless.contains(word.text) {
                throw HeaderError(
                    word.position, "the attribute \(word.quoted) isn't supported, because it may change the layout; only `packed` is")
            }
        }
        return isPacked
    }

    /// Reads a declaration inside a struct: a type and one name or several.
    mutating func readFields() throws(HeaderError) -> [DeclaredField] {
        let start = index
        if tokens[index].isPunctuator(";") {
            index += 1
            return []
        }
        let (type, text) = try readType()
        var fields: [(CField, Int)] = []
        repeat {
            let field = try readDeclarator(type, text)
            fields.append((field, tokens[index].position.line))
            if tokens[index].isPunctuator(";") { break }
            index += 1
        } while true
        let declaration = start...index
        index += 1
        return fields.map { DeclaredField(field: $0.0, declaration: declaration, lastLine: $0.1) }
    }

    /// Reads a name with its size, up to the comma or semicolon behind it.
    private mutating func readDeclarator(_ type: CInteger, _ text: String) throws(HeaderError) -> CField {
        let name = tokens[index]
        guard name.kind == .name else { throw notAField(name) }
        index += 1
        var field = CField(name: name.text, position: name.position, type: type, typeText: text)
        if tokens[index].isPunctuator("[") {
            field.count = try readCount(of: name)
            if tokens[index].isPunctuator("[") {
                throw HeaderError(tokens[index].position, "arrays of arrays aren't supported; write one array with all elements")
            }
        }
        guard tokens[index].isPunctuator(",") || tokens[index].isPunctuator(";") else { throw notAField(tokens[index]) }
        return field
    }

    private func notAField(_ token: Token) -> HeaderError {
        let advice =
            switch token.text {
            case "*": "pointers mean nothing on the wire; use a fixed-width integer"
            case ":":
                "bit-fields aren't supported, because their order is the compiler's choice; declare the whole integer and take it apart in Swift"
            case "(": "functions and pointers to them mean nothing on the wire"
            case "__attribute__": "attributes of a single field aren't supported; pack the struct"
            case "}": "a `;` is missing before it"
            default: "a field is written `TYPE NAME;` or `TYPE NAME[N];`"
            }
        return HeaderError(token.position, "\(token.quoted) isn't supported here: \(advice)")
    }

    /// Reads `[N]`.
    private mutating func readCount(of name: Token) throws(HeaderError) -> Int {
        let opening = tokens[index]
        index += 1
        var size: [Token] = []
        while let token = token(index), !token.isPunctuator("]"), !token.isPunctuator(";") {
            size.append(token)
            index += 1
        }
        guard token(index)?.isPunctuator("]") == true else { throw HeaderError(opening.position, "this `[` isn't closed") }
        index += 1
        let isOpenEnded = "what follows the header is the body by itself; take the field out of the struct"
        if size.isEmpty { throw HeaderError(name.position, "an array without a size isn't supported: \(isOpenEnded)") }
        let count = try constants.value(of: size, at: opening.position)
        if count == 0 { throw HeaderError(name.position, "an array of no elements isn't supported: \(isOpenEnded)") }
        guard (1...Int128(HeaderLayout.limit)).contains(count) else {
            throw HeaderError(
                opening.position, "an array of \(count) elements isn't supported: a header has at most \(HeaderLayout.limit) bytes")
        }
        return Int(count)
    }
}
