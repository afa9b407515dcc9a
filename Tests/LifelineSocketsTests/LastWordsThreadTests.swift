import LifelineCore
import Testing

@testable import LifelineRuntime

/// What of a close with a last message needs threads: everything else is tested in virtual time.
@Suite("A close with a last message, on real threads")
struct LastWordsThreadTests {
    @Test("senders on other threads are before it or get an error, and nothing is behind it", arguments: Way.allCases)
    func race(way: Way) async throws {
        let message = String(repeating: "message ", count: 125)
        for round in 0..<50 {
            let link = try await link(.lines, way)
            let isTime = OneShot<Void>()
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for sender in 0..<4 {
                    group.addTask {
                        var accepted = 0
                        while true {
                            do {
                                try await link.connection.send(message)
                            } catch {
                                #expect((error as? SocketError)?.code == .closed)
                                return accepted
                            }
                            accepted += 1
                            if sender == 0, accepted == round { isTime.succeed(()) }
                        }
                    }
                }
                group.addTask {
                    if round > 0 { try await isTime.value() }
                    let isComplete = try await link.connection.close(saying: "bye", within: outerLimit)
                    #expect(isComplete)
                    return nil
                }
                var lines: [String] = []
                while let line = try await link.peer.read(with: .lines, within: outerLimit) { lines.append(line) }
                await link.peer.close(within: outerLimit)
                #expect(lines.last == "bye")
                var accepted = 0
                while let count = try await group.next() { accepted += count ?? 0 }
                #expect(lines.count == accepted + 1)
            }
        }
    }
}
