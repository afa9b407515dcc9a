internal import LifelineCore

// What must hold for any stream, and how two decodings of one are compared.
extension CodecVerifier {
    typealias Frame = C.Decoder.Frame

    /// What an unfinished frame may hold; nil if that isn't known.
    var hold: HoldLimit? {
        guard rest != .isStream, let limit else { return nil }
        return HoldLimit(left: limit.size + limit.headroom)
    }

    func decode(_ stream: CutStream) -> Decoding<Frame> {
        DecoderFeed.run(codec.makeDecoder(), stream, hold: hold)
    }

    /// Checks the rules that don't ask what the bytes mean, for one stream and several ways of cutting it.
    func check(_ bytes: [UInt8], cuts ways: [[Int]], origin: @autoclosure () -> String) throws(CodecFault) {
        let stream = CutStream(bytes: bytes)
        let whole = decode(stream)
        if let breach = breach(ofWhole: whole) { try fail(breach, in: stream, origin: origin()) }
        for cuts in ways where !cuts.isEmpty {
            let cut = CutStream(bytes: bytes, cuts: cuts)
            if let breach = breach(of: cut, whole: whole) { try fail(breach, in: cut, origin: origin()) }
        }
    }

    /// Throws the smallest stream found that breaks the same rule.
    func fail(_ found: Breach, in stream: CutStream, origin: String) throws(CodecFault) {
        func breach(of stream: CutStream) -> Breach? {
            let whole = decode(stream.whole)
            return self.breach(ofWhole: whole) ?? (stream.cuts.isEmpty ? nil : self.breach(of: stream, whole: whole))
        }
        let smallest = Shrinker.smallest(stream) { breach(of: $0)?.rule == found.rule }
        throw fault(breach(of: smallest) ?? found, in: smallest, origin: origin)
    }

    private func breach(ofWhole whole: Decoding<Frame>) -> Breach? {
        // What a codec with a state sends depends on more than the message.
        whole.breach ?? (isRepeatable && wire == nil && C.Encoder.isStateless ? sendingAgain(whole.frames) : nil)
    }

    private func breach(of stream: CutStream, whole: Decoding<Frame>) -> Breach? {
        let cut = decode(stream)
        return cut.breach ?? difference(whole, cut)
    }

    /// What the same bytes made when they came whole and when they came cut.
    func difference(_ whole: Decoding<Frame>, _ cut: Decoding<Frame>) -> Breach? {
        let isSame =
            areEqual(whole.frames, cut.frames) && whole.error?.code == cut.error?.code && whole.findings == cut.findings
            && whole.pending == cut.pending
        if isSame { return nil }
        return Breach(rule: .cutting, expected: "\(words(whole)), as in one read", seen: words(cut))
    }

    /// What was received can be sent and received again, or is refused.
    private func sendingAgain(_ frames: [Frame]) -> Breach? {
        for frame in frames {
            guard let outgoing = (try? codec.message(from: frame)) as? C.Outgoing,
                let bytes = try? encode([outgoing]).bytes
            else { continue }
            let again = decode(CutStream(bytes: bytes))
            if let breach = again.breach { return breach }
            if again.error?.code == .frameTooLarge { continue }
            if again.error != nil || !agree([outgoing], again.frames) {
                return Breach(
                    rule: .roundTrip, expected: "a received frame, sent and received again: \(brief(frame))",
                    seen: "\(words(again)), of \(Bytes(bytes))")
            }
        }
        return nil
    }

    // MARK: Comparing

    func areEqual(_ left: [Frame], _ right: [Frame]) -> Bool {
        if rest == .isStream, let left = joined(left), let right = joined(right) { return left == right }
        return left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
    }

    /// By `==` if frames or messages have one, or by what the user gave, if that fits; else frames count only by their number.
    private func areEqual(_ left: Frame, _ right: Frame) -> Bool {
        if let areEqual = areDynamicallyEqual(left, right) { return areEqual }
        guard let left = try? codec.message(from: left), let right = try? codec.message(from: right) else { return true }
        if let areEqual = areDynamicallyEqual(left, right) { return areEqual }
        return (left as? C.Outgoing).map { agrees($0, right) } ?? true
    }

    /// What frames or messages of bytes make together.
    func joined(_ parts: [some Any]) -> [UInt8]? {
        var all: [UInt8] = []
        for part in parts {
            guard let bytes = part as? Bytes else { return nil }
            all += bytes
        }
        return all
    }

    // MARK: Words

    func fault(_ breach: Breach, in stream: CutStream, origin: String) -> CodecFault {
        CodecFault(
            rule: breach.rule, codec: "\(C.self)", reads: stream.reads, ends: stream.ends, expected: breach.expected, seen: breach.seen,
            origin: origin)
    }

    func words(_ decoding: Decoding<Frame>) -> String {
        var words = list(decoding.frames)
        if !decoding.findings.isEmpty { words += ", findings \(decoding.findings)" }
        if let error = decoding.error {
            words += ", then \(error)"
        } else if let pending = decoding.pending {
            words += ", then \(pending)"
        } else {
            words += ", nothing pending"
        }
        return words
    }

    func list(_ frames: [some Any]) -> String {
        if frames.isEmpty { return "no frame" }
        let shown = frames.prefix(4).map { brief($0) }.joined(separator: ", ")
        return "\(frames.count) \(frames.count == 1 ? "frame" : "frames") (\(shown)\(frames.count > 4 ? ", …" : ""))"
    }

    func brief(_ value: some Any) -> String {
        let text = String(reflecting: value)
        return text.count > 100 ? "\(text.prefix(100))…" : text
    }
}

/// Whether two values of one type are equal; nil if the type doesn't say.
private func areDynamicallyEqual(_ left: Any, _ right: Any) -> Bool? {
    func compare<Value: Equatable>(_ left: Value) -> Bool { right as? Value == left }
    guard let left = left as? any Equatable else { return nil }
    return compare(left)
}
