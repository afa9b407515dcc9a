/// A search for a delimiter that goes on where it stopped and looks at each byte a bounded number of times, whatever the delimiter.
///
/// Knuth, Morris and Pratt is the whole of it: what has been matched so far is all that must be remembered, so the bytes before may be
/// dropped meanwhile. Over long stretches ``DelimiterLeap`` is faster, as long as the text lets it be.
@usableFromInline
struct DelimiterSearch: Sendable {
    @usableFromInline let pattern: Bytes
    /// At `n`: how many of the first `n` bytes are still matched when the byte behind them doesn't fit.
    @usableFromInline let fallbacks: [Int]
    private let leap: DelimiterLeap

    /// A search for `pattern`, which isn't empty.
    @usableFromInline
    init(_ pattern: Bytes) {
        var fallbacks = [0, 0]
        fallbacks.reserveCapacity(pattern.count + 1)
        var matched = 0
        for position in 1..<Swift.max(1, pattern.count) {
            while matched > 0, pattern[matched] != pattern[position] { matched = fallbacks[matched] }
            if pattern[matched] == pattern[position] { matched += 1 }
            fallbacks.append(matched)
        }
        self.pattern = pattern
        self.fallbacks = fallbacks
        leap = DelimiterLeap(pattern)
    }

    /// Goes on at `position`, before which `matched` bytes of the delimiter stand.
    ///
    /// - Returns: the position behind the delimiter, or nil with `position` at the end of `bytes`.
    @usableFromInline
    func advance(over bytes: UnsafeRawBufferPointer, position: inout Int, matched: inout Int) -> Int? {
        pattern.withUnsafeBytes { pattern in
            var mayLeap = bytes.count - position >= DelimiterLeap.worthwhile
            while position < bytes.count {
                if mayLeap, matched == 0 {
                    mayLeap = false
                    if leap.advance(over: bytes, pattern, position: &position) {
                        position += pattern.count
                        matched = pattern.count
                        return position
                    }
                    continue
                }
                let byte = bytes[position]
                while matched > 0, pattern[matched] != byte { matched = fallbacks[matched] }
                if pattern[matched] == byte { matched += 1 }
                position += 1
                if matched == pattern.count { return position }
            }
            return nil
        }
    }

    /// Whether the delimiter sent behind `text` is the first that a reader finds: `text` holds none, nor one that its end would begin.
    @usableFromInline
    func canEnd(_ text: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        var matched = 0
        if advance(over: text, position: &position, matched: &matched) != nil { return false }
        position = 0
        return pattern.withUnsafeBytes { advance(over: $0, position: &position, matched: &matched) } == pattern.count
    }
}

extension ByteInput {
    /// Where a delimiter starts that is too long to be compared at each place where its first byte stands.
    @usableFromInline
    func firstIndex(ofLong delimiter: Bytes, from offset: Int) -> Int? {
        var position = Swift.min(Swift.max(0, offset), count)
        var matched = 0
        let search = DelimiterSearch(delimiter)
        let end = withUnsafeBytes { search.advance(over: $0, position: &position, matched: &matched) }
        return end.map { $0 - delimiter.count }
    }
}
