import LifelineCore

/// A generator that gives the same numbers for the same seed on each machine.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The bytes as Node.js reads them.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func hex(_ text: String) -> String { hex(text.utf8) }

extension Bytes {
    /// The bytes that pairs of hexadecimal digits stand for.
    init(hex digits: String) {
        let digits = digits.compactMap { UInt8($0.hexDigitValue ?? 0) }
        self.init(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
