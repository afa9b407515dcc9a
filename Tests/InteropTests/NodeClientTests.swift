import Lifeline
import LifelineCore
import Testing

/// This library's server and clients on Node.js.
@Suite(.enabled(if: PeerKind.node.isTested, "Node.js isn't installed"), .timeLimit(.minutes(4)), .serialized)
struct NodeClientTests {
    @Test("C01, C20: lines that the client cuts anywhere, inside characters too, are whole", arguments: [1, 2, 3] as [UInt64])
    func lines(seed: UInt64) async throws {
        let server = try await bind(.lines)
        try await serving(server, echo) {
            try await withConnecting(.node, to: server.endpoint, ["lines", String(seed), "500"]) { peer in
                let facts = try await peer.facts(4)
                #expect(facts[0].hasPrefix("SAME"), "seed \(seed)")
                #expect(facts[1...].sorted() == ["0 CLOSED", "0 END", "0 FINISHED"], "seed \(seed)")
            }
        }
    }

    @Test("C01: frames that the client cuts anywhere are whole", arguments: [1, 2, 3] as [UInt64])
    func frames(seed: UInt64) async throws {
        let server = try await bind(.lengthPrefixed(UInt32.self))
        try await serving(server, echo) {
            try await withConnecting(.node, to: server.endpoint, ["frames", String(seed), "500"]) { peer in
                let facts = try await peer.facts(4)
                #expect(facts[0].hasPrefix("SAME"), "seed \(seed)")
                #expect(facts[1...].sorted() == ["0 CLOSED", "0 END", "0 FINISHED"], "seed \(seed)")
            }
        }
    }

    @Test("C41: what a client sent before its end is there, though the server looks later; and it can be answered")
    func halfClosedBefore() async throws {
        let server = try await bind(.lines)
        let sights = Mailbox<Sight>()
        try await withConnecting(.node, to: server.endpoint, ["talk", "1", #""one\ntwo\n""#, "end"]) { peer in
            #expect(try await peer.fact() == "0 FINISHED")
            let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
                let rest = await connection.rest()
                sights.put(Sight(lines: rest.frames, error: rest.error, reason: connection.closeReason))
                try await connection.send("thanks for \(rest.frames.count)")
            }
            try await serving(server, handler) {
                let sight = try await sights.next()
                #expect(sight.lines == ["one", "two"])
                #expect(sight.error == nil)
                #expect(sight.reason == .closedByPeer)
                #expect(try await peer.facts(3) == ["0 LINE thanks for 2", "0 END", "0 CLOSED"])
            }
        }
    }

    @Test("C36: a client's reset is an error for its handler, after its lines, and for nobody else")
    func reset() async throws {
        let server = try await bind(.lines)
        let sights = Mailbox<Sight>()
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            var lines: [String] = []
            do {
                while let line = try await connection.frame() {
                    lines.append(line)
                    try await connection.send(line)
                }
                sights.put(Sight(lines: lines, error: nil, reason: connection.closeReason))
            } catch {
                sights.put(Sight(lines: lines, error: error, reason: connection.closeReason))
            }
        }
        try await serving(server, handler) {
            let other = try await Connection.connect(to: server.endpoint, codec: .lines)
            try await other.send("before")
            #expect(try await other.frame() == "before")
            try await withConnecting(.node, to: server.endpoint, ["talk", "1", #""whole\nhalf""#, "reset"]) { peer in
                #expect(try await peer.facts(2) == ["0 LINE whole", "0 CLOSED"])
                let sight = try await sights.next()
                #expect(sight.lines == ["whole"])
                #expect((sight.error as? SocketError)?.code == .reset)
                #expect(sight.reason?.error?.code == .reset)
            }
            try await other.send("after")
            #expect(try await other.frame() == "after")
            await other.close()
        }
    }

    @Test("A broadcast reaches all clients, and a shutdown is a clean end for them")
    func broadcast() async throws {
        let server = try await bind(.lines)
        let hellos = Mailbox<String>()
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            while let line = try await connection.frame() { hellos.put(line) }
        }
        // It outlives the server, so that it can tell how the server went.
        try await withConnecting(.node, to: server.endpoint, ["talk", "3", #""hello\n""#, "stay"]) { peer in
            try await serving(server, handler) {
                for _ in 0..<3 { #expect(try await hellos.next() == "hello") }
                for number in 1...2 {
                    let result = try await server.broadcast("news \(number) é")
                    #expect(result.accepted == 3)
                    #expect(result.skipped + result.evicted == 0)
                }
                let facts = try await peer.facts(6)
                for client in 0..<3 {
                    #expect(facts.filter { $0.hasPrefix("\(client)") } == (1...2).map { "\(client) LINE news \($0) é" })
                }
            }
        }
    }

    @Test("C119: a shutdown is a clean end for clients, who end their side then")
    func shutdown() async throws {
        let server = try await bind(.lines)
        let ends = Mailbox<CloseReason?>()
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { connection in
            while let line = try await connection.frame() { try await connection.send(line) }
            ends.put(connection.closeReason)
            try await connection.send("going")
        }
        try await withConnecting(.node, to: server.endpoint, ["talk", "2", #""hello\n""#, "stay"]) { peer in
            try await serving(server, handler) {
                let facts = try await peer.facts(2)
                #expect(facts.sorted() == ["0 LINE hello", "1 LINE hello"])
            }
            for _ in 0..<2 { #expect(try await ends.next() == .shuttingDown) }
            let facts = try await peer.facts(8)
            for client in 0..<2 {
                let own = facts.filter { $0.hasPrefix("\(client) ") }.map { $0.dropFirst(2) }
                #expect(own == ["LINE going", "END", "FINISHED", "CLOSED"])
            }
        }
    }

    @Test("One client too many is told so, and sees a clean end")
    func tooBusy() async throws {
        var options = ServerOptions()
        options.maximumConnections = 1
        let server = try await bind(.lines, options: options, tooBusy: "too busy")
        try await serving(server, echo) {
            let first = try await Connection.connect(to: server.endpoint, codec: .lines)
            try await first.send("first")
            #expect(try await first.frame() == "first")
            try await withConnecting(.node, to: server.endpoint, ["talk", "1", #""second\n""#, "end"]) { peer in
                let facts = try await peer.facts(4)
                #expect(facts.filter { $0 != "0 FINISHED" } == ["0 LINE too busy", "0 END", "0 CLOSED"])
            }
            await first.close()
        }
    }

    @Test("Clients that go as soon as they are there leave nothing behind")
    func churn() async throws {
        var options = ServerOptions()
        options.onHandlerError = { error in
            // An end inside a line, and a reset, are what these clients do.
            if ![.reset, .truncated].contains((error as? SocketError)?.code) { Issue.record("\(error)") }
        }
        let server = try await bind(.lines, options: options)
        try await serving(server, echo) {
            try await withConnecting(.node, to: server.endpoint, ["churn", "150"]) { peer in
                let fact = try await peer.fact()
                #expect(fact == "DONE")
            }
            try await eventually { server.connections.isEmpty }
        }
    }
}
