import LifelineSockets
import Testing

struct PollTableTests {
    private final class Target: PollTarget {
        func ready(_ events: PollEvents) {}
    }

    @Test func anEventOfTheFormerOwnerReachesNobody() {
        var table = PollTable()
        let first = Target()
        let second = Target()
        let old = table.insert(first)
        #expect(table[old] === first)
        let removed = table.remove(old)
        #expect(removed)
        let new = table.insert(second)
        // The same slot, another generation.
        #expect(old & 0xFFFF_FFFF == new & 0xFFFF_FFFF)
        #expect(old != new)
        #expect(table[old] == nil)
        #expect(table[new] === second)
        let removedAgain = table.remove(old)
        #expect(!removedAgain)
        #expect(table.count == 1)
    }

    @Test func unknownTokensReachNobody() {
        var table = PollTable()
        #expect(table[UInt64.max] == nil)
        #expect(table[0] == nil)
        let token = table.insert(Target())
        #expect(table[token + 1] == nil)
        table.remove(token)
        #expect(table.count == 0)
    }

    @Test func manyTargets() {
        var table = PollTable()
        let tokens = (0..<5_000).map { _ in table.insert(Target()) }
        #expect(Set(tokens).count == 5_000)
        for token in tokens.reversed() { table.remove(token) }
        #expect(table.count == 0)
        for token in tokens { #expect(table[token] == nil) }
    }
}
