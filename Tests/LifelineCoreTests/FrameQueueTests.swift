import LifelineCore
import Testing

/// Counts the frames that are alive.
private final class Counter: @unchecked Sendable {  // Used by one test on one thread.
    var alive = 0
}

private final class Frame {
    let counter: Counter
    let number: Int

    init(_ number: Int, _ counter: Counter) {
        self.number = number
        self.counter = counter
        counter.alive += 1
    }

    deinit { counter.alive -= 1 }
}

@Suite("FrameQueue")
struct FrameQueueTests {
    @Test("first in, first out, and every frame is let go once", arguments: 0..<20 as Range<UInt64>)
    func order(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        let counter = Counter()
        do {
            var queue = FrameQueue<Frame>()
            var pushed = 0
            var popped = 0
            for _ in 0..<2_000 {
                switch Int.random(in: 0..<20, using: &generator) {
                case 0..<5:
                    queue.append(Frame(pushed, counter))
                    pushed += 1
                case 19:
                    queue.recycle()
                case 18:
                    var other = FrameQueue<Frame>()
                    let skipped = Int.random(in: 0...3, using: &generator)
                    for number in 0..<skipped { other.append(Frame(number, counter)) }
                    for _ in 0..<Int.random(in: 0...40, using: &generator) {
                        other.append(Frame(pushed, counter))
                        pushed += 1
                    }
                    for _ in 0..<skipped { _ = other.popFirst() }
                    queue.append(contentsOf: &other)
                    let rest = other.count
                    #expect(rest == 0)
                default:
                    let frame = queue.popFirst()
                    #expect((frame == nil) == (pushed == popped))
                    if let frame {
                        #expect(frame.number == popped)
                        popped += 1
                    }
                }
                let count = queue.count
                let isEmpty = queue.isEmpty
                #expect(count == pushed - popped)
                #expect(isEmpty == (count == 0))
                #expect(counter.alive == count)
            }
        }
        #expect(counter.alive == 0)
    }

    @Test("takeAll() leaves nothing")
    func takesAll() {
        let counter = Counter()
        do {
            var queue = FrameQueue<Frame>()
            for number in 0..<9 { queue.append(Frame(number, counter)) }
            _ = queue.popFirst()
            let all = queue.takeAll()
            #expect(all.map(\.number) == Array(1..<9))
            let isEmpty = queue.isEmpty
            #expect(isEmpty)
            let none = queue.takeAll()
            #expect(none.isEmpty)
            withExtendedLifetime(all) { #expect(counter.alive == 8) }
            queue.recycle()
            queue.append(Frame(9, counter))
        }
        #expect(counter.alive == 0)
    }

    @Test("frames move from one queue behind those of another")
    func moves() {
        let counter = Counter()
        do {
            var first = FrameQueue<Frame>()
            var second = FrameQueue<Frame>()
            for number in 0..<3 { first.append(Frame(number, counter)) }
            for number in 3..<9 { second.append(Frame(number, counter)) }
            first.append(contentsOf: &second)
            let rest = second.isEmpty
            #expect(rest)
            let numbers = first.takeAll().map(\.number)
            #expect(numbers == Array(0..<9))
        }
        #expect(counter.alive == 0)
    }

    @Test("an empty queue lets go of nothing")
    func empty() {
        var queue = FrameQueue<Frame>()
        queue.recycle()
        let frame = queue.popFirst()
        #expect(frame == nil)
    }
}
