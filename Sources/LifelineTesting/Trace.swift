internal import LifelineRuntime

/// What happened in a simulation, in order: every turn of every loop, every packet of the simulated network, and what the test recorded.
///
/// Two runs are the same exactly if their hashes are, whatever process they ran in. Only the last ``capacity`` lines are kept; the hash
/// is over all.
///
/// The proof behind `@unchecked`: all state is guarded by `lock`.
public final class Trace: @unchecked Sendable {
    /// How many lines are kept.
    public static let capacity = 10_000

    private enum Entry {
        case turn(LoopTime, loop: Int, jobs: Int)
        case text(LoopTime, loop: Int?, String)
        case network(LoopTime, NetworkEvent)

        var line: String {
            switch self {
            case .turn(let time, let loop, let jobs): "\(time.sinceStart) \(loop) turn, \(jobs) jobs"
            case .text(let time, let loop, let text): "\(time.sinceStart) \(loop.map(String.init) ?? "-") \(text)"
            case .network(let time, let event): "\(time.sinceStart) - \(event)"
            }
        }
    }

    private let lock = Lock()
    private var entries: [Entry] = []
    /// Where the oldest entry stands once the room is used up.
    private var oldest = 0
    private var total = 0
    private var fnv = FNV1a()

    init() {}

    /// The last lines, oldest first: `time loop text`, with `-` for a thread that is none of the loops'.
    public var lines: [String] {
        let ordered = lock.withLock { Array(entries[oldest...] + entries[..<oldest]) }
        return ordered.map(\.line)
    }

    /// How many lines there have been.
    public var count: Int { lock.withLock { total } }

    /// FNV-1a, 64 bits, over all lines so far.
    public var hash: UInt64 { lock.withLock { fnv.value } }

    func addTurn(_ time: LoopTime, loop: Int, jobs: Int) {
        lock.withLock {
            fnv.add(1)
            fnv.add(UInt64(bitPattern: time.nanoseconds))
            fnv.add(UInt64(loop))
            fnv.add(UInt64(jobs))
            keep(.turn(time, loop: loop, jobs: jobs))
        }
    }

    func addText(_ time: LoopTime, loop: Int?, _ text: String) {
        lock.withLock {
            fnv.add(2)
            fnv.add(UInt64(bitPattern: time.nanoseconds))
            fnv.add(UInt64(bitPattern: Int64(loop ?? -1)))
            for byte in text.utf8 { fnv.add(byte: byte) }
            fnv.add(UInt64(text.utf8.count))
            keep(.text(time, loop: loop, text))
        }
    }

    func addNetwork(_ time: LoopTime, _ event: NetworkEvent) {
        lock.withLock {
            fnv.add(3)
            fnv.add(UInt64(bitPattern: time.nanoseconds))
            for byte in event.what.rawValue.utf8 { fnv.add(byte: byte) }
            for byte in event.kind.rawValue.utf8 { fnv.add(byte: byte) }
            for number in [event.connection, event.offset, event.count] { fnv.add(UInt64(bitPattern: Int64(number))) }
            fnv.add(byte: (event.isFromDialer ? 1 : 0) + (event.isEnd ? 2 : 0))
            keep(.network(time, event))
        }
    }

    private func keep(_ entry: Entry) {
        total += 1
        if entries.count < Self.capacity {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % Self.capacity
        }
    }
}

/// What became of a packet; put into words when somebody reads it.
struct NetworkEvent: CustomStringConvertible {
    enum What: String { case arrived, lost, held, broken }

    let what: What
    let kind: SimulatedPacket.Kind
    let connection: Int
    let isFromDialer: Bool
    let offset: Int
    let count: Int
    let isEnd: Bool

    var description: String {
        let bytes = kind == .data ? " \(offset)..<\(offset + count)\(isEnd ? " and the end" : "")" : ""
        return "#\(connection) \(isFromDialer ? "→" : "←") \(kind)\(bytes) \(what)"
    }
}

private struct FNV1a {
    var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    mutating func add(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
}

extension LoopTime {
    /// Virtual clocks start at zero.
    var sinceStart: Duration { .nanoseconds(nanoseconds) }
}
