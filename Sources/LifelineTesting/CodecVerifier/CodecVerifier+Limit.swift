internal import LifelineCore

// Messages at the limit, one beyond it and far beyond it.
extension CodecVerifier {
    func checkLimit() throws(CodecFault) {
        guard let limit else { return }
        for size in [limit.size - 1, limit.size] where size >= 0 {
            try checkWithin(limit, size)
        }
        try checkRefusal(limit.message(limit.size + 1), "a message of \(limit.size + 1) where \(limit.size) are allowed")
        guard limit.larger != nil || wire != nil else { return }
        let isAnnounced = announces(limit)
        for size in [limit.size + 1, 2 * limit.size + 2, 4 * limit.size] where size > limit.size {
            if limit.overlong == .fails {
                try checkRefused(limit, size, isAnnounced: isAnnounced)
            } else {
                try checkDropped(limit, size)
            }
        }
    }

    /// A message within the limit arrives.
    private func checkWithin(_ limit: Limit, _ size: Int) throws(CodecFault) {
        let message = limit.message(size)
        let origin = "a message of \(size), within the limit of \(limit.size)"
        let bytes: [UInt8]
        do { bytes = try encode([message], asPeer: true).bytes } catch {
            throw CodecFault(
                rule: .limit, codec: "\(C.self)", reads: [], ends: false, expected: "bytes for \(origin)", seen: "\(error)",
                origin: "encoding")
        }
        for stream in [CutStream(bytes: bytes), inSmallReads(bytes)] {
            let decoding = decode(stream)
            if let breach = decoding.breach { try fail(breach, in: stream, origin: origin) }
            if decoding.error != nil || !agree([message], decoding.frames) {
                throw fault(Breach(rule: .limit, expected: list([message]), seen: words(decoding)), in: stream, origin: origin)
            }
        }
    }

    /// A message above the limit ends the stream with an error, before more than the limit of it has arrived.
    private func checkRefused(_ limit: Limit, _ size: Int, isAnnounced: Bool) throws(CodecFault) {
        let origin = "a message of \(size), above the limit of \(limit.size)"
        let bytes = try bytes(beyond: limit, size, origin)
        let overhead = max(1, bytes.count - size)
        // What isn't announced shows by its length only, and up to the end of a terminator that may be there.
        let latest = isAnnounced ? overhead : min(bytes.count, limit.size + 1 + overhead)
        for stream in [CutStream(bytes: bytes, ends: false), inSmallReads(bytes)] {
            let decoding = decode(stream)
            let read = stream.reads.map(\.count).max() ?? 0
            if decoding.error == nil || !decoding.frames.isEmpty {
                let shown = smallestUnrefused(stream, latest: latest)
                let seen = decode(shown)
                throw fault(
                    Breach(
                        rule: .limit, expected: "an error after \(latest) bytes, without waiting for more", seen: words(seen)), in: shown,
                    origin: origin)
            }
            if stream.cuts.isEmpty == false, decoding.errorArrival > latest + read - 1 {
                throw fault(
                    Breach(
                        rule: .limit, expected: "an error after \(latest) bytes, without waiting for more",
                        seen: "it came after \(decoding.errorArrival) bytes"),
                    in: CutStream(bytes: Array(bytes[..<min(latest, bytes.count)]), ends: false), origin: origin)
            }
            if let breach = decoding.breach { try fail(breach, in: stream, origin: origin) }
        }
    }

    /// What has to be refused already, if the decoder accepts that; else all of it.
    private func smallestUnrefused(_ stream: CutStream, latest: Int) -> CutStream {
        let short = CutStream(bytes: Array(stream.bytes[..<min(latest, stream.bytes.count)]), ends: false)
        return decode(short).error == nil ? short : stream
    }

    /// A message above the limit is dropped and reported, and the next one arrives.
    private func checkDropped(_ limit: Limit, _ size: Int) throws(CodecFault) {
        let origin = "a message of \(size), above the limit of \(limit.size), and another"
        guard let next = messages.first, let after = try? encode([next], asPeer: true).bytes else { return }
        let bytes = try bytes(beyond: limit, size, origin) + after
        for stream in [CutStream(bytes: bytes), inSmallReads(bytes)] {
            let decoding = decode(stream)
            if let breach = decoding.breach { try fail(breach, in: stream, origin: origin) }
            if decoding.error != nil || !agree([next], decoding.frames) || decoding.findings.count != 1 {
                throw fault(
                    Breach(rule: .limit, expected: "one finding and \(list([next]))", seen: words(decoding)), in: stream, origin: origin)
            }
        }
    }

    /// Whether the decoder knows a frame's size before its body is there.
    private func announces(_ limit: Limit) -> Bool {
        if let isAnnounced = limit.isAnnounced { return isAnnounced }
        guard limit.size > 1, let bytes = try? encode([limit.message(limit.size)], asPeer: true).bytes else { return false }
        let header = CutStream(bytes: Array(bytes.prefix(max(1, bytes.count - limit.size))), ends: false)
        return decode(header).pending?.expected.map { $0 >= limit.size } ?? false
    }

    /// What a peer that knows no limit would send.
    func bytes(beyond limit: Limit, _ size: Int, _ origin: String) throws(CodecFault) -> [UInt8] {
        do {
            guard wire == nil, let larger = limit.larger else { return try encode([limit.message(size)], asPeer: true).bytes }
            return try self.bytes(of: limit.message(size), by: larger)
        } catch {
            throw CodecFault(
                rule: .limit, codec: "\(C.self)", reads: [], ends: false, expected: "bytes from the codec with the larger limit",
                seen: "\(error)", origin: origin)
        }
    }

    func bytes(of message: C.Outgoing, by codec: C) throws -> [UInt8] {
        var encoder = codec.makeEncoder()
        var output = ByteOutput()
        try encoder.encode(codec.frame(for: message), into: &output)
        return Array(output.finish())
    }

    /// Byte by byte, or in some thousand reads if that is too many.
    func inSmallReads(_ bytes: [UInt8]) -> CutStream {
        let size = 1 + bytes.count / 4096
        return CutStream(bytes: bytes, cuts: Array(stride(from: size, to: bytes.count, by: size)), ends: true)
    }
}
