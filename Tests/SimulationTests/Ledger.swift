import LifelineCore
import LifelineTesting

/// Everything that was written, read and delivered in a simulation, and what was wrong with it.
///
/// The proof behind `@unchecked`: it is used in one simulation, whose loops share a thread.
final class Ledger: @unchecked Sendable {
    struct Writer {
        let side: Side
        var notes: [Note] = []
        /// Where each ends, in bytes from the start of the stream.
        var ends: [Int] = []
        /// So many bytes were seen on the wire.
        var seen = 0
        /// The decoder that reads what it has written.
        var reader: Int?
    }

    struct Reader {
        let side: Side
        /// The encoder that has written what it reads.
        var writer: Int?
        var letters: [Letter] = []
        /// Server: what its handler got.
        var delivered = 0
    }

    let world: World
    /// In words, with the time.
    private(set) var faults: [String] = []
    private(set) var writers: [Writer] = []
    private(set) var readers: [Reader] = []
    var clients: [ClientBook]
    /// Copies of each of the news that were written, by number.
    private(set) var newsWritten: [Int32: Int] = [:]
    /// Nothing breaks any more.
    var isWeatherGood = false
    /// Verdicts that servers have given on clients; nil if they are asked for none.
    var clientsMayTalk: Int?
    /// Encoders and decoders of servers that were used.
    private var (speakers, listeners) = (0, 0)
    /// For statistics.
    private(set) var tally: [String: Int] = [:]

    init(_ world: World, clients: Int) {
        self.world = world
        self.clients = (0..<clients).map { ClientBook(index: $0) }
    }

    func fault(_ text: @autoclosure () -> String) {
        guard faults.count < 12 else { return }
        faults.append("at \(world.now): \(text())")
        world.record("fault: \(text())")
    }

    func check(_ isRight: Bool, _ text: @autoclosure () -> String) {
        if !isRight { fault(text()) }
    }

    func count(_ what: String, _ number: Int = 1) { tally[what, default: 0] += number }
}

// Encoders and decoders.
extension Ledger {
    func newWriter(_ side: Side) -> Int {
        writers.append(Writer(side: side))
        if case .client(let client) = side { clients[client].latestWriter = writers.count - 1 }
        return writers.count - 1
    }

    func newReader(_ side: Side) -> Int {
        readers.append(Reader(side: side))
        if case .client(let client) = side {
            let book = clients[client]
            if let last = book.readers.last, !book.connected.contains(last) {
                // Its registration has failed, and what it hasn't read is gone.
                clients[client].unread -= readers[last].letters.count { $0.isForUser && !book.registered.contains($0) }
            }
            clients[client].begins(readers.count - 1)
        }
        return readers.count - 1
    }

    func writes(_ note: Note, by number: Int, at place: Int) {
        check(place == writers[number].notes.count, "encoder \(number) has written place \(place) twice, or left one out")
        writers[number].notes.append(note)
        writers[number].ends.append((writers[number].ends.last ?? 0) + PostCodec.size(of: note))
        switch writers[number].side {
        case .server:
            if place == 0 {
                speakers += 1
                check(speakers <= clientsMayTalk ?? .max, "a server sends \(note.kind) before its verdict on the client")
            }
            if note.kind == .news { newsWritten[note.number, default: 0] += 1 }
        case .client(let client):
            check(number == clients[client].latestWriter, "client \(client) has sent \(note.kind) over an older connection")
            if let complaint = clients[client].complaint(about: note, at: place) { fault("client \(client): \(complaint)") }
            if note.kind == .chat, let complaint = clients[client].writesChat(note.number, by: number, at: place, now: world.now) {
                fault("client \(client): \(complaint)")
            }
        }
    }

    /// Bytes of encoder `writer` are on their way.
    func sees(_ end: Int, of writer: Int) {
        if writers.indices.contains(writer) { writers[writer].seen = max(writers[writer].seen, end) }
    }

