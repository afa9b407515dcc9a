// How the end of a line is found, and what happens with one that is too long.
extension DelimiterCodec {
    /// A whole line at the front of the input.
    @usableFromInline
    struct Line {
        /// Its bytes without the terminator.
        @usableFromInline let length: Int
        /// The bytes of the terminator.
        @usableFromInline let terminator: Int

        @inlinable
        init(length: Int, terminator: Int) {
            self.length = length
            self.terminator = terminator
        }
    }

    /// What a terminator looks like to a search.
    @usableFromInline
    enum Ending: Sendable {
        /// One byte.
        case byte
        /// One byte, and a CR before it if there is one.
        case byteOrCRBefore
        /// One byte, and a CR before it.
        case byteAndCRBefore
        /// Anything else.
        case several

        init(_ delimiter: Delimiter) {
            self = delimiter.bytes.count == 1 ? .byte : delimiter == .crlf ? .byteAndCRBefore : .several
        }
    }

    /// The next line within the limit, which the caller takes from the input; nil if more bytes are needed.
    @inlinable
    mutating func nextLine(in input: inout ByteInput) throws(SocketError) -> Line? {
        if incoming != .several, dropped == 0 {
            if let line = lineByByte(in: input), line.length <= max {
                searched = 0
                return line
            }
        }
        return try nextLineWithinLimit(in: &input)
    }

    /// Looks for a terminator by its last byte, with a CR before it where that belongs to it.
    @inlinable
    mutating func lineByByte(in input: ByteInput) -> Line? {
        while let end = input.firstIndex(of: incomingByte, from: searched) {
            searched = end
            if incoming == .byte { return Line(length: end, terminator: 1) }
            if end > 0, input[end &- 1] == 0x0D { return Line(length: end &- 1, terminator: 2) }
            if incoming == .byteOrCRBefore { return Line(length: end, terminator: 1) }
            searched = end &+ 1
        }
        searched = input.count
        return nil
    }

    private mutating func line(in input: ByteInput) -> Line? {
        guard let search else { return lineByByte(in: input) }
        if searched > input.count {
            // Somebody else has taken bytes.
            searched = 0
            matched = 0
        }
        var position = searched
        let end = input.withUnsafeBytes { search.advance(over: $0, position: &position, matched: &matched) }
        searched = position
        guard let end else { return nil }
        return Line(length: end - search.pattern.count, terminator: search.pattern.count)
    }

    /// The whole search, with the rule for lines above the limit.
    @usableFromInline
    mutating func nextLineWithinLimit(in input: inout ByteInput) throws(SocketError) -> Line? {
        while let line = line(in: input) {
            searched = 0
            matched = 0
            let length = dropped + line.length
            if length <= max { return line }
            if overlong == .fail { throw SocketError(frameOf: length, exceeds: max) }
            input.report(Finding(.droppedFrame, byteCount: length))
            input.skip(line.length + line.terminator)
            dropped = 0
        }
        // What may be the beginning of a terminator isn't counted.
        let certain = input.count - possibleTerminator(in: input)
        if dropped + certain > max {
            if overlong == .fail {
                throw SocketError(.frameTooLarge, "\(certain) bytes without a terminator exceed the limit of \(max)")
            }
            input.skip(certain)
            dropped += certain
            searched = input.count
        }
        return nil
    }

    /// How many of the last bytes may be the beginning of a terminator.
    private func possibleTerminator(in input: ByteInput) -> Int {
        switch incoming {
        case .byte: 0
        case .byteOrCRBefore, .byteAndCRBefore: !input.isEmpty && input[input.count - 1] == 0x0D ? 1 : 0
        case .several: matched
        }
    }

    /// How many bytes are the last frame of a stream that ended without a terminator; nil if there is none.
    mutating func restAtEnd(in input: inout ByteInput) throws(SocketError) -> Int? {
        guard let pending = pending(in: input) else { return nil }
        if unterminated == .fail { throw SocketError(truncated: pending) }
        if pending.received <= max {
            searched = 0
            matched = 0
            return input.count
        }
        if overlong == .fail { throw SocketError(frameOf: pending.received, exceeds: max) }
        input.report(Finding(.droppedFrame, byteCount: pending.received))
        input.skip(input.count)
        searched = 0
        matched = 0
        dropped = 0
        return nil
    }
}
