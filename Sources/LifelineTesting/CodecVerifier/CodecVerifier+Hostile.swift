internal import LifelineCore

// Bytes that nobody meant.
extension CodecVerifier {
    func checkHostileStreams() throws(CodecFault) {
        var streams = HostileStreams(good: goodStreams(), beyond: limit.map { $0.size + $0.headroom } ?? 256, seed: seed)
        for round in 0..<rounds {
            for kind in HostileStreams.Kind.allCases {
                let bytes = streams.next(kind)
                let origin = "seed \(seed), round \(round), \(kind.rawValue)"
                try check(bytes, cuts: [streams.cuts(of: bytes.count), CutStream.byteByByte(bytes).cuts], origin: origin)
            }
        }
    }

    /// Each message and all of them, as far as they are short.
    private func goodStreams() -> [[UInt8]] {
        var good: [[UInt8]] = []
        for message in messages {
            if let bytes = try? encode([message], asPeer: true).bytes { good.append(Array(bytes.prefix(2048))) }
        }
        if let all = try? encode(messages, asPeer: true).bytes, all.count <= 2048 { good.append(all) }
        if let limit, limit.size <= 1024, let bytes = try? encode([limit.message(limit.size)], asPeer: true).bytes { good.append(bytes) }
        return good.filter { !$0.isEmpty }
    }
}

/// Makes hostile streams from a seed.
struct HostileStreams {
    enum Kind: String, CaseIterable {
        case random = "random bytes"
        case alphabet = "bytes of the frames themselves"
        case mutated = "a good stream with faults"
        case header = "a changed beginning and no end"
    }

    let good: [[UInt8]]
    /// More bytes than an unfinished frame may hold.
    let beyond: Int
    private let alphabet: [UInt8]
    private var generator: SeededGenerator

    init(good: [[UInt8]], beyond: Int, seed: UInt64) {
        self.good = good
        self.beyond = beyond
        // Of payloads that count up every byte would be as likely as any other: the first and last ones of frames come oftener.
        let edges = good.flatMap { $0.prefix(20) + $0.suffix(8) }
        alphabet = edges.isEmpty ? [0, 0xFF] : edges
        generator = SeededGenerator(seed: seed)
    }

    mutating func next(_ kind: Kind) -> [UInt8] {
        switch kind {
        case .random: return (0..<number(upTo: 120)).map { _ in anyByte() }
        case .alphabet: return (0..<number(upTo: 200)).map { _ in number(upTo: 15) == 0 ? anyByte() : oneOf(alphabet) ?? 0 }
        case .mutated: return mutated()
        case .header: return header()
        }
    }

    /// Up to a dozen cuts, several often close together.
    mutating func cuts(of count: Int) -> [Int] {
        guard count > 1 else { return [] }
        var cuts: Set<Int> = []
        for _ in 0...number(upTo: 5) {
            let cut = 1 + number(upTo: count - 2)
            cuts.insert(cut)
            if number(upTo: 1) == 0 { cuts.insert(min(cut + 1, count - 1)) }
        }
        return cuts.sorted()
    }

    /// Good streams one behind the other, changed in a few places.
    private mutating func mutated() -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0...number(upTo: 3) where bytes.count < 2048 { bytes += oneOf(good) ?? [] }
        for _ in 0...number(upTo: 4) where !bytes.isEmpty {
            let place = number(upTo: bytes.count - 1)
            let end = place + number(upTo: min(12, bytes.count - place))
            switch number(upTo: 6) {
            case 0: bytes[place] ^= 1 << UInt8(number(upTo: 7))
            case 1: bytes[place] = anyByte()
            case 2: bytes.insert(number(upTo: 1) == 0 ? anyByte() : oneOf(alphabet) ?? 0, at: place)
            case 3: bytes.removeSubrange(place..<end)
            case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 5: bytes.insert(contentsOf: oneOf(good) ?? [], at: place)
            default: bytes.removeSubrange((place + 1)...)
            }
        }
        return bytes
    }

    /// A frame's beginning in which some bytes have become large or small ones, and then much of the same.
    private mutating func header() -> [UInt8] {
        var bytes = Array((oneOf(good) ?? []).prefix(1 + number(upTo: 30)))
        let start = number(upTo: max(0, bytes.count - 1))
        let extreme = oneOf([0xFF, 0xFF, 0x7F, 0x80, 0x00, 0x39] as [UInt8]) ?? 0
        for place in start..<min(bytes.count, start + 1 + number(upTo: 8)) { bytes[place] = extreme }
        return bytes + Array(repeating: oneOf(alphabet) ?? 0, count: beyond + 1 + number(upTo: 100))
    }

    private mutating func anyByte() -> UInt8 { UInt8.random(in: 0...255, using: &generator) }

    private mutating func number(upTo most: Int) -> Int { Int.random(in: 0...max(0, most), using: &generator) }

    private mutating func oneOf<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &generator) }
}
