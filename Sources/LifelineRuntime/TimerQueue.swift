/// What a timer calls. Held weakly, so a timer keeps nothing alive.
package protocol LoopTimerTarget: AnyObject {
    /// The time has come. Called on the loop that the timer was armed on.
    func timerFired(_ timer: LoopTimer)
}

/// One timer of one event loop. Confined to it.
package final class LoopTimer {
    package weak var target: (any LoopTimerTarget)?
    /// No loop wakes up for it alone until ``TimerQueue/patience`` after its time.
    let isPatient: Bool
    /// Its place in the heap; -1 while it isn't armed.
    fileprivate var place = -1

    package init(_ target: any LoopTimerTarget, isPatient: Bool = false) {
        self.target = target
        self.isPatient = isPatient
    }

    package var isArmed: Bool { place >= 0 }
}

/// The timers of one loop. Those of the same moment fire in the order in which they were armed.
///
/// Patient ones stand apart, so that those of many connections share a wake-up: going to sleep and waking up costs several times what a
/// timer does.
package struct TimerQueue {
    /// How much later than its time a patient timer may be the reason to wake up.
    package static let patience = Duration.milliseconds(10)

    private var exact = TimerHeap()
    private var patient = TimerHeap()
    private var armedSoFar: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { exact.first == nil && patient.first == nil }
    package var count: Int { exact.count + patient.count }

    /// When the first timer is due.
    package var nextTime: LoopTime? {
        guard let exact = exact.first else { return patient.first?.time }
        return patient.first.map { min(exact.time, $0.time) } ?? exact.time
    }

    /// When a loop that sleeps has to wake up.
    package var wakeTime: LoopTime? {
        guard let patient = patient.first?.time.advanced(by: Self.patience) else { return exact.first?.time }
        return exact.first.map { min($0.time, patient) } ?? patient
    }

    /// Arms `timer`, or moves it if it is armed.
    package mutating func arm(_ timer: LoopTimer, at time: LoopTime) {
        armedSoFar += 1
        if timer.isPatient { patient.arm(timer, at: time, armedSoFar) } else { exact.arm(timer, at: time, armedSoFar) }
    }

    package mutating func disarm(_ timer: LoopTimer) {
        if timer.isPatient { patient.disarm(timer) } else { exact.disarm(timer) }
    }

    /// Takes the first timer that is due.
    package mutating func popDue(_ now: LoopTime) -> LoopTimer? {
        let isPatient = patient.first.map { patient in exact.first.map { patient.isBefore($0) } ?? true } ?? false
        guard let first = isPatient ? patient.first : exact.first, first.time <= now else { return nil }
        disarm(first.timer)
        return first.timer
    }
}

/// A binary heap in which each timer knows its place, so arming, moving and disarming cost O(log n) and no dead entries stay behind.
private struct TimerHeap {
    struct Entry {
        var time: LoopTime
        var order: UInt64
        var timer: LoopTimer

        func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : order < other.order }
    }

    private var heap: [Entry] = []

    var count: Int { heap.count }
    var first: Entry? { heap.first }

    mutating func arm(_ timer: LoopTimer, at time: LoopTime, _ order: UInt64) {
        let entry = Entry(time: time, order: order, timer: timer)
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

    mutating func disarm(_ timer: LoopTimer) {
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
