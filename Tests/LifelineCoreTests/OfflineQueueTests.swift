import LifelineCore
import Testing

@Suite("What waits for a connection")
struct OfflineQueueTests {
    /// Takes all that is left, as a connection does.
    private func drain(_ queue: inout OfflineQueue<Int>, now: Duration = .zero) -> (sent: [Int], expired: [Int]) {
        var (sent, expired): ([Int], [Int]) = ([], [])
        while let element = queue.beginFirst(now: now, expired: &expired) {
            sent.append(element)
            queue.endFirst(isGone: true)
        }
        return (sent, expired)
    }

    @Test("C77: in order, up to the limit, and the next is refused")
    func keep() {
        var queue = OfflineQueue<Int>(limit: 3)
        var dropped: [Int] = []
        #expect((1...4).map { queue.add($0, dropped: &dropped) != nil } == [true, true, true, false])
        #expect(queue.add(5, isLimited: false, dropped: &dropped) != nil)
        #expect(drain(&queue).sent == [1, 2, 3, 5] && dropped == [] && queue.isEmpty)
        #expect(queue.add(6, dropped: &dropped) != nil)
        #expect(drain(&queue).sent == [6])
    }

    @Test("the oldest makes room, but not the one that is just being encoded")
    func dropOldest() {
        var queue = OfflineQueue<Int>(limit: 2, makesRoom: true)
        var dropped: [Int] = []
        for number in 1...3 { _ = queue.add(number, dropped: &dropped) }
        #expect(dropped == [1])
        var expired: [Int] = []
        #expect(queue.beginFirst(now: .zero, expired: &expired) == 2)
        _ = queue.add(4, dropped: &dropped)
        #expect(dropped == [1, 3])
        queue.endFirst(isGone: false)
        #expect(drain(&queue).sent == [2, 4])
        var none = OfflineQueue<Int>(limit: 0, makesRoom: true)
        #expect(none.add(1, dropped: &dropped) == nil)
    }

    @Test("the latest value per key, in its own place in the order, and no memory of the others")
    func latest() {
        var queue = OfflineQueue<Int>(limit: 2)
        var dropped: [Int] = []
        _ = queue.add(0, key: "a", dropped: &dropped)
        for number in 1...1000 {
            #expect(queue.add(number, key: "b", dropped: &dropped) != nil)
        }
        #expect(queue.add(7, key: "c", dropped: &dropped) == nil)
        _ = queue.add(1001, key: "a", dropped: &dropped)
        #expect(dropped.count == 1000 && queue.count == 2)
        #expect(drain(&queue).sent == [1000, 1001])
        #expect(queue.add(1, key: "b", dropped: &dropped) != nil && dropped.count == 1000)
    }

    @Test("the latest value has its older one's room also where more wait than may")
    func latestBeyondTheLimit() {
        var queue = OfflineQueue<Int>(limit: 1)
        var dropped: [Int] = []
        for (number, key) in [(1, "a"), (2, "b")] { _ = queue.add(number, key: key, isLimited: false, dropped: &dropped) }
        #expect(queue.add(3, key: "a", dropped: &dropped) != nil)
        #expect(dropped == [1])
        #expect(queue.add(4, key: "c", dropped: &dropped) == nil && dropped == [1])
        #expect(drain(&queue).sent == [2, 3])
    }

    @Test("the only one is just being encoded: the newest has room all the same")
    func newestBesideTheFirst() {
        var queue = OfflineQueue<Int>(limit: 1, makesRoom: true)
        var dropped: [Int] = []
        _ = queue.add(1, dropped: &dropped)
        var expired: [Int] = []
        #expect(queue.beginFirst(now: .zero, expired: &expired) == 1)
        #expect(queue.add(2, dropped: &dropped) != nil)
        #expect(queue.add(3, dropped: &dropped) != nil)
        queue.endFirst(isGone: false)
        #expect(dropped == [2] && drain(&queue).sent == [1, 3])
    }

    @Test("one that makes room costs the same however many wait", .timeLimit(.minutes(1)))
    func dropMany() {
        var queue = OfflineQueue<Int>(limit: 50_000, makesRoom: true)
        var dropped: [Int] = []
        for number in 0..<150_000 { _ = queue.add(number, dropped: &dropped) }
        #expect(dropped == Array(0..<100_000))
        #expect(drain(&queue).sent == Array(100_000..<150_000))
    }

    @Test("C77: a cancelled message isn't sent later; one that is being encoded can't be cancelled")
    func cancelled() {
        var queue = OfflineQueue<Int>(limit: 9)
        var dropped: [Int] = []
        let ids = (1...3).compactMap { queue.add($0, dropped: &dropped) }
        #expect(queue.remove(ids[1]) == 2 && queue.remove(ids[1]) == nil)
        var expired: [Int] = []
        #expect(queue.beginFirst(now: .zero, expired: &expired) == 1)
        #expect(queue.remove(ids[0]) == nil && !queue.isEmpty)
        queue.endFirst(isGone: false)
        #expect(queue.remove(ids[0]) == 1)
        #expect(drain(&queue).sent == [3])
        #expect(queue.remove(ids[2]) == nil && queue.remove(99) == nil)
    }

