import Lifeline
import LifelineTesting
import Testing

/// Whole sessions of the protocols in the field, byte for byte: login, heartbeats, messages, how the server lets a client go, and what
/// the client does then.
@Suite("Sessions in the field")
struct SessionTests {
    /// A server that plays one script for each connection, on the bare bytes. A connection beyond them is a failure.
    private func playing(
        _ world: World, _ scripts: [@Sendable (ByteStream) async throws -> Void], while body: () async throws -> Void
    ) async throws {
        let number = Number()
        var options = ServerOptions()
        options.onHandlerError = { Issue.record("\($0)") }
        let server = try await Server.bind(.inMemory("home"), codec: .raw, on: world.network, options: options) { stream in
            let number = await number.next()
            guard number < scripts.count else {
                Issue.record("one connection too many, at \(world.now)")
                return
            }
            try await scripts[number](stream)
        }
        try await withThrowingTaskGroup { group in
            // When a script is over, the server closes.
            group.addTask { try await server.run { _ in } }
            try await body()
            await server.shutdown(within: .seconds(1))
            try await group.waitForAll()
        }
        #expect(await number.next() == scripts.count)
    }

    private actor Number {
        private var number = -1
        func next() -> Int {
            number += 1
            return number
        }
    }

    /// Fresh with each login.
    private actor Tokens {
        private var number = 0
        func next() -> String {
            number += 1
            return "t\(number)"
        }
    }

    // Bodies behind a JSON size header.

    private static func sized(_ body: String) -> Bytes { Bytes("{\"size\":\"\(body.utf8.count)\"}\r\n\(body)") }

