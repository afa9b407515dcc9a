import LifelineCore
import Testing

@Suite("When to reconnect")
struct ReconnectPolicyTests {
    /// The delays of a policy, up to `count` or to its end.
    private func delays(_ policy: ReconnectPolicy, _ count: Int = 8, seed: UInt64 = 1) -> [Duration] {
        var generator = Numbers(seed)
        return (0..<count).map { policy.delay($0, using: &generator) }.prefix { $0 != nil }.compactMap(\.self)
    }

    @Test("fixed delays are used up, and then there are no more")
    func fixed() {
        #expect(delays(.delays([.zero, .seconds(2), .seconds(4)])) == [.zero, .seconds(2), .seconds(4)])
        #expect(delays(.delays([.seconds(-1)])) == [.zero])
        #expect(delays(.delays([])) == [])
        #expect(delays(.never) == [])
        #expect(delays(.every(.seconds(50)), 3) == Array(repeating: .seconds(50), count: 3))
        #expect(delays(.atOnce(), 3) == Array(repeating: .zero, count: 3))
    }

    @Test("exponential delays double up to the cap")
    func exponential() {
        let policy = ReconnectPolicy.exponential(jitter: .none)
        #expect(delays(policy) == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        let slow = ReconnectPolicy.exponential(first: .milliseconds(100), multiplier: 1.5, cap: .seconds(1), jitter: .none)
        #expect(delays(slow, 3) == [.milliseconds(100), .milliseconds(150), .milliseconds(225)])
    }

    @Test("settings that make no sense are brought into range")
    func range() {
        #expect(delays(.exponential(first: .seconds(-1), jitter: .none), 2) == [.zero, .zero])
        #expect(delays(.exponential(multiplier: 0.1, jitter: .none), 3) == Array(repeating: .seconds(1), count: 3))
        #expect(delays(.exponential(multiplier: .nan, jitter: .none), 3) == Array(repeating: .seconds(1), count: 3))
        #expect(delays(.exponential(multiplier: .infinity, jitter: .none), 3) == [.seconds(1), .seconds(30), .seconds(30)])
        #expect(delays(.exponential(first: .seconds(60), jitter: .none), 2) == [.seconds(30), .seconds(30)])
        var policy = ReconnectPolicy.atOnce()
        policy.attempts = 0
        #expect(policy.mostAttempts == 1)
    }

    @Test(
        "C75: ten thousand failures in a row: no delay traps, is above the cap or becomes nothing",
        arguments: [
            Duration.nanoseconds(1), .seconds(3600), .seconds(Int64.max),
            .nanoseconds(0) + Duration(secondsComponent: 0, attosecondsComponent: 1),
        ],
        ReconnectPolicy.Jitter.allCases)
    func bounds(first: Duration, jitter: ReconnectPolicy.Jitter) {
        let cap = Duration.seconds(7200)
        let policy = ReconnectPolicy.exponential(first: first, multiplier: 10, cap: cap, jitter: jitter)
        var generator = Numbers(75)
        for index in (0..<10_000).map({ $0 }) + [Int.max] {
            guard let delay = policy.delay(index, using: &generator) else {
                Issue.record("no delay \(index)")
                return
            }
            if delay <= .zero || delay > cap { Issue.record("delay \(index) is \(delay)") }
        }
        let longest = ReconnectPolicy.exponential(first: first, multiplier: 10, cap: .seconds(Int64.max), jitter: jitter)
        #expect(longest.delay(.max, using: &generator).map { $0 > .zero } == true)
    }

    @Test("jitter: full is anything up to the delay, equal keeps half of it; the same numbers give the same delays")
    func jitter() {
        let spread = { (jitter: ReconnectPolicy.Jitter) in
            var generator = Numbers(7)
            let policy = ReconnectPolicy.exponential(first: .seconds(8), cap: .seconds(8), jitter: jitter)
            return (0..<1000).compactMap { policy.delay($0, using: &generator) }
        }
        let (full, equal) = (spread(.full), spread(.equal))
        #expect(full.allSatisfy { $0 > .zero && $0 <= .seconds(8) } && equal.allSatisfy { $0 >= .seconds(4) && $0 <= .seconds(8) })
        #expect(full.contains { $0 < .seconds(1) } && full.contains { $0 > .seconds(7) })
        #expect(equal.contains { $0 < .seconds(4.5) } && equal.contains { $0 > .seconds(7.5) })
        #expect(full == spread(.full) && equal == spread(.equal))
    }

    @Test("a budget lets so many through at once and then one per period, in turn")
    func budget() {
        var bucket = RetryBucket(burst: 2, every: .seconds(1))
        #expect((0..<4).map { _ in bucket.reserve(at: .seconds(100)) } == [.zero, .zero, .seconds(1), .seconds(2)])
        #expect(bucket.reserve(at: .seconds(102)) == .seconds(1))
        #expect(bucket.reserve(at: .seconds(200)) == .zero)
        var extreme = RetryBucket(burst: .max, every: .seconds(Int64.max))
        #expect((0..<100).allSatisfy { _ in extreme.reserve(at: .seconds(Int64.max)) >= .zero })
    }
}

/// Numbers that a test can repeat.
struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
