internal import LifelineCore

// Going through an unfinished frame again with each read makes its cost the square of its size. No clock is needed to see that: a
// decoder that doesn't look at the middle of such a frame again can't notice that other bytes stand there.
extension CodecVerifier {
    /// What a decoder may look at again: this much behind a header, and this much before what arrives next.
    private var near: Int { 64 }

    func checkRescan() throws(CodecFault) {
        guard rest != .isStream, wire == nil, let limit else { return }
        let subject = limit.larger ?? codec
        // As much as the codec can send, up to some thousand bytes.
        let sizes = limit.larger == nil ? [limit.size] : [64, 16, 4].map { min($0 * limit.size, 16 * 1024) }
        let made = sizes.lazy.compactMap { size in (try? bytes(of: limit.message(size), by: subject)).map { (size, $0) } }.first
        guard let (size, bytes) = made else { return }
        let origin = "an unfinished message of \(size)"
        let overhead = max(0, bytes.count - size)
        let fed = bytes.count - overhead - 1
        let middle = overhead + near..<max(overhead + near, fed - near)
        guard middle.count >= near else { return }
        for other in others(than: bytes, overhead: overhead) {
            guard let (expected, seen) = swapping(middle, for: other, subject, bytes, fed), seen != expected else { continue }
            let breach = Breach(
                rule: .rescan,
                expected: "\(expected) with byte \(fed), whatever stands in bytes \(middle.lowerBound)..<\(middle.upperBound) by now",
                seen: "\(seen), once \(Bytes(other)) stands there again and again")
            throw fault(breach, in: CutStream(bytes: Array(bytes[...fed]), cuts: [fed], ends: false), origin: origin)
        }
    }

    /// What a search may stop at: ends and beginnings of frames, whole frames, plain bytes.
    private func others(than bytes: [UInt8], overhead: Int) -> [[UInt8]] {
        var others: [[UInt8]] = [[0], [0xFF], [0x0A]]
        for length in 1...max(1, min(overhead, near)) {
            others.append(Array(bytes.suffix(length)))
            others.append(Array(bytes.prefix(length)))
        }
        for message in messages.prefix(4) {
            if let frame = try? encode([message]).bytes, !frame.isEmpty, frame.count <= near { others.append(frame) }
        }
        return others
    }

    /// What one more byte makes of an unfinished frame, as it is and with other bytes in its middle; nil if it isn't unfinished.
    private func swapping(
        _ middle: Range<Int>, for other: [UInt8], _ subject: C, _ bytes: [UInt8], _ fed: Int
    ) -> (expected: String, seen: String)? {
        var results: [String] = []
        for isSwapped in [false, true] {
            var decoder = subject.makeDecoder()
            var input = ByteInput()
            for read in inSmallReads(Array(bytes[..<fed])).reads {
                read.withUnsafeBytes { input.append($0) }
                do { if try decoder.decode(from: &input) != nil { return nil } } catch { return nil }
            }
            if isSwapped {
                // Bytes that the decoder has taken already are its own business.
                let taken = fed - input.count
                var left = input.withUnsafeBytes { Array($0) }
                for place in middle where place >= taken { left[place - taken] = other[(place - middle.lowerBound) % other.count] }
                input = ByteInput(Bytes(left))
            }
            bytes[fed...fed].withUnsafeBytes { input.append($0) }
            do {
                results.append(try decoder.decode(from: &input) == nil ? "no frame" : "a frame")
            } catch {
                results.append("an error (\(SocketError(decoding: error).code))")
            }
        }
        return (results[0], results[1])
    }
}
