import Glibc
import Lifeline
import LifelineCore
import LifelineRuntime
import Testing

/// A real link to a server on another host, with firewalls and a cable between them.
@Suite(.enabled(if: TwoHosts.isTested, "\(TwoHosts.missing ?? "")"), .timeLimit(.minutes(4)), .serialized)
struct FirewallTests {
    @Test(
        "C59, C79: a firewall that drops is found by the ping, attempts end at their limit, and the link comes back",
        arguments: TwoHosts.Loss.allCases)
    func drop(loss: TwoHosts.Loss) async throws {
        try await withTwoHosts { hosts in
            let link = watchfulLink(to: hosts.endpoint, on: hosts.network)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                try await link.expectEcho("before")
                let start = referee.now
                try await hosts.drop(loss)
                #expect(try await statuses.reason().isHeartbeat)
                // Nothing else would notice within minutes.
                #expect(start.duration(to: referee.now) < .seconds(20))
                for _ in 1...2 { #expect(try await statuses.reason().isTimeOut(.connect)) }
                let receipt = try link.post("meanwhile")
                try await hosts.letThrough()
                try await statuses.untilConnected()
                #expect(try await receipt.outcome == .written)
                try await link.expectAnswer("meanwhile")
                try await link.expectEcho("after")
                let heard = try await hosts.peer.heard(3)
                #expect(heard.map { $0.split(separator: " ")[1] } == ["before", "meanwhile", "after"])
            }
        }
    }

    @Test("A firewall that drops for less than the limit isn't noticed: TCP sends again, and the connection is the same")
    func shortDrop() async throws {
        try await withTwoHosts { hosts in
            let link = watchfulLink(to: hosts.endpoint, on: hosts.network, answerWithin: outerLimit)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                try await hosts.drop(.both)
                try await link.send("meanwhile")
                try await eventually { await link.info?.tcp.map { $0.retransmits > 0 } ?? true }
                try await hosts.letThrough()
                try await link.expectAnswer("meanwhile")
                #expect(try await hosts.peer.heard(1) == ["1 meanwhile"])
                #expect(link.status == .connected)
                await link.stop()
                #expect(try await statuses.reason() == .byUser(.user))
            }
        }
    }

    @Test("A firewall that drops while much is to be sent: the write limit ends the connection, and the link comes back")
    func fullBuffers() async throws {
        try await withTwoHosts { hosts in
            let link = watchfulLink(to: hosts.endpoint, on: hosts.network, answerWithin: .seconds(10)) {
                $0.connection.writeLimit = .seconds(1)
                $0.connection.socket.sendBuffer = 4096
            }
            try await running(link) { statuses in
                try await statuses.untilConnected()
                try await hosts.drop(.both)
                for _ in 0..<8 { _ = try link.post(String(repeating: "x", count: 60_000)) }
                #expect(try await statuses.reason().isTimeOut(.write))
                try await hosts.letThrough()
                try await statuses.untilConnected()
            }
        }
    }

    @Test("A firewall that rejects is a reset, and then refusals")
    func reject() async throws {
        try await withTwoHosts { hosts in
            let link = watchfulLink(to: hosts.endpoint, on: hosts.network, answerWithin: outerLimit)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                try await hosts.reject()
                let reason = try await statuses.reason()
                #expect(reason.isNetworkGone)
                #expect(reason.error?.code == .reset)
                for _ in 1...2 { #expect(try await statuses.reason().isRefused) }
                try await hosts.letThrough()
                try await statuses.untilConnected()
                try await link.expectEcho("after")
            }
        }
    }

    @Test("A cable that is pulled out is found by the ping, attempts find no way at once, and the link comes back with the cable")
    func cable() async throws {
        try await withTwoHosts { hosts in
            let link = watchfulLink(to: hosts.endpoint, on: hosts.network)
            try await running(link) { statuses in
                try await statuses.untilConnected()
                try await hosts.near("ip link set cable down")
                #expect(try await statuses.reason().isHeartbeat)
                let reason = try await statuses.reason()
                #expect(reason.isNetworkGone)
                #expect(reason.error?.code == .unreachable)
                try await hosts.near("ip link set cable up")
                try await statuses.untilConnected()
                try await link.expectEcho("after")
            }
        }
    }
}
