/// Items by their deadlines, the earliest first; of equal ones in the order in which they came.
///
/// Nothing is taken out before its time: whoever finds an item that no longer matters passes over it, and ``removeAll(where:)`` clears
/// out when there are too many of them. So an item costs O(log n) once, whether its deadline comes or not.
package struct DeadlineHeap<Time: Comparable, Item> {
    fileprivate struct Entry {
        let time: Time
        let order: UInt64
        let item: Item

        func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : order < other.order }
    }

    private var heap: [Entry] = []
    private var added: UInt64 = 0

    package init() {}

    package var count: Int { heap.count }
    package var earliest: Time? { heap.first?.time }

    package mutating func add(_ item: Item, at time: Time) {
        added &+= 1
        heap.append(Entry(time: time, order: added, item: item))
        siftUp(heap.count - 1)
    }

    /// Takes the first item whose deadline is `now` or earlier.
    package mutating func popDue(_ now: Time) -> Item? {
        guard let first = heap.first, first.time <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown(0)
        }
        return first.item
    }

    package mutating func removeAll() { heap = [] }

    package mutating func removeAll(where isDead: (Item) -> Bool) {
        heap.removeAll { isDead($0.item) }
        for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(place) }
    }

    private mutating func siftUp(_ start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard heap[place].isBefore(heap[parent]) else { return }
            heap.swapAt(place, parent)
            place = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(heap[place]) else { return }
            heap.swapAt(place, child)
            place = child
        }
    }
}

extension DeadlineHeap: Sendable where Time: Sendable, Item: Sendable {}
extension DeadlineHeap.Entry: Sendable where Time: Sendable, Item: Sendable {}
