/// What a loop watches. Each slot has a generation, and the kernel hands back both with an event: one that was on its way to a closed
/// descriptor can't reach the owner of the slot, or of the descriptor's number, that came after it.
///
/// The table owns its targets.
package struct PollTable {
    private struct Slot {
        var generation: UInt32 = 0
        var target: (any PollTarget)?
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    package init() {}

    /// How many targets there are.
    package var count: Int { slots.count - free.count }

    /// Takes `target` in and gives its token.
    package mutating func insert(_ target: any PollTarget) -> UInt64 {
        let index: UInt32
        if let reused = free.popLast() {
            index = reused
        } else {
            index = UInt32(slots.count)
            slots.append(Slot())
        }
        slots[Int(index)].target = target
        return UInt64(slots[Int(index)].generation) << 32 | UInt64(index)
    }

    /// Lets the target go; false if the token is of the past.
    @discardableResult
    package mutating func remove(_ token: UInt64) -> Bool {
        guard let index = place(of: token) else { return false }
        slots[index].target = nil
        slots[index].generation &+= 1
        free.append(UInt32(index))
        return true
    }

    /// Nil for a token of the past.
    package subscript(token: UInt64) -> (any PollTarget)? {
        guard let index = place(of: token) else { return nil }
        return slots[index].target
    }

    private func place(of token: UInt64) -> Int? {
        let index = Int(token & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].target != nil, slots[index].generation == UInt32(token >> 32) else { return nil }
        return index
    }
}
