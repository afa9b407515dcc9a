import COpenSSL
import LifelineCore
import LifelineTLS
import LifelineTesting
import Testing

@testable import LifelineRuntime

/// Bytes under way: large ones, slow ones, and keys that change between them.
struct TrafficTests {
    @Test("flush returns when all of it, encrypted, was taken below, and not before")
    func flush() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.socket.sendBuffer = 40_000
            let (connection, peer) = try await world.link(.raw, options: options, peer: .deaf)
            try await connection.send("1")
            await world.settle()
            #expect(try await peer.read(exactly: 1) == "1")
            try await connection.send("2")
            await world.settle()
            try await connection.send(pattern(30_000))
            try await connection.flush(within: .seconds(1))
            #expect(await connection.info.bytesSent == 30_002)
            // 16 KiB more make one record, for which there is no room.
            try await connection.send(pattern(16_384))
            await expectError(.timedOut, .write) { try await connection.flush(within: .seconds(1)) }
            #expect(await connection.info.bytesSent == 30_002)
            #expect(try await peer.read(exactly: 46_385)?.count == 46_385)
            try await connection.flush(within: .seconds(1))
            #expect(await connection.info.bytesSent == 46_386)
        }
    }

    @Test("a peer that reads nothing: senders wait, memory stays bounded, and the write limit ends it")
    func backPressure() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.outbox = Marks(high: 100_000)
            options.writeLimit = .seconds(5)
            let (connection, peer) = try await world.link(.raw, options: options, peer: .deaf)
            try await connection.send("1")
            await world.settle()
            var sent = 0
            let took = await world.duration {
                await expectError(.closed) {
                    while sent < 100 {
                        try await connection.send(pattern(50_000))
                        sent += 1
                    }
                }
            }
            #expect(sent < 20)
            #expect(peer.closeReason == nil)
            #expect(took == .seconds(5))
            #expect(connection.closeReason?.error?.phase == .write)
        }
    }

    @Test("a peer that takes a record now and then is within the write limit, and the sender hears of each (simulation's seed 1338)")
    func slowPeer() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.socket.sendBuffer = 40_000
            options.outbox = Marks(high: 300_000)
            options.writeLimit = .seconds(5)
            let (connection, peer) = try await world.link(.raw, options: options, peer: .deaf)
            let total = 200_000
            try await connection.send(pattern(total))
            // Much of it is encrypted already, and waits.
            for place in stride(from: 0, to: total, by: 20_000) {
                try await world.advance(by: .seconds(2))
                #expect(try await peer.read(exactly: 20_000) == pattern(20_000, from: place))
                await world.settle()
                #expect(await connection.info.bytesSent > place)
            }
            try await connection.flush(within: .seconds(1))
            #expect(await connection.info.bytesSent == UInt64(total))
            #expect(peer.closeReason == nil)
        }
    }

    @Test("a slow reader gets everything, whatever the sizes of writes, reads and pipes", arguments: [500, 4096, 20_000, 65_536])
    func sizes(capacity: Int) async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.socket.sendBuffer = capacity
            options.socket.receiveBuffer = capacity
            options.inbox = Marks(high: 30_000)
            let (connection, peer) = try await world.link(.raw, options: options, peer: options)
            let total = 600_000
            async let received = peer.read(exactly: total)
            var dice = SeededGenerator(seed: UInt64(capacity))
            var position = 0
            while position < total {
                let size = min(total - position, Int.random(in: 1...70_000, using: &dice))
                try await connection.send(pattern(size, from: position))
                position += size
            }
            #expect(try await received == pattern(total))
        }
    }

    @Test("new keys during traffic, asked for from both sides, lose and reorder nothing")
    func keyUpdates() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines)
            async let echoing: Void = {
                while let line = try await peer.read(until: "\n", limit: 100) {
                    if line.last == UInt8(ascii: "7") { await peer.updateKeys() }
                    try await peer.write(Bytes(Array(line) + [10]))
                }
            }()
            for number in 0..<200 {
                try await connection.send("\(number)")
                #expect(try await connection.next() == "\(number)")
            }
            await connection.close()
            try await echoing
        }
    }

    @Test("a broken record ends the connection with a type, behind what came before it")
    func brokenRecord() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines)
            try await peer.write("good\n")
            try await peer.flush()
            peer.writeBelow([23, 3, 3, 0, 20] + [UInt8](repeating: 9, count: 20))
            #expect(try await connection.next() == "good")
            await expectError(.protocolViolation) { try await connection.next() }
        }
    }

    @Test("the write limit counts what goes out, though no whole record has")
    func slowRecord() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.socket.sendBuffer = 2_000
            options.writeLimit = .seconds(5)
            let (connection, peer) = try await world.link(.raw, options: options, peer: .deaf)
            try await connection.send("1")
            await world.settle()
            try await connection.send(pattern(16_384))
            await world.settle()
            for _ in 0..<10 {
                try await world.advance(by: .seconds(3))
                peer.readBelow(1_000)
            }
            #expect(connection.closeReason == nil)
            #expect(await connection.info.bytesSent == 1)
            try await world.advance(by: .seconds(11))
            #expect(connection.closeReason?.error?.phase == .write)
        }
    }

    @Test("a sender that comes in the middle of a message of TLS's own waits for the rest of it")
    func halfTicket() async throws {
        try await simulate { world in
            let server = try Protected.server { $0.clientCertificates = .required(Protected.trust) }
            let client = try Protected.client { $0.identity = try Protected.identity("client") }
            let (connection, peer) = try await world.link(.lines, client: client, server: server)
            await world.settle()
            let rest = peer.writeHalfOfTicket()
            await world.settle()
            try await connection.send("x")
            await world.settle()
            #expect(await peer.bytesBuffered == 0)
            peer.writeBelow(rest)
            #expect(try await peer.read(until: "\n", limit: 10) == "x")
        }
    }

    @Test("a peer that asks for new keys for ever and then resets the connection ends it")
    func keyUpdateFloodAndReset() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines, peer: .deaf)
            try await connection.send("fills the peer's hands")
            await world.settle()
            for _ in 0..<400 where connection.bytesInPipe < 256 * 1024 {
                peer.floodKeyUpdates(50)
                await world.settle()
            }
            peer.cut(reset: true)
            await world.settle()
            #expect(connection.closeReason != nil)
        }
    }

    @Test("a peer that asks for new keys for ever, and reads none of the answers, is held up")
    func keyUpdateFlood() async throws {
        try await simulate { world in
            let (connection, peer) = try await world.link(.lines, peer: .deaf)
            try await connection.send("fills the peer's hands")
            await world.settle()
            for round in 0..<5_000 where connection.closeReason == nil {
                await peer.updateKeys()
                try await peer.write("x\n")
                if round % 4 == 0 { await world.settle() }
            }
            #expect(connection.closeReason == nil)
            let waiting = connection.bytesInPipe
            #expect(waiting < 600_000)
            connection.closeNow()
        }
    }
}

/// `count` bytes that tell where in the whole they stand.
func pattern(_ count: Int, from start: Int = 0) -> Bytes {
    var bytes = [UInt8](repeating: 0, count: count)
    for place in 0..<count { bytes[place] = UInt8((start + place) % 251) }
    return Bytes(bytes)
}
