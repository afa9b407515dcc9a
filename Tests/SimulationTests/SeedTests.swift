import Foundation
import LifelineTesting
import Testing

/// The real server, supervisors and connections on a network that breaks in every way that it can, for thousands of seeds.
///
/// `LIFELINE_SEEDS=100000` tries more of them, `LIFELINE_SEED=4711` exactly one, whose last steps are printed. Some are played over TLS:
/// `LIFELINE_TLS=1` does that with all, `LIFELINE_TLS=0` with none.
@Suite struct SeedTests {
    /// Seeds that are played one after the other.
    struct Lot: Sendable, CustomTestStringConvertible {
        let seeds: [UInt64]
        var testDescription: String { seeds.count == 1 ? "seed \(seeds[0])" : "\(seeds.count) seeds from \(seeds.first ?? 0) on" }
    }

    static func number(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } }

    static let overTLS = number("LIFELINE_TLS").map { $0 > 0 }

    static let lots: [Lot] = {
        if let seed = number("LIFELINE_SEED") { return [Lot(seeds: [seed])] }
        let (first, count) = (number("LIFELINE_FIRST_SEED") ?? 1, number("LIFELINE_SEEDS") ?? 1_000)
        // Each lot computes on a thread of its own: few of them, so that tests beside it that wait for the real world aren't starved.
        let lots: UInt64 = number("LIFELINE_SEEDS") == nil ? 2 : 8
        let size = max(1, (count + lots - 1) / lots)
        return stride(from: 0, to: count, by: Int(size)).map { start in Lot(seeds: (start..<min(start + size, count)).map { first + $0 }) }
    }()

    @Test(arguments: lots)
    func `whatever befalls the network, nothing is lost, doubled, late or left`(lot: Lot) async throws {
        var tally: [String: Int] = [:]
        let variant = Self.overTLS.map { "LIFELINE_TLS=\($0 ? 1 : 0) " } ?? ""
        for seed in lot.seeds {
            let again = "again: \(variant)LIFELINE_SEED=\(seed) swift test --filter SimulationTests.SeedTests"
            do {
                let outcome = try await play(seed, overTLS: Self.overTLS, keepingLines: lot.seeds.count == 1)
                if lot.seeds.count == 1 { print(outcome.lines.joined(separator: "\n")) }
                if !outcome.faults.isEmpty { Issue.record("seed \(seed):\n\(outcome.faults.joined(separator: "\n"))\n\(again)") }
                tally.merge(outcome.tally) { $0 + $1 }
            } catch {
                Issue.record("seed \(seed): \(error)\n\(again)")
            }
        }
        if lot.seeds.count >= 50 {
            var whats = [
                "registrations", "connected", "chats", "withdrawn", "refused", "answered", "timed out", "closed", "offline", "cancelled",
            ]
            if tally["over TLS", default: 0] >= 25 {
                whats += ["judged servers", "refused servers", "judged clients", "refused clients", "broken handshakes"]
            }
            for what in whats {
                #expect(tally[what, default: 0] > 0, "no \(what): the scenarios show nothing of it")
            }
        }
        if Self.number("LIFELINE_TALLY") != nil { print(tally.sorted { $0.key < $1.key }) }
    }
}
