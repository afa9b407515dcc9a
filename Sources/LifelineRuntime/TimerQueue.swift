/// What a timer calls. Held weakly, so a timer keeps nothing alive.
package protocol LoopTimerTarget: AnyObject {
    /// The time has come. Called on the loop that the timer was armed on.
    func timerFired(_ timer: LoopTimer)
}

/// One timer of one event loop. Confined to it.
package final class LoopTimer {
    package weak var target: (any LoopTimerTarget)?
    /// Its place in the heap; -1 while it isn't armed.
    fileprivate var place = -1

    package init(_ target: any LoopTimerTarget) { self.target = target }

    package var isArmed: Bool { place >= 0 }
}

/// The timers of one loop: a binary heap in which each timer knows its place, so arming, moving and disarming cost O(log n) and no
/// dead entries stay behind. Timers of the same moment fire in the order in which they were armed.
package struct TimerQueue {
    private struct Entry {
        var time: LoopTime
        var order: UInt64
        var timer: LoopTimer

        func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : order < other.order }
    }

    private var heap: [Entry] = []
    private var armedSoFar: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { heap.isEmpty }
    package var count: Int { heap.count }
    package var nextTime: LoopTime? { heap.first?.time }

    /// Arms `timer`, or moves it if it is armed.
    package mutating func arm(_ timer: LoopTimer, at time: LoopTime) {
        armedSoFar += 1
        let entry = Entry(time: time, order: armedSoFar, timer: timer)
        if timer.place >= 0 {
            let place = timer.place
            heap[place] = entry
            siftUp(siftDown(place))
        } else {
            timer.place = heap.count
            heap.append(entry)
            siftUp(heap.count - 1)
        }
    }

    package mutating func disarm(_ timer: LoopTimer) {
        guard timer.place >= 0 else { return }
        let place = timer.place
        timer.place = -1
        let last = heap.removeLast()
        if place < heap.count {
            heap[place] = last
            last.timer.place = place
            siftUp(siftDown(place))
        }
    }

    /// Takes the first timer that is due.
    package mutating func popDue(_ now: LoopTime) -> LoopTimer? {
        guard let first = heap.first, first.time <= now else { return nil }
        disarm(first.timer)
        return first.timer
    }

    private mutating func siftUp(_ start: Int) {
        var place = start
        let entry = heap[place]
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry.isBefore(heap[parent]) else { break }
            put(heap[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    /// Moves the entry down and returns where it ended.
    private mutating func siftDown(_ start: Int) -> Int {
        var place = start
        let entry = heap[place]
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(entry) else { break }
            put(heap[child], at: place)
            place = child
        }
        put(entry, at: place)
        return place
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        heap[place] = entry
        entry.timer.place = place
    }
}