    @Test("JSON behind its size: the token first, a beat each 180 s which the server drops, a kick at the end")
    func sizeHeader() async throws {
        try await simulate { world in
            let alive = #"{"data":"com.example.alive"}"#
            let tokens = Tokens()
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: .jsonHeader, on: world.network,
                heartbeat: .oneWay(every: .seconds(180), sending: Packet(header: JSONHeader(), body: Bytes(alive)))
            ) { connection in
                try await connection.send(Packet(header: JSONHeader(), body: Bytes(#"{"token":"\#(await tokens.next())"}"#)))
                guard try await connection.next()?.body == Bytes(#"{"ok":1}"#) else { throw SocketError(.loginRefused, "not ok") }
            } goAway: { packet in
                guard packet.header["type"] == "kick" else { return nil }
                return .kicked(packet.header["why"]?.stringValue ?? "")
            }
            try await playing(
                world,
                [
                    { stream in
                        await stream.expect(Self.sized(#"{"token":"t1"}"#))
                        // Pretty-printed, as some servers do it, and the size as a number.
                        try await stream.write(Bytes("{ \n \"size\" : 8 \n}\r\n{\"ok\":1}"))
                        for beat in 1...20 {
                            await stream.expect(Self.sized(alive))
                            #expect(world.now == .seconds(180 * beat))
                        }
                        try await stream.write(Self.sized("hello"))
                    },
                    { stream in
                        await stream.expect(Self.sized(#"{"token":"t2"}"#))
                        try await stream.write(Self.sized(#"{"ok":1}"#))
                        try await stream.write(Bytes("{\"size\":\"0\",\"type\":\"kick\",\"why\":\"logged in elsewhere\"}\r\n"))
                    },
                ]
            ) {
                await link.start()
                #expect(try await link.next()?.body == Bytes("hello"))
                #expect(world.now == .seconds(3600))
                #expect(try await link.next()?.header["type"] == "kick")
                let error = await thrown { try await link.next() }
                #expect(error?.code == .kicked && error?.message == "logged in elsewhere")
                try await world.advance(by: .seconds(3600))
                #expect(link.status == .stopped(why: .kicked(SocketError(.kicked, ""))))
            }
        }
    }

    @Test("a server of JSON behind its size drops the beats in silence, and lets a client go that beats no more")
    func sizeHeaderServer() async throws {
        try await simulate { world in
            let alive = Bytes(#"{"data":"com.example.alive"}"#)
            var options = ServerOptions()
            options.connection.idleLimit = .seconds(300)
            options.onHandlerError = { #expect(($0 as? SocketError)?.phase == .idle) }
            let server = try await Server.bind(
                .inMemory("home"), codec: .jsonHeader, on: world.network, options: options, heartbeat: .dropping { $0.body == alive })
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await server.run { connection in
                        while let packet = try await connection.next() { try await connection.send(packet) }
                    }
                }
                let client = try await ByteStream.connect(to: .inMemory("home"), on: world.network)
                for _ in 0..<10 {
                    try await client.write(Self.sized(String(alive)))
                    try await world.advance(by: .seconds(180))
                }
                try await client.write(Self.sized("hello"))
                await client.expect(Self.sized("hello"))
                #expect(try await client.read(atMost: 1) == nil)
                #expect(world.now == .seconds(1800 + 300))
                await client.close()
                await server.shutdown()
                try await group.waitForAll()
            }
        }
    }

    // Lines of JSON.

    @Test("lines of JSON: the join line at once and each 50 s, the client's LF and the server's CR LF, and a server that is too busy")
    func jsonLines() async throws {
        try await simulate { world in
            let join = #"{"requestCode":"10001","token":"t","cId":"c7"}"#
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: .lines, on: world.network,
                heartbeat: .oneWay(every: .seconds(50), atOnce: true, sending: join),
                reconnect: .delays([.zero, .seconds(2), .seconds(4)]),
                goAway: { line in
                    if line.contains(#""requestCode":"10503""#) { return .tooBusy(line, after: .seconds(30)) }
                    if line.contains(#""requestCode":"10409""#) { return .kicked(line) }
                    return nil
                })
            try await playing(
                world,
                [
                    { stream in
                        for beat in 0..<10 {
                            await stream.expect(Bytes(join + "\n"))
                            #expect(world.now == .seconds(50 * beat))
                            try await stream.write(Bytes(#"{"requestCode":"10002","cId":"c7"}"# + "\r\n"))
                        }
                        try await stream.write(Bytes(#"{"requestCode":"10503"}"# + "\r\n"))
                    },
                    { stream in
                        #expect(world.now == .seconds(480))
                        await stream.expect(Bytes(join + "\n"))
                        // Cut inside a character.
                        let kick = Array(#"{"requestCode":"10409","why":"grüße"}"#.utf8) + [13, 10]
                        try await stream.write(Bytes(kick[..<33]))
                        try await stream.flush()
                        try await world.advance(by: .seconds(1))
                        try await stream.write(Bytes(kick[33...]))
                    },
                ]
            ) {
                await link.start()
                for _ in 0..<10 { #expect(try await link.next() == #"{"requestCode":"10002","cId":"c7"}"#) }
                #expect(try await link.next() == #"{"requestCode":"10503"}"#)
                try await world.advance(by: .seconds(1))
                guard case .waiting(for: .seconds(30), why: .refused(let busy)) = link.status else {
                    Issue.record("\(link.status)")
                    return
                }
                #expect(busy.code == .tooBusy && busy.message == #"{"requestCode":"10503"}"#)
                #expect(try await link.next() == #"{"requestCode":"10409","why":"grüße"}"#)
                #expect(await thrown { try await link.next() }?.message == #"{"requestCode":"10409","why":"grüße"}"#)
                #expect(world.now == .seconds(481))
            }
        }
    }

    // Requests and responses behind a 16-byte header.

    private static func packet(_ serial: Int32, _ command: Int32, _ code: Int32, _ body: String = "") -> Bytes {
        var output = ByteOutput()
        for number in [Int32(16 + body.utf8.count), serial, command, code] { output.append(number, .big) }
        output.append(utf8: body)
        return output.finish()
    }

    @Test("requests by serial: the login is one, pushes have serial 0, a result that means kicked, and one that means busy at the login")
    func requests() async throws {
        try await simulate { world in
            let tokens = Tokens()
            let link = Supervisor(
                endpoint: .inMemory("home"), codec: .requestHeader, pairing: .serial(), on: world.network,
                reconnect: .delays([.zero, .seconds(1), .seconds(3)])
            ) { connection in
                let login = Packet(header: RequestHeader(command: 1), body: Bytes(await tokens.next()))
                let answer = try await connection.request(login, within: .seconds(3))
                guard answer.header.isSuccess else { throw SocketError(.loginRefused, "code \(answer.header.code)") }
            } goAway: { packet in
                switch packet.header.code {
                case 409: .kicked(String(packet.body))
                case 503: .tooBusy()
                default: nil
                }
            }
            try await playing(
                world,
                [
                    // Too busy, twice: an answer to the login, and a push in its place.
                    { stream in
                        await stream.expect(Self.packet(1, 1, 0, "t1"))
                        try await stream.write(Self.packet(1, 1, 503))
                    },
                    { stream in
                        #expect(world.now == .zero)
                        try await stream.write(Self.packet(0, 0, 503))
                    },
                    { stream in
                        #expect(world.now == .seconds(1))
                        await stream.expect(Self.packet(1, 1, 0, "t3"))
                        try await stream.write(Self.packet(1, 1, 0) + Self.packet(0, 100, 0, "push"))
                        await stream.expect(Self.packet(2, 7, 0, "a") + Self.packet(3, 7, 0, "b"))
                        try await stream.write(Self.packet(3, 7, 0, "B") + Self.packet(2, 7, 0, "A"))
                        try await stream.write(Self.packet(0, 100, 409, "elsewhere"))
                    },
                ]
            ) {
                await link.start()
                let push = try await link.next()
                #expect(push?.body == Bytes("push"))
                let ask: @Sendable (String) async throws -> Bytes = { text in
                    try await link.request(Packet(header: RequestHeader(command: 7), body: Bytes(text)), within: .seconds(3)).body
                }
                async let first = ask("a")
                await world.settle()
                async let second = ask("b")
                #expect(try await first == Bytes("A"))
                #expect(try await second == Bytes("B"))
                #expect(try await link.next()?.header.code == 409)
                let error = await thrown { try await link.next() }
                #expect(error?.code == .kicked && error?.message == "elsewhere" && world.now == .seconds(1))
            }
        }
    }
}

/// The error of the library that `body` throws.
private func thrown<R: Sendable>(_ body: () async throws -> R) async -> SocketError? {
    do {
        let result = try await body()
        Issue.record("nothing was thrown, but \(result) returned")
    } catch let error as SocketError {
        return error
    } catch {
        Issue.record("\(error)")
    }
    return nil
}

extension ByteStream {
    /// That these are the next bytes.
    fileprivate nonisolated(nonsending) func expect(_ bytes: Bytes, sourceLocation: SourceLocation = #_sourceLocation) async {
        do {
            let read = try await read(exactly: bytes.count)
            #expect(read == bytes, "\(read.map { String($0) } ?? "the end")", sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }
}

extension Bytes {
    fileprivate static func + (left: Bytes, right: Bytes) -> Bytes { Bytes(Array(left) + Array(right)) }
}
