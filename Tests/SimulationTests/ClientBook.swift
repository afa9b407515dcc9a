import LifelineCore
import LifelineRuntime

/// What a ledger knows of one client.
struct ClientBook {
    /// What its sender was told of a chat note.
    enum Fate {
        /// `send` hasn't returned.
        case open
        /// `send` has returned: it was accepted, or kept.
        case accepted
        /// `send` has thrown: it is never sent.
        case refused(String)
        case followed(SendReceipt)
    }

    /// Its own verdict on the server that it has dialled.
    enum Verdict { case notAsked, due, given }

    struct Chat {
        var fate = Fate.open
        /// It isn't to be sent later.
        var expires: Duration?
        /// The encoder that has written it, and its place there.
        var written: (writer: Int, place: Int)?
        var hasArrived = false
    }

    let index: Int
    var latestWriter = -1
    /// It has to log in on each connection.
    var registers = false
    var isRegistering = false
    var verdict = Verdict.notAsked
    /// When it has dialled again behind a verdict.
    private(set) var lastRedial: Duration?
    /// Of its sockets.
    var sendBuffer = 65_536
    /// Its decoders, one for each connection.
    var readers: [Int] = []
    /// Those of connections that were up.
    var connected: Set<Int> = []

    /// Letters that the registrations, the reader of the messages and that of the subscription got.
    var registered: Set<Letter> = []
    var received: [Letter] = []
    var subscribed: [Letter] = []

    /// Decoded for the user and not taken.
    var unread = 0
    var mostUnread = Int.max
    /// Each connection may add one to a full inbox: the next note for its registration.
    var connectionsSinceTaken = 0

    private(set) var chats: [Chat] = []
    private var latestChat = -1
    var requestsDue: Set<Int32> = []

    init(index: Int) { self.index = index }

    var limit: Int { mostUnread == .max ? .max : mostUnread + connectionsSinceTaken }

    /// A connection has begun.
    mutating func begins(_ reader: Int) {
        readers.append(reader)
        connectionsSinceTaken += 1
    }

    /// A connection is asked for.
    mutating func dials(at now: Duration) {
        if verdict == .given { (verdict, lastRedial) = (.due, now) }
    }

    /// Somebody has taken a letter.
    mutating func takes() {
        unread -= 1
        connectionsSinceTaken = 0
    }

    /// The number of a new chat note.
    mutating func newChat(expires: Duration?) -> Int32 {
        chats.append(Chat(expires: expires))
        return Int32(chats.count - 1)
    }

    mutating func tell(_ number: Int32, _ fate: Fate) { chats[Int(number)].fate = fate }

    /// What is wrong with the moment at which it writes `note`.
    func complaint(about note: Note, at place: Int) -> String? {
        if verdict == .due { return "\(note.kind) was sent before the verdict on the server" }
        if note.kind == .pong || !registers { return nil }
        if place == 0 { return note.kind == .login ? nil : "\(note.kind) was sent before the login" }
        return isRegistering ? "\(note.kind) was sent in the registration" : nil
    }

    mutating func writesChat(_ number: Int32, by writer: Int, at place: Int, now: Duration) -> String? {
        let number = Int(number)
        let chat = chats[number]
        chats[number].written = (writer, place)
        defer { latestChat = max(latestChat, number) }
        if chat.written != nil { return "chat \(number) was sent twice" }
        if number < latestChat { return "chat \(number) was sent behind \(latestChat)" }
        if let expires = chat.expires, now > expires { return "chat \(number) was sent at \(now), and was good until \(expires)" }
        switch chat.fate {
        case .refused(let why): return "chat \(number) was sent after \(why)"
        case .followed(let receipt): if let outcome = receipt.settled { return "chat \(number) was sent after \(outcome)" }
        case .open, .accepted: break
        }
        return nil
    }

    mutating func chatArrived(_ number: Int32) -> String? {
        let number = Int(number)
        defer { chats[number].hasArrived = true }
        if chats[number].hasArrived { return "chat \(number) has arrived twice" }
        return nil
    }

    /// At the end, when the link was stopped: what was told and isn't so.
    ///
    /// - Parameter taken: whether the kernel can have taken what an encoder has written at a place.
    func falseFates(taken: (_ writer: Int, _ place: Int) -> Bool) -> [String] {
        var complaints: [String] = []
        for (number, chat) in chats.enumerated() {
            switch chat.fate {
            case .open: complaints.append("send of chat \(number) has never returned")
            case .accepted: break
            case .refused(let why):
                // One that was encoded as the connection ended is lost, and so never sent, too.
                if chat.hasArrived || chat.written != nil && !why.hasPrefix("closed") {
                    complaints.append("chat \(number) was sent, and its sender was told \(why)")
                }
            case .followed(let receipt):
                switch receipt.settled {
                case nil: complaints.append("it was never told what became of chat \(number)")
                case .written?:
                    guard let place = chat.written else {
                        complaints.append("chat \(number) was never sent, and told to be written")
                        break
                    }
                    if !taken(place.writer, place.place) {
                        complaints.append("chat \(number) was told to be written, and no kernel had it")
                    }
                case .neverSent(let error)?:
                    if chat.hasArrived { complaints.append("chat \(number) has arrived, and was told to be never sent: \(error)") }
                }
            }
        }
        return complaints
    }
}
