/// The quick part of a search for a delimiter: over long stretches that hold nothing like it.
///
/// First by `memchr` for the delimiter's first byte. Where that byte is frequent, by Horspool's rule for pairs of bytes: the pair at the
/// end of the place that is looked at says how far the delimiter can be moved on. Where that leads to comparing in vain again and again,
/// this gives up, so that the work stays linear.
struct DelimiterLeap: Sendable {
    /// Shorter stretches are not worth the start.
    static let worthwhile = 64

    /// For each hash of a pair: how far the delimiter can be moved on; 0 for its last pair.
    private let shifts: [UInt8]
    /// How far it can be moved on where its last pair stands and the rest doesn't fit.
    private let shiftBehindMiss: Int
    /// The most that it can be moved on.
    private let most: UInt8

    init(_ pattern: Bytes) {
        guard pattern.count >= 4 else {
            // It couldn't be moved on far enough.
            shifts = []
            shiftBehindMiss = 1
            most = 1
            return
        }
        most = UInt8(clamping: pattern.count - 1)
        var shifts = [UInt8](repeating: most, count: 256)
        for end in 1..<pattern.count - 1 {
            shifts[Self.hash(pattern[end - 1], pattern[end])] = UInt8(clamping: pattern.count - 1 - end)
        }
        let last = Self.hash(pattern[pattern.count - 2], pattern[pattern.count - 1])
        shiftBehindMiss = Int(shifts[last])
        shifts[last] = 0
        self.shifts = shifts
    }

    @inline(__always)
    private func pair(before end: UnsafeRawPointer) -> Int {
        Self.hash(end.load(fromByteOffset: -2, as: UInt8.self), end.load(fromByteOffset: -1, as: UInt8.self))
    }

    @inline(__always)
    private static func hash(_ first: UInt8, _ second: UInt8) -> Int { Int(second &- first << 3) }

    /// Goes on at `position`, where nothing is matched.
    ///
    /// - Returns: true with `position` where the delimiter begins. False with `position` behind all places where it doesn't begin: from
    ///   there on a slower search must look.
    func advance(over bytes: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer, position: inout Int) -> Bool {
        guard let start = bytes.baseAddress, let delimiter = pattern.baseAddress else { return false }
        let last = bytes.count - pattern.count
        let begin = position
        var misses = 0
        while position <= last {
            guard let found = firstOffset(of: pattern[0], in: start + position, count: bytes.count - position) else {
                position = bytes.count
                return false
            }
            position += found
            if position > last { return false }
            if equalBytes(start + position, delimiter, count: pattern.count) { return true }
            position += 1
            misses += 1
            // A byte that stands in one of 64 places is no good guide.
            if misses > 16, misses * 64 > position - begin {
                return !shifts.isEmpty && moveOn(start, last: last, delimiter, count: pattern.count, position: &position)
            }
        }
        return false
    }

    private func moveOn(
        _ start: UnsafeRawPointer, last: Int, _ delimiter: UnsafeRawPointer, count: Int, position: inout Int
    ) -> Bool {
        shifts.withUnsafeBufferPointer { shifts in
            let begin = position
            var at = position
            defer { position = at }
            var compared = 0
            while at <= last {
                let shift = shifts[pair(before: start + (at &+ count))]
                if shift == most {
                    // Most pairs aren't in the delimiter. The next place doesn't depend on what was read then, so the processor needn't
                    // wait for it.
                    at &+= Int(most)
                } else if shift > 0 {
                    at &+= Int(shift)
                } else {
                    if equalBytes(start + at, delimiter, count: count) { return true }
                    at &+= shiftBehindMiss
                    compared &+= count
                    if compared > 1024, compared > 2 * (at - begin) { return false }
                }
            }
            return false
        }
    }
}
