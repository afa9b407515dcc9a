import CLifelineTLS
import COpenSSL
import LifelineCore
import LifelineRuntime

/// A session of a client's that can be gone on with.
final class TLSSession: @unchecked Sendable {  // OpenSSL's object is this one's own: only copies of it are used, and it never changes.
    let pointer: OpaquePointer
    /// When certificates were last looked at, in a whole handshake: in seconds since 1970, as all times here.
    let handshakeTime: Int64
    /// Until when the peer's certificate is valid.
    let expiry: Int64

    /// Nobody goes on with a session for longer without a look at certificates, however often it was renewed: 24 hours.
    static let longestAge = Int64(LLT_LONGEST_SESSION)

    /// - Parameter handshakeTime: nil for a session of a whole handshake, which has just been made.
    init(owning pointer: OpaquePointer, handshakeTime: Int64? = nil) {
        self.pointer = pointer
        self.handshakeTime = handshakeTime ?? Int64(SSL_SESSION_get_time(pointer))
        expiry = SSL_SESSION_get0_peer(pointer).map { TLSCertificate.seconds(X509_get0_notAfter($0)) } ?? 0
    }

    deinit { SSL_SESSION_free(pointer) }

    /// A ticket of TLS 1.3 is used once, so that nobody can tell two connections to be the same client's (RFC 8446, C.4).
    var isForOneUse: Bool { SSL_SESSION_get_protocol_version(pointer) >= TLSVersion.tls13.rawValue }

    /// Whether its handshake isn't too long ago and the peer's certificate still valid. A clock that was put back counts as too old: nobody
    /// knows by how much.
    func isFresh(at now: Int64) -> Bool { handshakeTime <= now && now - handshakeTime < Self.longestAge && now < expiry }

    /// The time by OpenSSL's clock, which is the one that certificates are verified by.
    static var now: Int64 { TLSCertificate.seconds(nil) }

    /// Without a session, or the memory for it, the handshake is a whole one.
    func offer(by ssl: OpaquePointer) {
        guard let copy = SSL_SESSION_dup(pointer) else { return ERR_clear_error() }
        SSL_set_session(ssl, copy)
        SSL_SESSION_free(copy)
    }
}

/// A client's sessions, by server. It holds a bounded number; what wasn't used for longest goes first.
final class SessionCache: @unchecked Sendable {  // All its state is guarded by `lock`.
    struct Key: Hashable {
        let name: PeerName
        let port: UInt16?
    }

    private struct Entry {
        /// The newest last.
        var sessions: [TLSSession]
        var lastUse: UInt64
    }

    static let mostKeys = 256
    static let mostSessionsOfKey = 4

    /// Guards `entries` and `uses`.
    private let lock = Lock()
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0

    func keep(_ session: TLSSession, for key: Key) {
        guard session.isFresh(at: TLSSession.now) else { return }
        // What goes is freed behind the lock.
        var dropped: [TLSSession] = []
        lock.withLock {
            uses &+= 1
            if entries[key] == nil, entries.count >= Self.mostKeys, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
                dropped = oldest.value.sessions
                entries[oldest.key] = nil
            }
            var entry = entries.removeValue(forKey: key) ?? Entry(sessions: [], lastUse: uses)
            // One that can be used again replaces all before it.
            let most = session.isForOneUse ? Self.mostSessionsOfKey : 1
            while entry.sessions.count >= most { dropped.append(entry.sessions.removeFirst()) }
            entry.sessions.append(session)
            entry.lastUse = uses
            entries[key] = entry
        }
        withExtendedLifetime(dropped) {}
    }

    /// The newest session with a server that is fresh.
    ///
    /// - Parameter now: in seconds since 1970.
    func session(for key: Key, at now: Int64 = TLSSession.now) -> TLSSession? {
        // What goes is freed behind the lock.
        var stale: [TLSSession] = []
        let session = lock.withLock { () -> TLSSession? in
            uses &+= 1
            guard var entry = entries.removeValue(forKey: key) else { return nil }
            while let session = entry.sessions.last, !session.isFresh(at: now) {
                stale.append(session)
                entry.sessions.removeLast()
            }
            guard let session = entry.sessions.last else { return nil }
            if session.isForOneUse { entry.sessions.removeLast() }
            entry.lastUse = uses
            if !entry.sessions.isEmpty { entries[key] = entry }
            return session
        }
        withExtendedLifetime(stale) {}
        return session
    }

    /// The number of sessions that it holds.
    var count: Int { lock.withLock { entries.values.reduce(0) { $0 + $1.sessions.count } } }
}
