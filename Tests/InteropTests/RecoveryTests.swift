import Glibc
import Lifeline
import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

/// A real link to a server in another process that dies, falls silent and comes back.
@Suite(.enabled(if: PeerKind.outages.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct RecoveryTests {
    @Test("kill -9 of the server: noticed without a heartbeat, and messages flow when another is at its address")
    func kill9() async throws {
        try await withOutagePeer { peer in
            let link = watchfulLink(to: peer.endpoint, every: outerLimit)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                try await link.expectEcho("before")
                peer.kill9()
                // Its kernel has ended the connection in good order, for nothing was unread.
                #expect(try await statuses.reason() == .byServer)
                try await peer.expectKilled()
                #expect(try await statuses.reason(where: \.isRefused).error?.errno == ECONNREFUSED)
                try await peer.restart()
                try await statuses.untilConnected()
                try await link.expectEcho("after")
                #expect(try await peer.process.heard(1) == ["1 after"])
            }
        }
    }

    @Test("kill -9 of a server that hasn't read everything is a reset")
    func kill9WithUnreadBytes() async throws {
        try await withOutagePeer { peer in
            let link = watchfulLink(to: peer.endpoint, every: outerLimit)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                peer.process.send(SIGSTOP)
                let receipt = try link.post("unread")
                #expect(try await receipt.outcome == .written)
                peer.kill9()
                let reason = try await statuses.reason()
                #expect(reason.isNetworkGone)
                #expect(reason.error?.code == .reset)
                try await peer.expectKilled()
                try await peer.restart()
                try await statuses.untilConnected()
                // What the kernel took isn't sent again.
                try await link.expectEcho("after")
                #expect(try await peer.process.heard(1) == ["1 after"])
            }
        }
    }

    @Test("C59: a suspended server, silent and open, is found by the ping; it counts as back only when it answers")
    func suspendedServer() async throws {
        try await withOutagePeer { peer in
            let link = watchfulLink(to: peer.endpoint)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                try await link.expectEcho("before")
                let start = referee.now
                peer.process.send(SIGSTOP)
                #expect(try await statuses.reason().isHeartbeat)
                // Nothing else would notice within minutes.
                #expect(start.duration(to: referee.now) < .seconds(20))
                // The kernel of a suspended server still takes connections.
                #expect(try await statuses.reason { $0.isTimeOut(.registration) }.error?.code == .timedOut)
                peer.process.send(SIGCONT)
                try await statuses.untilConnected()
                try await link.expectEcho("after")
            }
        }
    }

    @Test("C77: what is sent while the server is down is there once, in order, behind the registration of the next connection")
    func restart() async throws {
        try await withOutagePeer { peer in
            let link = watchfulLink(to: peer.endpoint, every: outerLimit)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                for round in 1...3 {
                    peer.process.send(SIGTERM)
                    #expect(try await statuses.reason() == .byServer)
                    #expect(try await statuses.reason(where: \.isRefused).error?.code == .refused)
                    let receipts = try (1...3).map { try link.post("\(round).\($0)") }
                    try await peer.restart()
                    try await statuses.untilConnected()
                    for receipt in receipts { #expect(try await receipt.outcome == .written) }
                    #expect(try await peer.process.line() == "WELCOMED 1")
                    try await link.send("\(round).4")
                    #expect(try await peer.process.heard(4) == (1...4).map { "1 \(round).\($0)" })
                    for number in 1...4 { #expect(try await link.next(within: outerLimit) == "\(round).\(number)") }
                }
            }
        }
    }
}
