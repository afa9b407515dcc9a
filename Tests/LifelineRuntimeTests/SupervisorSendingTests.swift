import LifelineCore
import Testing

@testable import LifelineRuntime
@testable import LifelineTesting

@Suite("Sending over a link")
struct SupervisorSendingTests {
    @Test(
        "C77: sent in the gap and during the login: everything arrives behind the login, in order",
        arguments: [OfflineRule<String>.wait, .keep(10), .dropOldest(10), .latest { $0 }])
    func gap(rule: OfflineRule<String>) async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            let link = world.link(offline: rule) { connection in
                try await connection.send("login")
                try await world.clock.sleep(for: .milliseconds(100))
            }
            await link.start()
            _ = await world.wait(for: link) { $0.isWaiting }
            await withTaskGroup { group in
                for number in 1...3 {
                    group.addTask { try? await link.send("\(number)") }
                    await world.settle()
                }
                group.addTask {
                    try? await lobby.open()
                    let peer = try? await lobby.peer(0)
                    try? await world.advance(by: .milliseconds(50))
                    #expect(link.status == .connecting(attempt: 2) && link.waitingMessages == 3)
                    try? await link.send("4")
                    try? await link.send("5")
                    await peer?.expect("login", "1", "2", "3", "4", "5")
                }
            }
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("C77: the rule to fail fails, and a queue that is full tells its caller")
    func refusing() async throws {
        try await simulate { world in
            let failing = world.link(offline: .fail)
            await expectError(.offline) { try await failing.send("1") }
            #expect(try failing.post("1").settled == .neverSent(SocketError(.offline, "x")))
            let keeping = world.link(offline: .keep(2))
            for number in 1...2 { try await keeping.send("\(number)") }
            await expectError(.queueFull) { try await keeping.send("3") }
            #expect(try keeping.post("3").settled == .neverSent(SocketError(.queueFull, "x")))
        }
    }

    @Test("C77: a cancelled send isn't sent later, nor is a message that was taken back, replaced or is too old")
    func notSent() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            let link = world.link(offline: .wait)
            let taken = try link.post("taken back")
            let old = try link.post("old", timeToLive: .seconds(2))
            let good = try link.post("good", timeToLive: .seconds(200))
            let cancelled = Log<Bool>()
            await withTaskGroup { group in
                group.addTask {
                    do { try await link.send("cancelled") } catch { cancelled.add(error is CancellationError) }
                }
                group.addTask { await expectError(.expired) { try await link.send("expired", timeToLive: .seconds(1)) } }
                await world.settle()
                #expect(link.waitingMessages == 5)
                try? await world.advance(by: .seconds(3))
                group.cancelAll()
            }
            #expect(cancelled.entries == [true] && taken.cancel() && !taken.cancel())
            #expect(taken.settled == .neverSent(SocketError(.withdrawn, "x")))
            #expect(try await old.outcome == .neverSent(SocketError(.expired, "x")))
            #expect(good.settled == nil && link.waitingMessages == 1)
            await link.start()
            try await lobby.open()
            let peer = try await lobby.peer(0)
            #expect(try await peer.line() == "good")
            #expect(try await good.outcome == .written)
            #expect(!good.cancel())
            try await link.send("next")
            #expect(try await peer.line() == "next")
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("the newest, or the latest per key; the older ones were never sent")
    func superseded() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            for (rule, expected) in [(OfflineRule<String>.dropOldest(2), ["b2", "a3"]), (.latest { $0.prefix(1) }, ["b2", "a3"])] {
                let before = lobby.accepted.count
                let link = world.link(offline: rule)
                let receipts = try ["a1", "b2", "a3"].map { try link.post($0) }
                #expect(receipts[0].settled == .neverSent(SocketError(.superseded, "x")))
                await link.start()
                for line in expected { #expect(try await lobby.peer(before).line() == line) }
                for receipt in receipts.dropFirst() { #expect(try await receipt.outcome == .written) }
                await link.stop(within: .zero)
            }
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("what a connection hasn't taken when it drops was never sent; what it has was written; nothing is sent twice")
    func lostOnTheWay() async throws {
        try await simulate { world in
            let lobby = Lobby(world, options: .slow)
            try await lobby.open()
            var options = SupervisorOptions()
            options.connection.socket.sendBuffer = 100
            options.connection.outbox = Marks(high: 300)
            let link = world.link(offline: .keep(100), options: options)
            await link.start()
            _ = await world.wait(for: link) { $0 == .connected }
            let receipts = try (10..<40).map { try link.post("\($0)" + String(repeating: "x", count: 47)) }
            await world.settle()
            // The peer reads one block and then nothing, so some are in the kernel, some encoded, some in the queue.
            let written = receipts.prefix { $0.settled == .written }.count
            #expect(written >= 2 && written < 10 && link.waitingMessages > 10)
            let waiting = link.waitingMessages
            try await lobby.peer(0).reset()
            _ = await world.wait(for: link) { $0.isWaiting }
            let lost = receipts[written..<(30 - waiting)]
            #expect(!lost.isEmpty)
            for receipt in lost {
                guard case .neverSent = receipt.settled else {
                    Issue.record("\(String(describing: receipt.settled))")
                    return
                }
            }
            let peer = try await lobby.peer(1)
            for number in (40 - waiting)..<40 { #expect(try await peer.line()?.hasPrefix("\(number)") == true) }
            #expect(try await receipts.last?.outcome == .written)
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a stop tells those who wait, and the queue is empty then")
    func stopped() async throws {
        try await simulate { world in
            let link = world.link()
            await link.start()
            let receipt = try link.post("kept")
            await withTaskGroup { group in
                group.addTask { await expectError(.closed) { try await link.send("waiting") } }
                await world.settle()
                await link.stop()
            }
            #expect(receipt.settled == .neverSent(SocketError(.closed, "x")))
            #expect(link.waitingMessages == 0)
            await world.expectQuiet()
        }
    }

    @Test("a message's time goes on when the connection ends that it has waited for")
    func timeGoesOn() async throws {
        try await simulate { world in
            let lobby = Lobby(world)
            try await lobby.open()
            var options = SupervisorOptions()
            options.connection.outbox = Marks(high: 100)
            let link = world.link(reconnect: .every(.seconds(10)), options: options)
            await link.start()
            _ = await world.wait(for: link) { $0 == .connected }
            let peer = try await lobby.peer(0)
            // The peer reads one block and then nothing.
            for _ in 0..<100 { _ = try link.post(String(repeating: "x", count: 10_000), timeToLive: .milliseconds(100)) }
            try await world.advance(by: .milliseconds(200))
            #expect(link.waitingMessages == 0)
            let start = world.now
            await withTaskGroup { group in
                group.addTask {
                    await expectError(.expired) { try await link.send("late", timeToLive: .seconds(1)) }
                    #expect(world.now - start == .seconds(1))
                }
                try? await world.advance(by: .milliseconds(600))
                peer.reset()
            }
            await link.stop(within: .zero)
            await lobby.kill()
            await world.expectQuiet()
        }
    }

    @Test("a link that gives up tells those who wait as a stop does, with what it gave up for")
    func gaveUp() async throws {
        try await simulate { world in
            let link = world.link(reconnect: .delays([.seconds(1)]))
            await link.start()
            let receipt = try link.post("kept")
            let error = await expectError(.closed) { try await link.send("waiting") }
            #expect((error?.cause as? SocketError)?.code == .gaveUp)
            #expect(receipt.settled == .neverSent(SocketError(.closed, "x")))
            await world.expectQuiet()
        }
    }
}
