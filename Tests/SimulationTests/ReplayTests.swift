import Foundation
import Testing

/// The same seed is the same simulation, in every process.
///
/// `LIFELINE_TRACES` names a file for the hashes of the traces: runs in different processes write the same file.
@Suite struct ReplayTests {
    @Test func `the same seed gives the same trace`() async throws {
        var lines: [String] = []
        for seed in 1...20 as ClosedRange<UInt64> {
            // A few of them over TLS.
            let overTLS = seed > 14
            let hash = try await play(seed, overTLS: overTLS).hash
            #expect(try await play(seed, overTLS: overTLS).hash == hash, "seed \(seed)")
            lines.append("\(seed) \(String(hash, radix: 16))\n")
        }
        #expect(Set(lines).count == 20)
        if let path = ProcessInfo.processInfo.environment["LIFELINE_TRACES"] {
            try lines.joined().write(toFile: path, atomically: true, encoding: .utf8)
        }
    }
}
