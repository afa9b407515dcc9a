internal import LifelineCore

// What becomes of messages, whole, glued, cut and cut off.
extension CodecVerifier {
    func checkMessages() throws(CodecFault) {
        for places in samples() {
            let sent = places.map { messages[$0] }
            let encoded: Encoded
            do { encoded = try encode(sent, asPeer: true) } catch {
                throw CodecFault(
                    rule: .roundTrip, codec: "\(C.self)", reads: [], ends: false, expected: "bytes for messages that can be sent",
                    seen: "\(error)", origin: words(places))
            }
            try checkArrival(of: sent, encoded, origin: words(places))
            let cuts = cutPlaces(encoded)
            try check(encoded.bytes, cuts: cuts.map { [$0] } + [CutStream.byteByByte(encoded.bytes).cuts], origin: words(places))
            for length in [0] + cuts { try checkTruncation(encoded, at: length, sent, origin: words(places)) }
        }
    }

    /// The smallest first, so that what fails first is small: each alone, then pairs, then all.
    private func samples() -> [[Int]] {
        let sizes = messages.map { (try? encode([$0], asPeer: true).bytes.count) ?? 0 }
        let order = messages.indices.sorted { (sizes[$0], $0) < (sizes[$1], $1) }
        var samples = order.map { [$0] }
        for (place, index) in order.enumerated() {
            samples.append([index, index])
            if place > 0 { samples.append([index, order[place - 1]]) }
        }
        if messages.count > 1 { samples.append(Array(messages.indices)) }
        return samples
    }

    /// Every place of a short stream; of a long one those near a frame's border and some others.
    private func cutPlaces(_ encoded: Encoded) -> [Int] {
        let count = encoded.bytes.count
        guard count > 1 else { return [] }
        if count <= 600 { return Array(1..<count) }
        var generator = SeededGenerator(seed: seed)
        var places = Set((0..<100).map { _ in Int.random(in: 1..<count, using: &generator) })
        for border in [0] + encoded.ends { places.formUnion(max(1, border - 24)..<min(count, border + 24)) }
        return places.sorted()
    }

    /// All messages arrive, each with its last byte, and nothing else happens.
    private func checkArrival(of sent: [C.Outgoing], _ encoded: Encoded, origin: String) throws(CodecFault) {
        let stream = CutStream(bytes: encoded.bytes)
        let decoding = decode(stream)
        if let breach = decoding.breach { try fail(breach, in: stream, origin: origin) }
        if decoding.error != nil || !agree(sent, decoding.frames) || !decoding.findings.isEmpty {
            let breach = Breach(rule: .roundTrip, expected: "\(list(sent)), then a clean end", seen: words(decoding))
            throw fault(breach, in: stream, origin: origin)
        }
        if rest == .isStream { return }
        let single = CutStream.byteByByte(encoded.bytes)
        for (frame, (arrival, end)) in zip(decode(single).arrivals, encoded.ends).enumerated() where arrival > end {
            let breach = Breach(
                rule: .roundTrip, expected: "frame \(frame + 1) when its last byte has arrived, the \(end)th",
                seen: arrival > single.bytes.count ? "it came only with the end of the stream" : "it came with the \(arrival)th")
            throw fault(breach, in: single, origin: origin)
        }
        if let pending = decoding.pending {
            let breach = Breach(rule: .pending, expected: "nothing pending behind a whole frame", seen: "\(pending)")
            throw fault(breach, in: stream, origin: origin)
        }
    }

    /// The stream ends after `length` bytes.
    private func checkTruncation(_ encoded: Encoded, at length: Int, _ sent: [C.Outgoing], origin: String) throws(CodecFault) {
        if rest == .isStream { return }
        let stream = CutStream(bytes: Array(encoded.bytes[..<length]))
        let decoding = decode(stream)
        let origin = "\(origin), cut off after \(length) \(length == 1 ? "byte" : "bytes")"
        let whole = encoded.ends.prefix { $0 <= length }.count
        let start = whole == 0 ? 0 : encoded.ends[whole - 1]
        let isInside = length > start
        if let breach = decoding.breach { try fail(breach, in: stream, origin: origin) }
        let before = list(Array(sent[..<whole]))
        func refuse(_ rule: CodecFault.Rule, _ expected: String, _ seen: String? = nil) throws(CodecFault) {
            throw fault(Breach(rule: rule, expected: expected, seen: seen ?? words(decoding)), in: stream, origin: origin)
        }
        guard agree(Array(sent[..<whole]), Array(decoding.frames.prefix(whole))) else { return try refuse(.truncation, before) }
        if !isInside {
            let isClean = decoding.frames.count == whole && decoding.error == nil
            return isClean ? () : try refuse(.truncation, "\(before), then a clean end")
        }
        guard let pending = decoding.pending else {
            // A decoder that gave up early has no end to report.
            if decoding.error != nil, decoding.errorArrival <= length {
                try refuse(.truncation, "\(before), then waiting for the rest of the next one")
            }
            return try refuse(
                rest == .isTruncated && decoding.error == nil ? .truncation : .pending,
                "\(before), then an unfinished frame with \(length - start) bytes")
        }
        if pending.received > length - start {
            try refuse(.pending, "at most \(length - start) bytes of an unfinished frame", "\(pending)")
        }
        if rest == .isFrame {
            if decoding.frames.count > whole + 1 { try refuse(.truncation, "\(before), then at most one frame that is the rest") }
        } else if decoding.frames.count > whole || decoding.error?.code != .truncated {
            try refuse(.truncation, "\(before), then the error “\(SocketError.Code.truncated)”")
        }
    }

    /// Whether the frames make the messages that were sent.
    func agree(_ sent: [C.Outgoing], _ frames: [Frame]) -> Bool {
        let received = frames.compactMap { try? codec.message(from: $0) }
        guard received.count == frames.count else { return false }
        if rest == .isStream, let sent = joined(sent), let received = joined(received) { return sent == received }
        return sent.count == received.count && zip(sent, received).allSatisfy(agrees)
    }

    private func words(_ places: [Int]) -> String {
        "messages \(places.map(String.init).joined(separator: ", ")): \(places.prefix(4).map { brief(messages[$0]) }.joined(separator: ", "))"
    }
}
