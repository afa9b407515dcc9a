/// The messages that wait for a connection, unencoded and in order. A value: what happens to them comes out.
package struct OfflineQueue<Element> {
    private struct Entry {
        let id: UInt64
        /// Nil once it is gone.
        var element: Element?
        let key: AnyHashable?
        let expires: Duration?
    }

    private let limit: Int
    private let makesRoom: Bool
    /// In order of their numbers; none while nothing waits.
    private var entries: [Entry] = []
    /// The first that isn't gone: those before it are.
    private var head = 0
    private var nextID: UInt64 = 1
    private var byKey: [AnyHashable: UInt64] = [:]
    /// The first one, while it is being encoded: it can't be taken back then. It stands here and not in its place.
    private var leaving: Entry?

    package private(set) var count = 0

    /// - Parameters:
    ///   - limit: how many may wait.
    ///   - makesRoom: beyond that the oldest goes; else the newcomer is refused.
    package init(limit: Int, makesRoom: Bool = false) {
        self.limit = limit
        self.makesRoom = makesRoom
    }

    package var isEmpty: Bool { count == 0 }

    /// Adds an element at the back and returns its number; nil if there is no room.
    ///
    /// - Parameters:
    ///   - key: an older element with the same key goes.
    ///   - expires: the moment from which on it isn't to be sent.
    ///   - isLimited: false lets it in beyond the limit.
    ///   - dropped: gets the elements that had to go for it.
    package mutating func add(
        _ element: Element, key: AnyHashable? = nil, expires: Duration? = nil, isLimited: Bool = true, dropped: inout [Element]
    ) -> UInt64? {
        if let key, let older = byKey[key], let taken = remove(older) {
            dropped.append(taken)
        } else if isLimited, count >= limit {
            guard makesRoom, limit > 0 else { return nil }
            // If that is none, the only one is on its way out.
            if head < entries.count, let taken = remove(entries[head].id) { dropped.append(taken) }
        }
        compact()
        let id = nextID
        nextID += 1
        entries.append(Entry(id: id, element: element, key: key, expires: expires))
        count += 1
        if let key { byKey[key] = id }
        return id
    }

    /// The first element that is still good, to be encoded now: it can't be taken back until ``endFirst(isGone:)``, which has to follow.
    ///
    /// - Parameter expired: gets those before it whose time was over.
    package mutating func beginFirst(now: Duration, expired: inout [Element]) -> Element? {
        while head < entries.count {
            let entry = entries[head]
            guard let expires = entry.expires, expires <= now else {
                leaving = entry
                entries[head].element = nil
                skipGone()
                return entry.element
            }
            if let taken = remove(entry.id) { expired.append(taken) }
        }
        return nil
    }

    /// The first element was encoded (or can't ever be), or else stays the first.
    package mutating func endFirst(isGone: Bool) {
        guard let entry = leaving else { return }
        leaving = nil
        if isGone {
            hasGone(entry)
        } else if head > 0 {
            head -= 1
            entries[head] = entry
        } else {
            entries.insert(entry, at: 0)
        }
    }

    /// Whether the element is just being encoded.
    package func isLeaving(_ id: UInt64) -> Bool { id == leaving?.id }

    /// Takes an element back; nil if it isn't there any more or is just being encoded.
    package mutating func remove(_ id: UInt64) -> Element? {
        guard let place = place(of: id), let element = entries[place].element else { return nil }
        entries[place].element = nil
        if place == head { skipGone() }
        hasGone(entries[place])
        return element
    }

    /// Takes everything back.
    package mutating func removeAll() -> [Element] {
        var all = entries[head...].compactMap(\.element)
        if let first = leaving?.element { all.insert(first, at: 0) }
        entries = []
        head = 0
        byKey = [:]
        leaving = nil
        count = 0
        return all
    }

    private mutating func hasGone(_ entry: Entry) {
        if let key = entry.key, byKey[key] == entry.id { byKey[key] = nil }
        count -= 1
        if count > 0 { return }
        entries.removeAll(keepingCapacity: entries.capacity <= 64)
        head = 0
    }

    private mutating func skipGone() {
        while head < entries.count, entries[head].element == nil { head += 1 }
    }

    /// Forgets those that are gone, in bulk, so that one costs little however many there are.
    private mutating func compact() {
        guard entries.count > 32, entries.count > 2 * count else { return }
        entries.removeAll { $0.element == nil }
        head = 0
    }

    private func place(of id: UInt64) -> Int? {
        var low = head
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].id == id ? low : nil
    }
}
