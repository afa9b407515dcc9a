import LifelineCore
import LifelineRuntime
import LifelineTLS
import LifelineTesting
import Testing

/// Streams and connections that go over to TLS while they live.
struct StartTLSTests {
    @Test("a stream goes over, and comes back to its lines behind it")
    func stream() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            async let served: Void = {
                #expect(try await far.read(until: "\r\n", limit: 100) == "STARTTLS")
                try await far.startTLS(Protected.server(), announcing: "OK\r\n")
                #expect(try await far.read(until: "\r\n", limit: 100) == "secret")
                try await far.write("answer\r\n")
            }()
            try await near.write("STARTTLS\r\n")
            #expect(try await near.read(until: "\r\n", limit: 100) == "OK")
            let info = try await near.startTLS(Protected.client(), serverName: "localhost")
            #expect(info.version == .tls13)
            try await near.write("secret\r\n")
            #expect(try await near.read(until: "\r\n", limit: 100) == "answer")
            try await served
            #expect(await near.info.tls?.cipherSuite == info.cipherSuite)
        }
    }

    @Test("C94: plain text in the same segment as the agreement is never taken as protected, and ends the stream")
    func evilServer() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            try await near.write("STARTTLS\r\n")
            _ = try await far.read(until: "\r\n", limit: 100)
            try await far.write("OK\r\nEVIL\r\n")
            #expect(try await near.read(until: "\r\n", limit: 100) == "OK")
            await expectError(.protocolViolation, nil, .plaintextBehindBorder) {
                try await near.startTLS(Protected.client(), serverName: "localhost")
            }
            await expectError(.protocolViolation) { try await near.read(atMost: 100) }
        }
    }

    @Test("C94: nor what stands in the kernel, unread")
    func evilServerUnread() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams(options: .deaf)
            try await far.write("OK\r\n")
            await world.settle()
            try await far.write("EVIL\r\n")
            await world.settle()
            #expect(try await near.read(exactly: 4) == "OK\r\n")
            await expectError(.protocolViolation, nil, .plaintextBehindBorder) {
                try await near.startTLS(Protected.client(), serverName: "localhost")
            }
        }
    }

    @Test("C94: nor what a client has sent ahead of the server's agreement")
    func evilClient() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            try await near.write("STARTTLS\r\nEVIL\r\n")
            #expect(try await far.read(until: "\r\n", limit: 100) == "STARTTLS")
            await expectError(.protocolViolation, nil, .plaintextBehindBorder) {
                try await far.startTLS(Protected.server(), announcing: "OK\r\n")
            }
        }
    }

    @Test("C94: plain text that comes a moment later isn't TLS")
    func lateEvil() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            async let refused = expectError(.handshakeFailed, nil, .notTLS) {
                try await near.startTLS(Protected.client(), serverName: "localhost")
            }
            _ = try await far.read(exactly: 5)
            try await far.write("EVIL\r\nEVIL\r\nEVIL\r\n")
            _ = await refused
        }
    }

    @Test("a connection goes over between two of its messages, and what is sent meanwhile waits")
    func connection() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            let client = try await near.framed(with: .lines)
            let server = try await far.framed(with: .lines)
            try await client.send("go over")
            #expect(try await server.next() == "go over")
            let verify: @Sendable (TLSInfo) async throws -> Void = { _ in try await world.advance(by: .milliseconds(100)) }
            async let accepted = server.startTLS(Protected.server { $0.verify = verify }, announcing: "go on")
            #expect(try await client.next() == "go on")
            async let upgraded = client.startTLS(Protected.client { $0.verify = verify }, serverName: "localhost")
            await world.settle()
            try await client.send("early")
            try await server.send("early, too")
            #expect(try await upgraded.version == .tls13)
            _ = try await accepted
            #expect(try await server.next() == "early")
            #expect(try await client.next() == "early, too")
            #expect(await server.info.tls != nil)
        }
    }

    @Test("C94: a connection with a message behind the border ends")
    func evilMessage() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            let client = try await near.framed(with: .lines)
            try await far.write("OK\nEVIL\n")
            #expect(try await client.next() == "OK")
            await expectError(.protocolViolation, nil, .plaintextBehindBorder) {
                try await client.startTLS(Protected.client(), serverName: "localhost")
            }
            await expectError(.protocolViolation) { try await client.next() }
        }
    }

    @Test("what was queued before the border goes out in plain text, however slowly")
    func slowBorder() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.socket.sendBuffer = 1000
            let (near, far) = try await world.streams(options: options, peer: .deaf)
            let much = Bytes([UInt8](repeating: 65, count: 50_000))
            try await near.write(much)
            async let upgraded = near.startTLS(Protected.server(), announcing: "!")
            await world.settle()
            try await near.write("secret")
            #expect(try await far.read(exactly: much.count) == much)
            #expect(try await far.read(exactly: 1) == "!")
            try await far.startTLS(Protected.client(), serverName: nil)
            _ = try await upgraded
            #expect(try await far.read(exactly: 6) == "secret")
        }
    }

    @Test("while a read waits, and twice: misuse, and nothing has happened")
    func misuse() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            async let reading = near.read(exactly: 3)
            await world.settle()
            await expectError(.misuse) { try await near.startTLS(Protected.client(), serverName: "localhost") }
            try await far.write("abc")
            #expect(try await reading == "abc")
            try await world.protect(near, far)
            await expectError(.misuse) { try await near.startTLS(Protected.client(), serverName: "localhost") }
            try await far.write("def")
            #expect(try await near.read(exactly: 3) == "def")
        }
    }

    @Test("a call that is cancelled closes the stream")
    func cancelled() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            await withTaskGroup { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await near.startTLS(Protected.client(), serverName: "localhost") }
                }
                await world.settle()
                group.cancelAll()
            }
            _ = try await far.readAll()
            #expect(near.closeReason == .closedHere)
        }
    }

    @Test("a handshake that fails ends the stream with its error")
    func failed() async throws {
        try await simulate { world in
            let (near, far) = try await world.streams()
            async let refused = expectError(.certificateRefused, nil, .refusedByPeer) {
                try await far.startTLS(Protected.server("other"), announcing: "!")
            }
            _ = try await near.read(exactly: 1)
            await expectError(.certificateRefused, nil, .unknownIssuer) {
                try await near.startTLS(Protected.client(), serverName: "localhost")
            }
            #expect(near.closeReason?.error?.tls?.kind == .unknownIssuer)
            _ = await refused
        }
    }
}
