import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// What decoders report, in order.
private final class Findings: @unchecked Sendable {  // Simulations run on one thread at a time.
    var seen: [Finding] = []
}

@Suite("What decoders report")
struct FindingTests {
    private let garbage = Bytes([UInt8](repeating: 0xFF, count: 28))

    @Test("skipped bytes are reported also when the stream ends abruptly", arguments: [true, false])
    func abruptEnd(isReset: Bool) async throws {
        let findings = Findings()
        try await simulate { world in
            var options = ServerOptions()
            options.connection.onFinding = { findings.seen.append($0) }
            options.onHandlerError = { _ in }
            let server = try await Server.bind(.inMemory("s"), codec: .typeHeader, on: world.network, options: options)
            try await serving(server) { connection in
                if !isReset {
                    while await connection.info.bytesReceived == 0 { try await world.clock.sleep(for: .milliseconds(1)) }
                    connection.closeNow()
                }
                _ = try await connection.next()
            } while: {
                let stream = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                try await stream.write(garbage)
                try await stream.flush()
                try await world.clock.sleep(for: .milliseconds(5))
                stream.closeNow()
            }
        }
        #expect(findings.seen.map(\.byteCount) == [13])
    }

    @Test("a read that meets the end reports what it has skipped", arguments: [28, 4])
    func readAtTheEnd(count: Int) async throws {
        let findings = Findings()
        let garbage = [UInt8](repeating: 0xFF, count: count)
        try await simulate { world in
            var options = ConnectionOptions()
            options.onFinding = { findings.seen.append($0) }
            let server = try await Server.bind(.inMemory("s"), codec: .raw, on: world.network)
            try await serving(server) {
                try await $0.send(Bytes(garbage))
            } while: {
                let stream = try await ByteStream.connect(to: .inMemory("s"), on: world.network, options: options)
                let error = await failure { try await stream.read(with: .typeHeader) }
                #expect(error?.code == .truncated)
                await stream.close()
            }
        }
        #expect(findings.seen.map(\.byteCount) == (count == 28 ? [13] : []))
    }

    @Test("C07: a line that a read drops may not grow without end")
    func c07DroppedByARead() async throws {
        try await simulate { world in
            var options = ConnectionOptions()
            options.inbox = Marks(high: 4096)
            let server = try await Server.bind(.inMemory("s"), codec: .raw, on: world.network)
            try await serving(server) { connection in
                while connection.closeReason == nil { try await connection.send(Bytes(repeatElement(0x61, count: 1024))) }
            } while: {
                let stream = try await ByteStream.connect(to: .inMemory("s"), on: world.network, options: options)
                let error = await failure { try await stream.read(with: LineCodec(max: 16, overlong: .drop)) }
                #expect(error?.code == .frameTooLarge)
                stream.closeNow()
            }
        }
    }
}
