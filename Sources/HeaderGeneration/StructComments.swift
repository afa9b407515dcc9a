/// The comments in and around a struct.
struct StructComments {
    /// Where a comment inside the braces stands.
    enum Place {
        /// Behind something on this line.
        case behind(line: Int)
        /// Above the token of this index.
        case above(Int)

        func belongs(to field: DeclaredField) -> Bool {
            switch self {
            case .behind(let line): field.lastLine == line
            case .above(let next): field.declaration.contains(next)
            }
        }
    }

    /// Those that are about the struct itself.
    var above: [CComment] = []
    var inside: [(CComment, Place)] = []
    /// All of them, as they are numbered in the file.
    var numbers: [Int] = []
    /// What the comment right above it says.
    var prose = ""

    /// The comments of the struct whose declaration begins at the token `start` and ends at `end`.
    init(_ source: Preprocessed, start: Int, body: Range<Int>, end: Int) {
        let tokens = source.tokens
        /// The line on which the token before another ends.
        func line(before next: Int) -> Int? { next > 0 && next <= tokens.count ? tokens[next - 1].position.line : nil }

        var texts: [CComment] = []
        for (number, (comment, next)) in source.comments.enumerated() where !comment.isLeftOut {
            let isBehind = line(before: next) == comment.position.line
            // Behind the end of what stands before isn't above this one.
            if next == start ? isBehind : next < start { continue }
            if next > end + 1 || (next == end + 1 && !isBehind) { continue }
            numbers.append(number)
            let isAtTop = next <= body.lowerBound || (next == body.lowerBound + 1 && isBehind)
            let isAtBottom = next > body.upperBound
            if isAtTop || isAtBottom {
                above.append(comment)
                if next <= body.lowerBound { texts.append(comment) }
            } else {
                inside.append((comment, isBehind ? .behind(line: comment.position.line) : .above(next)))
            }
        }
        prose = Self.prose(of: texts, above: tokens[start].position.line)
    }

    /// The comments that stand without a gap above the line.
    private static func prose(of comments: [CComment], above line: Int) -> String {
        var line = line
        var texts: [String] = []
        for comment in comments.reversed() {
            if comment.lastLine < line - 1 { break }
            line = min(line, comment.position.line)
            texts.append(comment.prose)
        }
        return texts.reversed().filter { !$0.isEmpty }.joined(separator: " ")
    }

    var isAnnotated: Bool { above.contains(where: \.isAnnotated) || inside.contains { $0.0.isAnnotated } }
}
