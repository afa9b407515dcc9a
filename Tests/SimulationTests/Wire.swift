import LifelineCore
import LifelineRuntime
import LifelineTesting

/// The wire, watched: that each client dials only when its link says so, and that no other connection of it is open then; and how far
/// each connection has come.
final class Wire: @unchecked Sendable {  // Used in one simulation, whose loops share a thread.
    private struct Known { weak var client: ClientApp? }

    private let known: [Known]
    private let protection: Protection?
    private let ledger: Ledger
    /// By the connection's number.
    private var streams: [Int: any WatchedStream] = [:]
    /// The number of each client's latest connection.
    private var latest: [Int: Int] = [:]

    init(_ clients: [ClientApp], _ protection: Protection?, _ ledger: Ledger) {
        known = clients.map { Known(client: $0) }
        self.protection = protection
        self.ledger = ledger
    }

    func watch(_ network: SimulatedNetwork) {
        network.addRule { packet in
            switch packet.kind {
            case .connect: self.dials(packet)
            case .data: self.streams[packet.connection]?.sees(packet, in: self.ledger)
            default: break
            }
            return .pass
        }
    }

    private func dials(_ packet: SimulatedPacket) {
        guard let client = known.first(where: { $0.client?.host.name == packet.from })?.client else { return }
        if client.host.openTransports != 1 { client.fault("it dials, and has \(client.host.openTransports) connections") }
        if case .connecting = client.link.status {} else { client.fault("it dials while it is \(client.link.status)") }
        // What is sent again is no new connection.
        guard streams[packet.connection] == nil else { return }
        if let last = latest.updateValue(packet.connection, forKey: client.index) { streams[last]?.isFollowed(in: ledger) }
        ledger.clients[client.index].dials(at: client.world.now)
        streams[packet.connection] =
            if let protection {
                ProtectedStream(of: client.index, ledger, behind: protection.encryptedHandshakeRecords)
            } else {
                PlainStream()
            }
    }
}

/// What goes over one connection, as it is seen from without.
private protocol WatchedStream {
    mutating func sees(_ packet: SimulatedPacket, in ledger: Ledger)
    /// The client dials again, so this connection is over.
    mutating func isFollowed(in ledger: Ledger)
}

/// Without TLS: the first bytes tell the encoder that has written them.
private struct PlainStream: WatchedStream {
    private var bytes: [UInt8] = []
    private var known: Int?

    mutating func sees(_ packet: SimulatedPacket, in ledger: Ledger) {
        guard packet.isFromDialer else { return }
        if known == nil {
            if packet.offset <= bytes.count { bytes += packet.bytes.dropFirst(bytes.count - packet.offset) }
            known = PostCodec.writer(of: Bytes(bytes))
        }
        if let known { ledger.sees(packet.offset + packet.bytes.count, of: known) }
    }

    mutating func isFollowed(in ledger: Ledger) {}
}

/// With TLS: the heads of records tell how much is in them, and the only encoder that the client has made since it dialled has written it.
private struct ProtectedStream: WatchedStream {
    private let client: Int
    private let writersBefore: Int
    private var writer: Int?
    private var isOver = false
    /// Of the client, and of the server.
    private var records: RecordReader
    private var answers = RecordReader(handshakeRecords: 0)
    /// The hosts that have ended their sides.
    private var ended: Set<String> = []

    init(of client: Int, _ ledger: Ledger, behind handshakeRecords: Int) {
        self.client = client
        writersBefore = ledger.clients[client].latestWriter
        records = RecordReader(handshakeRecords: handshakeRecords)
    }

    mutating func sees(_ packet: SimulatedPacket, in ledger: Ledger) {
        let complaint =
            packet.isFromDialer
            ? records.read(packet.bytes, at: packet.offset) : answers.read(packet.bytes, at: packet.offset)
        if let complaint { ledger.fault("from \(packet.from) to \(packet.to): \(complaint)") }
        findWriter(in: ledger)
        if let writer { ledger.sees(records.plainBytes, of: writer) }
        // An end that is sent again may be one of a process that was killed.
        guard packet.isEnd, ended.insert(packet.from).inserted else { return }
        if writer != nil, ledger.isWeatherGood, !(packet.isFromDialer ? records : answers).endsWell {
            ledger.fault("\(packet.from) ends its side of connection \(packet.connection) without close_notify")
        }
    }

    mutating func isFollowed(in ledger: Ledger) {
        findWriter(in: ledger)
        isOver = true
        if writer == nil, !records.isEmpty { ledger.count("broken handshakes") }
    }

    private mutating func findWriter(in ledger: Ledger) {
        let latest = ledger.clients[client].latestWriter
        if writer == nil, !isOver, latest > writersBefore { writer = latest }
    }
}

/// Reads the heads of TLS 1.3 records (RFC 8446, 5.1), which anybody can.
private struct RecordReader {
    /// Records of data that belong to the handshake still.
    private var handshakeRecords: Int
    private var offset = 0
    private var head: [UInt8] = []
    /// Of the record's body: what has come, and how long it is.
    private var come = 0
    private var length = 0
    private var complete = 0

    private static let headByteCount = 5
    /// The inner type and the tag.
    private static let overhead = 17
    private static let alertByteCount = 2 + overhead

    init(handshakeRecords: Int) { self.handshakeRecords = handshakeRecords }

    var isEmpty: Bool { offset == 0 }
    /// Whether the last record was an alert (close_notify is one), or the last one is cut, behind which there can't be any.
    private(set) var endsWell = false

    /// Bytes of data in what was seen, those of a record that isn't complete counted as they are.
    var plainBytes: Int { complete + (isData ? come : 0) }

    private var isData: Bool { head.first == 23 && handshakeRecords == 0 && length != Self.alertByteCount }

    /// What is wrong with bytes of the stream, seen once or more often.
    mutating func read(_ bytes: Bytes, at start: Int) -> String? {
        if start > offset { return "bytes \(offset)..<\(start) weren't seen" }
        var rest = bytes.dropFirst(offset - start)
        offset += rest.count
        if !rest.isEmpty { endsWell = true }
        while !rest.isEmpty {
            while head.count < Self.headByteCount, let byte = rest.popFirst() { head.append(byte) }
            guard head.count == Self.headByteCount else { break }
            length = Int(head[3]) << 8 | Int(head[4])
            guard (20...23).contains(head[0]), head[1] == 3, length <= 16_384 + 256 else { return "plain text on the wire: \(head)" }
            let part = min(length - come, rest.count)
            come += part
            rest = rest.dropFirst(part)
            if come == length { endRecord() }
        }
        return nil
    }

    private mutating func endRecord() {
        endsWell = head[0] == 21 || length == Self.alertByteCount
        if isData { complete += length - Self.overhead }
        if head[0] == 23, handshakeRecords > 0 { handshakeRecords -= 1 }
        head = []
        come = 0
        length = 0
    }
}
