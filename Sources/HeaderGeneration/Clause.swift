/// Something that an annotation says, such as `body_length counts body`.
struct Clause: Sendable {
    enum Order: String, Sendable {
        case big = "big-endian"
        case little = "little-endian"
    }

    /// What the number in a length field counts.
    enum Counted: String, Sendable, CaseIterable {
        case body, packet, rest
    }

    enum Predicate: Sendable {
        case order(Order)
        case swiftName(String)
        case isPublic(Bool)
        case counts(Counted)
        case range(ClosedRange<Int128>)
        case text(String)
    }

    /// The struct's field that it is about; nil if it is about what the comment stands at.
    var subject: String?
    var predicate: Predicate
    var position: Position
}

extension CComment {
    /// What marks an annotation.
    static let mark = "lifeline:"

    /// The texts behind each mark, with the places where they begin.
    var annotations: [(text: String, position: Position)] {
        lines.indices.compactMap { index in
            guard let range = lines[index].range(ofMark: Self.mark) else { return nil }
            let before = lines[index][..<range.upperBound].utf8.count
            return (String(lines[index][range.upperBound...]), position(line: index, byte: before))
        }
    }

    var isAnnotated: Bool { lines.contains { $0.range(ofMark: Self.mark) != nil } }

    /// What it says to people, in one line.
    var prose: String {
        lines.map { line in
            let text = line.range(ofMark: Self.mark).map { line[..<$0.lowerBound] } ?? line[...]
            return text.trimmed { $0.isWhitespace || "*/!<".contains($0) }
        }.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension StringProtocol {
    /// Where `mark` stands first.
    func range(ofMark mark: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(mark), let end = index(start, offsetBy: mark.count, limitedBy: endIndex) { return start..<end }
            start = index(after: start)
        }
        return nil
    }

    func trimmed(_ isDropped: (Character) -> Bool) -> String {
        var rest = drop(while: isDropped)
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return String(rest)
    }
}
