/// A stream, and how it arrives.
struct CutStream {
    var bytes: [UInt8]
    /// Where reads begin behind the first one: ascending, within the stream.
    var cuts: [Int] = []
    /// Whether the peer's end follows.
    var ends = true

    /// One byte with each read.
    static func byteByByte(_ bytes: [UInt8], ends: Bool = true) -> CutStream {
        CutStream(bytes: bytes, cuts: Array(1..<max(1, bytes.count)), ends: ends)
    }

    /// The same bytes in one read.
    var whole: CutStream { CutStream(bytes: bytes, ends: ends) }

    var reads: [[UInt8]] {
        var reads: [[UInt8]] = []
        var start = 0
        for cut in cuts + [bytes.count] where cut > start {
            reads.append(Array(bytes[start..<cut]))
            start = cut
        }
        return reads
    }

    /// Without the bytes of `range`.
    func removing(_ range: Range<Int>) -> CutStream {
        var shorter = self
        shorter.bytes.removeSubrange(range)
        shorter.cuts = cuts.map { $0 < range.upperBound ? min($0, range.lowerBound) : $0 - range.count }
        shorter.tidy()
        return shorter
    }

    /// Leaves out cuts that cut nothing.
    private mutating func tidy() {
        var last = 0
        let count = bytes.count
        cuts = cuts.filter { cut in
            defer { last = max(last, cut) }
            return cut > last && cut < count
        }
    }
}

/// Makes a failing stream smaller as long as it fails.
enum Shrinker {
    /// So many attempts at most: the result may then not be the smallest.
    static let attempts = 5000

    /// The smallest stream found for which `fails` holds; it holds for `stream`.
    static func smallest(_ stream: CutStream, fails: (CutStream) -> Bool) -> CutStream {
        var best = stream
        var left = attempts
        func isAccepted(_ candidate: CutStream) -> Bool {
            guard left > 0 else { return false }
            left -= 1
            guard fails(candidate) else { return false }
            best = candidate
            return true
        }
        var isSmaller = true
        while isSmaller, left > 0 {
            isSmaller = false
            // Bytes: halves, quarters, … single ones, from the back, where what follows the fault stands.
            var size = max(1, best.bytes.count / 2)
            while true {
                var end = best.bytes.count
                while end > 0 {
                    let start = max(0, end - size)
                    if isAccepted(best.removing(start..<end)) { isSmaller = true }
                    end = min(start, best.bytes.count)
                }
                if size == 1 { break }
                size /= 2
            }
            for place in best.cuts.indices.reversed() where place < best.cuts.count {
                var fewer = best
                fewer.cuts.remove(at: place)
                if isAccepted(fewer) { isSmaller = true }
            }
            // Plain bytes last: zeros tell more than noise.
            for place in best.bytes.indices where best.bytes[place] != 0 {
                for plain in [0, 0x61] as [UInt8] where plain < best.bytes[place] {
                    var plainer = best
                    plainer.bytes[place] = plain
                    if isAccepted(plainer) {
                        isSmaller = true
                        break
                    }
                }
            }
        }
        return best
    }
}