    func reads(_ letter: Letter) {
        let number = letter.reader
        if readers[number].writer == nil {
            readers[number].writer = letter.writer
            check(writers.indices.contains(letter.writer), "nobody is encoder \(letter.writer)")
            check(writers[letter.writer].reader == nil, "two connections have read what encoder \(letter.writer) wrote")
            writers[letter.writer].reader = number
        }
        check(readers[number].writer == letter.writer, "decoder \(number) has read notes of two connections")
        check(letter.place == readers[number].letters.count, "decoder \(number): place \(letter.place) is out of order")
        let written = writers[letter.writer].notes
        check(written.indices.contains(letter.place) && written[letter.place] == letter.note, "\(letter.note) wasn't written so")
        readers[number].letters.append(letter)
        switch readers[number].side {
        case .client(let client):
            check(clients[client].verdict != .due, "client \(client) has decoded a note before its verdict on the server")
            check(number == clients[client].readers.last, "client \(client) has decoded a note of an older connection")
            if letter.isForUser {
                clients[client].unread += 1
                let (unread, limit) = (clients[client].unread, clients[client].limit)
                check(unread <= limit, "client \(client): \(unread) notes wait for the reader, \(limit) may")
            }
        case .server:
            if letter.place == 0 {
                listeners += 1
                check(listeners <= clientsMayTalk ?? .max, "a server has decoded \(letter.note.kind) before its verdict on the client")
            }
            if letter.note.kind == .chat, let complaint = clients[Int(letter.note.client)].chatArrived(letter.note.number) {
                fault("client \(letter.note.client): \(complaint)")
            }
        }
    }

    /// A handler of the server got it.
    func served(_ letter: Letter) {
        let userLetters = readers[letter.reader].letters.lazy.filter(\.isForUser)
        let due = userLetters.dropFirst(readers[letter.reader].delivered).first
        check(due == letter, "a handler got \(letter.note), and \(due?.note.kind as Any) was due")
        readers[letter.reader].delivered += 1
    }

    /// A handler of the server has read to the end.
    func servedAll(of reader: Int) {
        let left = readers[reader].letters.count(where: \.isForUser) - readers[reader].delivered
        check(left == 0, "\(left) notes that were decoded didn't reach the handler of decoder \(reader)")
    }
}

// The end.
extension Ledger {
    /// That each client's readers got everything that was decoded for them, once and in order.
    func checkDeliveries() {
        for book in clients {
            var expected: [Letter] = []
            for number in book.readers {
                let letters = readers[number].letters.filter(\.isForUser)
                // A registration that failed takes what it hasn't read with it.
                expected += book.connected.contains(number) ? letters : letters.filter(book.registered.contains)
            }
            let delivered = Set(book.received).union(book.subscribed).union(book.registered)
            let total = book.received.count + book.subscribed.count + book.registered.count
            check(delivered.count == total, "client \(book.index): \(total - delivered.count) notes were delivered twice")
            let lost = expected.filter { !delivered.contains($0) }
            check(
                lost.isEmpty,
                "client \(book.index): \(lost.count) of \(expected.count) notes were decoded and lost, first \(lost.first as Any)")
            check(delivered.count <= expected.count, "client \(book.index): notes came out of a connection that wasn't up")
            for stream in [book.received, book.subscribed] {
                let isOrdered = zip(stream, stream.dropFirst()).allSatisfy { ($0.reader, $0.place) < ($1.reader, $1.place) }
                check(isOrdered, "client \(book.index): notes were delivered out of order")
            }
        }
    }

    /// That the fate of each chat note is what its sender was told.
    func checkFates() {
        for book in clients {
            let complaints = book.falseFates { writer, place in
                writers[writer].ends[place] <= writers[writer].seen + book.sendBuffer
            }
            for complaint in complaints { fault("client \(book.index): \(complaint)") }
            check(book.requestsDue.isEmpty, "client \(book.index): \(book.requestsDue.count) requests never ended")
        }
    }
}
