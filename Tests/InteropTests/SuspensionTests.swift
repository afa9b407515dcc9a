import Glibc
import Lifeline
import LifelineCore
import LifelineRuntime
import Testing

/// A process with a link is suspended for longer than the heartbeat's limit, as a laptop that sleeps is, and goes on.
@Suite(.enabled(if: PeerKind.outages.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct SuspensionTests {
    @Test("C67: a suspended process doesn't take its peer for dead, for the pong is there")
    func pongIsThere() async {
        // The test that is suspended has a process of its own, which ends by itself if it hangs.
        await #expect(processExitsWith: .success) {
            alarm(120)
            try await withOutagePeer { peer in
                let link = watchfulLink(to: peer.endpoint, answerWithin: .seconds(2))
                try await running(link) { statuses in
                    try await statuses.untilConnected()
                    try await link.send("suspend \(getpid()) 3000 answer")
                    while try await peer.process.line() != "WENT ON" {}
                    // Later pings are answered, and no status has changed.
                    let received = try #require(await link.info).bytesReceived
                    try await eventually { await link.info.map { $0.bytesReceived >= received + 15 } ?? true }
                    try await link.expectEcho("after")
                    #expect(try await peer.process.heard(1) == ["1 after"])
                    #expect(link.status == .connected)
                    await link.stop()
                    #expect(try await statuses.reason() == .byUser(.user))
                }
            }
        }
    }

    @Test("A peer that died while this process was suspended is found all the same")
    func peerIsDead() async {
        await #expect(processExitsWith: .success) {
            alarm(120)
            try await withOutagePeer { peer in
                let link = watchfulLink(to: peer.endpoint)
                try await running(link) { statuses in
                    try await statuses.untilConnected()
                    try await link.send("suspend \(getpid()) 2000 deaf")
                    #expect(try await statuses.reason().isHeartbeat)
                    #expect(try await statuses.reason { $0.isTimeOut(.registration) }.error?.phase == .registration)
                    try await peer.restart()
                    try await statuses.untilConnected()
                    try await link.expectEcho("after")
                }
            }
        }
    }
}
