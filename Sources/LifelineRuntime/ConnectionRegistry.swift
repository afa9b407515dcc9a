import LifelineCore

/// The live connections of a server, in order of arrival.
///
/// The proof behind `@unchecked`: everything is guarded by `lock`.
final class ConnectionRegistry<C: Codec>: @unchecked Sendable {
    struct Entry {
        let id: UInt64
        /// Nil once it is gone.
        var core: StreamCore?
        /// Nil while the handshake goes on, and once it is gone.
        var connection: Connection<C>?
        var isGone: Bool { core == nil }
    }

    private let lock = Lock()
    private var entries: [Entry] = []
    private var nextID: UInt64 = 0
    private var goneCount = 0

    var connections: [Connection<C>] { lock.withLock { entries.compactMap(\.connection) } }
    var cores: [StreamCore] { lock.withLock { entries.compactMap(\.core) } }
    /// Those that aren't gone.
    var present: [Entry] { lock.withLock { entries.filter { !$0.isGone } } }
    var count: Int { lock.withLock { entries.count - goneCount } }

    /// Adds a connection if fewer than `maximum` are there; nil if not.
    func add(_ core: StreamCore, _ connection: Connection<C>?, maximum: Int) -> UInt64? {
        lock.withLock {
            guard entries.count - goneCount < maximum else { return nil }
            nextID += 1
            entries.append(Entry(id: nextID, core: core, connection: connection))
            return nextID
        }
    }

    func set(_ connection: Connection<C>, for id: UInt64) {
        lock.withLock {
            if let place = place(of: id) { entries[place].connection = connection }
        }
    }

    /// The connection, unless its handshake still goes on.
    func connection(_ id: UInt64) -> Connection<C>? { lock.withLock { place(of: id).flatMap { entries[$0].connection } } }

    /// Removes the connection and returns how many are left.
    func remove(_ id: UInt64) -> Int {
        var released: (connection: Connection<C>?, core: StreamCore?) = (nil, nil)
        lock.lock()
        if let place = place(of: id), !entries[place].isGone {
            released.connection = entries[place].connection
            released.core = entries[place].core
            entries[place].connection = nil
            entries[place].core = nil
            goneCount += 1
            // Taken out in bulk, so that one removal costs little however many connections there are.
            if goneCount > 32, goneCount * 2 > entries.count {
                entries.removeAll(where: \.isGone)
                goneCount = 0
            }
        }
        let left = entries.count - goneCount
        lock.unlock()
        withExtendedLifetime(released) {}
        return left
    }

    /// Identifiers only grow, so the array is sorted by them. Under the lock.
    private func place(of id: UInt64) -> Int? {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }
}
