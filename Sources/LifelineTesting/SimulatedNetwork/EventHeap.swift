internal import LifelineRuntime

/// What will happen, by time; what happens at one moment does so in the order in which it was added.
struct EventHeap<Event> {
    private struct Entry {
        let time: LoopTime
        let order: UInt64
        let event: Event

        func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : order < other.order }
    }

    private var heap: [Entry] = []
    private var added: UInt64 = 0

    var nextTime: LoopTime? { heap.first?.time }

    mutating func add(_ event: Event, at time: LoopTime) {
        added += 1
        let entry = Entry(time: time, order: added, event: event)
        heap.append(entry)
        var place = heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry.isBefore(heap[parent]) else { break }
            heap.swapAt(place, parent)
            place = parent
        }
    }

    /// Takes the first event that is due.
    mutating func popDue(_ now: LoopTime) -> Event? {
        guard let first = heap.first, first.time <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(heap[place]) else { break }
            heap.swapAt(place, child)
            place = child
        }
        return first.event
    }
}
