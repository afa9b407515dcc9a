import LifelineCore

/// What clients and servers say to each other.
struct Note: Sendable, Hashable {
    enum Kind: Int32, Sendable {
        case login = 1
        case welcome
        /// The server doesn't know this client. It does, next time.
        case refusal
        /// What the server wants of the client that it lets go; the number says what.
        case wish
        /// From the client's user, numbered; the server sends an echo of each.
        case chat
        case echo
        /// To all clients, numbered.
        case news
        case question
        case answer
        case ping
        case pong
        /// It can't be encoded.
        case unspeakable
    }

    var kind: Kind
    var number: Int32 = 0
    /// Of the client that says it, or that it is said to.
    var client: Int32 = 0
    var serial: Int32 = 0
    /// Bytes of padding.
    var size = 0
}

/// A note as it arrives, with the stamps of the encoder that wrote it and of the decoder that read it.
struct Letter: Sendable, Hashable {
    let note: Note
    /// The encoder's number, and the note's place among those that it wrote.
    let writer: Int
    let place: Int
    /// The decoder's number.
    let reader: Int

    var isForUser: Bool {
        switch note.kind {
        case .ping, .pong, .answer: false
        default: true
        }
    }
}

enum Side: Sendable, Hashable {
    case client(Int)
    case server
}

/// The codec of one side. Each encoder has a number and stamps what it writes; each decoder tells the ledger what it reads. So for every
/// note that arrives anywhere it is known over which connection it came, and whether one is missing.
struct PostCodec: Codec {
    let ledger: Ledger
    let side: Side

    typealias Decoder = PostDecoder
    typealias Encoder = PostEncoder

    func makeDecoder() -> PostDecoder { PostDecoder(number: ledger.newReader(side), ledger: ledger) }
    func makeEncoder() -> PostEncoder { PostEncoder(number: ledger.newWriter(side), ledger: ledger) }

    static let stamp = 12
    static let largest = 20_000
    static let inner = RequestHeaderCodec(max: stamp + largest)

    /// On the wire.
    static func size(of note: Note) -> Int { RequestHeaderCodec.headerByteCount + stamp + note.size }

    /// The encoder that has written what begins with `bytes`; nil if they are too few.
    static func writer(of bytes: Bytes) -> Int? {
        guard bytes.count >= RequestHeaderCodec.headerByteCount + 4 else { return nil }
        return bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: RequestHeaderCodec.headerByteCount, as: Int32.self)) }
    }
}

struct PostEncoder: FrameEncoder {
    let number: Int
    let ledger: Ledger
    var place = 0

    mutating func encode(_ note: Note, into output: inout ByteOutput) throws {
        if note.kind == .unspeakable { throw SocketError(.unencodable, "this can't be said") }
        var body = [UInt8](repeating: UInt8(truncatingIfNeeded: place), count: PostCodec.stamp + note.size)
        body.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: Int32(number), as: Int32.self)
            bytes.storeBytes(of: Int32(place), toByteOffset: 4, as: Int32.self)
            bytes.storeBytes(of: note.client, toByteOffset: 8, as: Int32.self)
        }
        let header = RequestHeader(serial: note.serial, command: note.kind.rawValue, code: note.number)
        try PostCodec.inner.encode(Packet(header: header, body: Bytes(body)), into: &output)
        ledger.writes(note, by: number, at: place)
        place += 1
    }
}

struct PostDecoder: FrameDecoder {
    let number: Int
    let ledger: Ledger

    mutating func decode(from input: inout ByteInput) throws -> Letter? {
        guard let packet = try PostCodec.inner.decode(from: &input) else { return nil }
        guard let kind = Note.Kind(rawValue: packet.header.command), packet.body.count >= PostCodec.stamp else {
            throw SocketError(.protocolViolation, "no such note: \(packet.header)")
        }
        let (writer, place, client) = packet.body.withUnsafeBytes { bytes in
            (
                bytes.loadUnaligned(as: Int32.self), bytes.loadUnaligned(fromByteOffset: 4, as: Int32.self),
                bytes.loadUnaligned(fromByteOffset: 8, as: Int32.self)
            )
        }
        let size = packet.body.count - PostCodec.stamp
        if size > 0, packet.body[packet.body.count - 1] != UInt8(truncatingIfNeeded: place) {
            ledger.fault("padding was changed")
        }
        let letter = Letter(
            note: Note(kind: kind, number: packet.header.code, client: client, serial: packet.header.serial, size: size),
            writer: Int(writer), place: Int(place), reader: number)
        ledger.reads(letter)
        return letter
    }

    func pending(in input: ByteInput) -> PendingFrame? { PostCodec.inner.pending(in: input) }
}
