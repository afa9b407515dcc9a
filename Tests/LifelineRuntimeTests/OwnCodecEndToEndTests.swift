import LifelineCore
import LifelineRuntime
import LifelineTesting
import Testing

/// A format of one's own: `u8 kind | u16 length | text`, in twenty lines.
private struct NoteCodec: FrameCodec {
    struct Note: Sendable, Equatable {
        var kind: UInt8
        var text: String
    }
    struct TooLong: Error {}
    struct NotText: Error {}

    func decode(from input: inout ByteInput) throws -> Note? {
        guard let kind: UInt8 = input.peek(), let length: UInt16 = input.peek(at: 1) else { return nil }
        guard let body = input.peek(3..<3 + Int(length)) else { return nil }
        guard let text = String(validating: body) else { throw NotText() }
        input.skip(3 + body.count)
        return Note(kind: kind, text: text)
    }

    func encode(_ note: Note, into output: inout ByteOutput) throws {
        guard let length = UInt16(exactly: note.text.utf8.count) else { throw TooLong() }
        output.append(note.kind)
        output.append(length, .big)
        output.append(utf8: note.text)
    }
}

@Suite("A codec of one's own, end to end")
struct OwnCodecEndToEndTests {
    private typealias Note = NoteCodec.Note

    @Test("frames there and back, a frame that can't be sent, and a violation with its cause", arguments: 1...10 as ClosedRange<UInt64>)
    func thereAndBack(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let errors = Log<any Error>()
            var options = ServerOptions()
            options.onHandlerError = { errors.add($0) }
            let server = try await Server.bind(.inMemory("s"), codec: NoteCodec(), on: world.network, options: options)
            let handler: @Sendable (Connection<NoteCodec>) async throws -> Void = { connection in
                for try await note in connection.messages {
                    try await connection.send(Note(kind: note.kind + 1, text: note.text))
                }
            }
            try await serving(server, handler) {
                let client = try await Connection.connect(
                    to: .inMemory("s"), codec: NoteCodec(), on: world.network, options: .small(700))
                let texts = ["", "€", String(repeating: "x", count: 65_535)]
                for (kind, text) in texts.enumerated() { try await client.send(Note(kind: UInt8(kind), text: text)) }
                for (kind, text) in texts.enumerated() {
                    let note = try await client.next()
                    #expect(note == Note(kind: UInt8(kind + 1), text: text))
                }
                let tooLong = await failure { try await client.send(Note(kind: 0, text: String(repeating: "x", count: 65_536))) }
                #expect(tooLong?.code == .unencodable)
                #expect(tooLong?.cause is NoteCodec.TooLong)
                try await client.send(Note(kind: 9, text: "still there"))
                #expect(try await client.next() == Note(kind: 10, text: "still there"))

                let bad = try await ByteStream.connect(to: .inMemory("s"), on: world.network)
                try await bad.write([1, 0, 1, 0xFF])
                #expect(try await bad.read(atMost: 1) == nil)
                await bad.close()
                await world.settle()
                #expect(errors.count == 1)
                let error = errors.entries.first as? SocketError
                #expect(error?.code == .protocolViolation)
                #expect(error?.cause is NoteCodec.NotText)

                try await client.send(Note(kind: 1, text: "good to the end"))
                #expect(try await client.next()?.text == "good to the end")
                #expect(await client.close())
            }
        }
    }

    @Test("C10: it is told that its last frame was cut, without a line of its own", arguments: 1...10 as ClosedRange<UInt64>)
    func cut(seed: UInt64) async throws {
        try await simulate(seed: seed) { world in
            let (peer, connection) = try await world.connection(NoteCodec())
            try await peer.write([1, 0, 2, 111, 107, 2, 0, 9, 97])
            try await peer.finishSending()
            #expect(try await connection.next() == Note(kind: 1, text: "ok"))
            let error = await failure { try await connection.next() }
            #expect(error?.code == .truncated)
            #expect(error?.pending == PendingFrame(received: 4))
        }
    }
}