    @Test("a message that has waited too long isn't sent")
    func expired() {
        var queue = OfflineQueue<Int>(limit: 9)
        var dropped: [Int] = []
        _ = queue.add(1, expires: .seconds(5), dropped: &dropped)
        _ = queue.add(2, dropped: &dropped)
        _ = queue.add(3, expires: .seconds(6), dropped: &dropped)
        let (sent, expired) = drain(&queue, now: .seconds(5))
        #expect(sent == [2, 3] && expired == [1])
    }

    @Test("the first stays the first when it wasn't encoded, whatever happens to the others meanwhile")
    func leaving() {
        for removed in [[], [2], [2, 3], [2, 3, 4]] {
            var queue = OfflineQueue<Int>(limit: 100)
            var dropped: [Int] = []
            let ids = (1...4).compactMap { queue.add($0, key: $0, dropped: &dropped) }
            var expired: [Int] = []
            #expect(queue.beginFirst(now: .zero, expired: &expired) == 1 && queue.count == 4)
            #expect(queue.isLeaving(ids[0]) && !queue.isLeaving(ids[1]))
            for number in removed { #expect(queue.remove(ids[number - 1]) == number) }
            // It takes the key's place when the first has gone; the first itself can't be had back.
            _ = queue.add(5, key: 1, dropped: &dropped)
            for number in 6...50 { _ = queue.add(number, dropped: &dropped) }
            #expect(dropped == [])
            queue.endFirst(isGone: false)
            #expect(drain(&queue).sent == (1...50).filter { !removed.contains($0) })
            #expect(queue.isEmpty)
        }
        var queue = OfflineQueue<Int>(limit: 100)
        var (dropped, expired): ([Int], [Int]) = ([], [])
        for number in 1...3 { _ = queue.add(number, dropped: &dropped) }
        _ = queue.beginFirst(now: .zero, expired: &expired)
        #expect(queue.removeAll() == [1, 2, 3])
        queue.endFirst(isGone: false)
        #expect(queue.isEmpty && drain(&queue).sent == [])
    }

    @Test("as a list does it, whatever is done in whatever order", arguments: 1...200 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var numbers = Numbers(seed)
        let limit = Int.random(in: 1...80, using: &numbers)
        let makesRoom = Bool.random(using: &numbers)
        var queue = OfflineQueue<Int>(limit: limit, makesRoom: makesRoom)
        var list: [(id: UInt64, element: Int)] = []
        var isLeaving = false
        var (dropped, expired): ([Int], [Int]) = ([], [])
        for step in 0..<500 {
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0..<5:
                dropped = []
                let id = queue.add(step, dropped: &dropped)
                if list.count >= limit {
                    let oldest = isLeaving ? 1 : 0
                    guard makesRoom else {
                        #expect(id == nil)
                        continue
                    }
                    // The only one is on its way out, or else the oldest goes.
                    #expect(dropped == (oldest < list.count ? [list.remove(at: oldest).element] : []))
                }
                list.append((id ?? 0, step))
            case 5, 6:
                guard let place = list.indices.randomElement(using: &numbers) else { continue }
                let taken = queue.remove(list[place].id)
                if isLeaving, place == 0 { #expect(taken == nil) } else { #expect(taken == list.remove(at: place).element) }
            case 7, 8:
                if isLeaving {
                    let isGone = Bool.random(using: &numbers)
                    queue.endFirst(isGone: isGone)
                    if isGone { list.removeFirst() }
                    isLeaving = false
                } else {
                    #expect(queue.beginFirst(now: .zero, expired: &expired) == list.first?.element)
                    isLeaving = !list.isEmpty
                }
            default: #expect(queue.count == list.count)
            }
        }
        #expect(queue.removeAll() == list.map(\.element))
    }

    @Test("a long queue costs no more per message than a short one", .timeLimit(.minutes(1)))
    func longQueue() {
        // Looking at all that has gone would take a thousand times as long.
        let count = 100_000
        var queue = OfflineQueue<Int>(limit: count, makesRoom: true)
        var dropped: [Int] = []
        for number in 0..<(3 * count) { _ = queue.add(number, dropped: &dropped) }
        #expect(dropped.count == 2 * count && queue.count == count)
        #expect(drain(&queue).sent.first == 2 * count)
    }

    @Test("everything is taken back")
    func removeAll() {
        var queue = OfflineQueue<Int>(limit: 100)
        var dropped: [Int] = []
        for number in 1...50 { _ = queue.add(number, key: number % 2 == 0 ? "even" : nil, dropped: &dropped) }
        #expect(queue.removeAll() == Array(stride(from: 1, through: 49, by: 2)) + [50])
        #expect(queue.isEmpty && drain(&queue).sent == [])
    }

    @Test("updates: the newest 64 are there, and the others are counted at the front")
    func statuses() {
        var queue = StatusQueue()
        #expect(queue.isEmpty && queue.popFirst() == nil)
        for attempt in 1...300 { queue.add(.connecting(attempt: attempt)) }
        #expect(queue.popFirst() == .skipped(300 - 64))
        #expect(queue.popFirst() == .connecting(attempt: 237))
        queue.add(.connected)
        var last: [LinkStatus] = []
        while let status = queue.popFirst() { last.append(status) }
        #expect(last.count == 64 && last.last == .connected && queue.isEmpty)
    }
}
