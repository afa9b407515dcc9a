import CLifelineSystem
import Glibc
import LifelineCore
import LifelineSockets
import Testing

@testable import LifelineRuntime

/// Sockets that were made elsewhere, and networks in memory in real time.
struct AdoptingTests {
    @Test func aSocketThatWasMadeElsewhereBecomesAConnection() async throws {
        let (mine, theirs) = Raw.pair()
        let connection = try await Connection.adopting(mine, codec: .lines)
        let peer = try await ByteStream.adopting(theirs, on: network)
        try await peer.write("hello", with: .lines)
        #expect(try await connection.next(within: outerLimit) == "hello")
        try await connection.send("hello yourself")
        #expect(try await peer.read(with: .lines, within: outerLimit) == "hello yourself")
        async let closed = connection.close()
        #expect(try await peer.read(atMost: 1, within: outerLimit) == nil)
        await peer.close()
        #expect(await closed)
    }

    @Test func anAdoptedSocketGetsTheOptionsThatAreGiven() async throws {
        let (listener, port) = Raw.listen()
        let descriptor = Raw.connect(port)
        let other = accept(listener, nil, nil)
        var options = ConnectionOptions()
        options.socket.keepAlive = SocketOptions.KeepAlive(idle: .seconds(7))
        let connection = try await Connection.adopting(descriptor, codec: .lines, on: network, options: options)
        #expect(Raw.option(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
        #expect(Raw.option(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 7)
        #expect(await connection.info.remote == .tcp("127.0.0.1", port))
        connection.closeNow()
        close(other)
        close(listener)
    }

    @Test func whatIsntAConnectedStreamStaysTheCallers() async throws {
        let pipeEnds = UnsafeMutablePointer<Int32>.allocate(capacity: 2)
        defer { pipeEnds.deallocate() }
        #expect(pipe(pipeEnds) == 0)
        let listening = Raw.listen().descriptor
        let datagram = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        for descriptor in [pipeEnds[0], listening, datagram] {
            await expectError(.misuse) { try await Connection.adopting(descriptor, codec: .lines) }
            await expectError(.misuse) { try await ByteStream.adopting(descriptor) }
            #expect(fcntl(descriptor, F_GETFD) >= 0)
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0)
        }
        await expectError(.misuse) { try await ByteStream.adopting(-1) }
        for descriptor in [pipeEnds[0], pipeEnds[1], listening, datagram] { close(descriptor) }
    }

    @Test func aSettingThatIsRefusedLeavesTheSocketToTheCaller() async throws {
        let (listener, port) = Raw.listen()
        let descriptor = Raw.connect(port)
        var options = ConnectionOptions()
        options.socket.interface = "nosuchinterface"
        await #expect(throws: SocketError.self) { try await ByteStream.adopting(descriptor, options: options) }
        #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0)
        let stream = try await ByteStream.adopting(descriptor)
        stream.closeNow()
        close(listener)
    }

    @Test(arguments: [EventLoops.shared, EventLoops(count: 3)])
    func aNetworkInMemoryServesInRealTime(loops: EventLoops) async throws {
        let memory = InMemoryNetwork(loops: loops)
        let server = try await Server.bind(.inMemory("chat"), codec: .lines, on: memory)
        try await serving(server, echo) {
            try await withThrowingTaskGroup { group in
                for number in 0..<10 {
                    group.addTask {
                        let client = try await Connection.connect(to: .inMemory("chat"), codec: .lines, on: memory)
                        for round in 0..<20 { try await expectEcho("\(number), \(round)", on: client) }
                        #expect(await client.close(within: outerLimit))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func aNetworkInMemoryKeepsItsLoops() async throws {
        weak var loops: EventLoops?
        func make() -> InMemoryNetwork {
            let made = EventLoops(count: 1)
            loops = made
            return InMemoryNetwork(loops: made)
        }
        do {
            let memory = make()
            #expect(loops != nil)
            await expectError(.refused) {
                try await Connection.connect(to: .inMemory("nobody"), codec: .lines, on: memory)
            }
        }
        #expect(loops == nil)
    }
}
