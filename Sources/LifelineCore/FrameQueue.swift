/// The queue that the decode loop fills: frames move in at the back and out at the front, without a copy.
///
/// Public only because ``FrameDecoder`` names it; there is no need to use it.
///
/// What is always inlined needs no metadata of the queue's type where that isn't known, which would be looked up with each call.
public struct FrameQueue<Frame>: ~Copyable {
    @usableFromInline var slots: UnsafeMutablePointer<Frame>?
    @usableFromInline var capacity: Int
    @usableFromInline var head: Int
    @usableFromInline var tail: Int

    /// An empty queue; it takes no memory.
    @inlinable
    public init() {
        slots = nil
        capacity = 0
        head = 0
        tail = 0
    }

    deinit {
        if let slots {
            (slots + head).deinitialize(count: tail - head)
            slots.deallocate()
        }
    }

    /// The number of frames in it.
    @inlinable @inline(__always) public var count: Int { tail &- head }

    /// Whether there is none.
    @inlinable @inline(__always) public var isEmpty: Bool { tail == head }

    /// Adds a frame at the back.
    @inlinable
    public mutating func append(_ frame: consuming Frame) {
        if tail == capacity { makeRoom(for: 1) }
        (slots.unsafelyUnwrapped + tail).initialize(to: frame)
        tail &+= 1
    }

    /// Takes the frame at the front.
    @inlinable
    package mutating func popFirst() -> Frame? {
        if head == tail { return nil }
        let frame = (slots.unsafelyUnwrapped + head).move()
        head &+= 1
        return frame
    }

    /// Swaps the contents of two queues. (The generic `swap` would look the type up at run time.)
    @inlinable @inline(__always)
    package mutating func exchange(with other: inout FrameQueue<Frame>) {
        (slots, other.slots) = (other.slots, slots)
        (capacity, other.capacity) = (other.capacity, capacity)
        (head, other.head) = (other.head, head)
        (tail, other.tail) = (other.tail, tail)
    }

    /// Moves all frames of `other` behind this queue's.
    @inlinable @inline(__always)
    package mutating func append(contentsOf other: inout FrameQueue<Frame>) {
        let added = other.count
        guard added > 0 else { return }
        if capacity &- tail < added { makeRoom(for: added) }
        (slots.unsafelyUnwrapped + tail).moveInitialize(from: other.slots.unsafelyUnwrapped + other.head, count: added)
        tail &+= added
        other.head = 0
        other.tail = 0
    }

    /// Takes out those that `isTaken` picks; it sees each once, in order.
    package mutating func removeAll(where isTaken: (borrowing Frame) -> Bool) {
        guard let slots, head < tail else { return }
        var kept = head
        for place in head..<tail {
            if isTaken(slots[place]) {
                (slots + place).deinitialize(count: 1)
            } else {
                if kept < place { (slots + kept).moveInitialize(from: slots + place, count: 1) }
                kept += 1
            }
        }
        tail = kept
    }

    /// Takes everything.
    @inlinable
    package mutating func takeAll() -> [Frame] {
        var all: [Frame] = []
        all.reserveCapacity(count)
        while let frame = popFirst() { all.append(frame) }
        return all
    }

    /// Starts at the front again once empty, and gives the memory back if it is more than a few frames' worth.
    @inlinable @inline(__always)
    package mutating func recycle() {
        guard head == tail else { return }
        head = 0
        tail = 0
        if capacity > 4 { release() }
    }

    @usableFromInline
    mutating func release() {
        slots?.deallocate()
        slots = nil
        capacity = 0
    }

    /// Moves what is there to the front of the block, or to a larger block, so that `added` more have room.
    @usableFromInline
    mutating func makeRoom(for added: Int) {
        let live = count
        let needed = live + added
        if let slots, head > 0, needed <= capacity, head >= capacity / 2 {
            slots.moveInitialize(from: slots + head, count: live)  // Overlapping moves are allowed.
        } else {
            let size = Swift.max(4, 2 * live, needed)
            let larger = UnsafeMutablePointer<Frame>.allocate(capacity: size)
            if let slots {
                larger.moveInitialize(from: slots + head, count: live)
                slots.deallocate()
            }
            slots = larger
            capacity = size
        }
        head = 0
        tail = live
    }
}
