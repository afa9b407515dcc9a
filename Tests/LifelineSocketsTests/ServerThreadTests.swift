import LifelineCore
import LifelineRuntime
import LifelineSockets
import Testing

/// What of a server needs threads: everything else is tested in virtual time.
@Suite("A server on real threads")
struct ServerThreadTests {
    private let loops = SystemDriver(EventLoops(count: 2)).loops

    @Test("handlers on the pool stay off the event loops, are served, cancelled and waited for", arguments: [true, false])
    func pool(isForced: Bool) async throws {
        let network = InMemoryNetwork(loops: loops)
        let ends = Mailbox<String>()
        var options = ServerOptions()
        options.handlers = .pool
        options.onHandlerError = { ends.put("\($0)") }
        let server = try await Server.bind(.inMemory("s"), codec: .lines, on: network, options: options)
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await server.run { connection in
                    #expect(!connection.core.loop.isCurrent)
                    while let line = try await connection.next() {
                        #expect(!connection.core.loop.isCurrent)
                        if line == "forever" {
                            ends.put("begun")
                            try await connection.send("begun")
                            while !Task.isCancelled { await Task.yield() }
                            ends.put("cancelled")
                        }
                        try await connection.send(line)
                    }
                    ends.put("returned")
                }
            }
            try await withThrowingTaskGroup { clients in
                for number in 0..<20 {
                    clients.addTask {
                        let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: network)
                        for round in 0..<50 {
                            try await client.send("\(number) \(round)")
                            let line = try await client.next(within: outerLimit)
                            #expect(line == "\(number) \(round)")
                        }
                        await client.close()
                    }
                }
                try await clients.waitForAll()
            }
            for _ in 0..<20 {
                let end = try await ends.next()
                #expect(end == "returned")
            }
            if isForced {
                let client = try await Connection.connect(to: .inMemory("s"), codec: .lines, on: network)
                try await client.send("forever")
                #expect(try await ends.next() == "begun")
                #expect(try await client.next(within: outerLimit) == "begun")
                #expect(await !server.shutdown(within: .milliseconds(20)))
                #expect(try await ends.next() == "cancelled")
                client.closeNow()
            } else {
                #expect(await server.shutdown())
            }
            try await group.waitForAll()
        }
        #expect(server.connections.isEmpty)
    }

    @Test("the announced frame is the last old one on the wire while senders on other threads try to get behind it")
    func swapAgainstSenders() async throws {
        // Little is on its way, so that a round is short.
        let network = InMemoryNetwork(loops: loops, pipeCapacity: 500)
        var options = ServerOptions()
        options.connection.outbox = Marks(high: 500)
        let server = try await Server.bind(.inMemory("s"), codec: .lines, on: network, options: options)
        let handler: @Sendable (Connection<LineCodec>) async throws -> Void = { old in
            try await withThrowingTaskGroup { group in
                for sender in 0..<4 {
                    group.addTask(executorPreference: globalConcurrentExecutor) {
                        while (try? await old.send("old \(sender)")) != nil {}
                    }
                }
                _ = try await old.next()
                let new = try await old.swap(to: .lengthPrefixed(UInt16.self), announcing: "LAST")
                try await new.send(Bytes("new"))
                try await group.waitForAll()
                await new.close(within: outerLimit)
            }
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run(handler) }
            var slow = ConnectionOptions()
            slow.inbox = Marks(high: 500)
            for _ in 0..<100 {
                let peer = try await ByteStream.connect(to: .inMemory("s"), on: network, options: slow)
                #expect(try await peer.read(with: .lines, within: outerLimit)?.hasPrefix("old ") == true)
                try await peer.write("go", with: .lines)
                while let line = try await peer.read(with: .lines, within: outerLimit), line != "LAST" {
                    #expect(line.hasPrefix("old "))
                }
                #expect(try await peer.read(with: .lengthPrefixed(UInt16.self), within: outerLimit) == Bytes("new"))
                #expect(try await peer.read(atMost: 1, within: outerLimit) == nil)
                await peer.close()
            }
            #expect(await server.shutdown())
            try await group.waitForAll()
        }
    }

    @Test("connections that come while the server shuts down are closed, and nobody waits for them")
    func shutdownAgainstClients() async throws {
        for _ in 0..<30 {
            let network = InMemoryNetwork(loops: loops)
            let server = try await Server.bind(.inMemory("s"), codec: .lines, on: network)
            try await withThrowingTaskGroup { group in
                group.addTask { try await server.run { while let line = try await $0.next() { try await $0.send(line) } } }
                for _ in 0..<4 {
                    group.addTask {
                        while let client = try? await Connection.connect(to: .inMemory("s"), codec: .lines, on: network) {
                            _ = try? await client.next(within: outerLimit)
                            await client.close()
                        }
                    }
                }
                await Task.yield()
                #expect(await server.shutdown(within: outerLimit))
                try await group.waitForAll()
            }
            #expect(server.connections.isEmpty)
        }
    }
}
